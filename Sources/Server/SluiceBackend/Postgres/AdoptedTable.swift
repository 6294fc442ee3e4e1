internal import SluiceCore

/// An operator's table served by the backend: its place, and the mapping of its columns.
///
/// The operator's table stays as it is. A copy has the form of the backend's own tables, with versions, times and
/// tombstones. Triggers update the copy in the transactions that write the operator's table.
struct AdoptedTable: Sendable, Hashable {
    /// A served column.
    struct Column: Sendable, Hashable {
        /// The property, and the column of the operator's table.
        var name: PropertyName
        var type: TableSchema.ColumnType
        /// The operator's type by its PostgreSQL name.
        var held: String
    }

    /// The table's served name, and its name in the database.
    var name: String
    /// The table's schema.
    var schema: String
    /// The column of the primary key, and its type.
    var key: String
    var keyType: String
    /// The SQL expression for the next key; nil if clients choose ids.
    var nextKey: String?
    /// Whether a delete leaves a tombstone.
    var softDelete: Bool
    var columns: [Column]

    /// Whether the key is a number.
    var hasNumbers: Bool { Self.numbers.contains(keyType) }

    static let numbers = ["smallint", "integer", "bigint"]
    private static let texts = ["text", "character varying", "character", "uuid", "numeric"]
    /// The key types that can serve as ids.
    static let keys = numbers + ["text", "character varying", "uuid"]

    /// The database types that each declared type can represent.
    static func types(_ type: TableSchema.ColumnType) -> [String] {
        switch type {
        case .string: texts
        case .integer: numbers
        case .real: ["real", "double precision", "numeric"]
        case .boolean: ["boolean"]
        case .date: ["timestamp with time zone", "timestamp without time zone", "date"]
        case .json: ["jsonb", "json"]
        }
    }

    /// Checks a table, by its quoted name, for row level security.
    static let rowSecuritySQL = "SELECT relrowsecurity FROM pg_class WHERE oid = to_regclass($1)"
    static let rowSecurityReason =
        "the table has row level security, and what is served is a copy, which its policies do not guard; leave it "
        + "unadopted, or say who sees which records by perUser or view and switch its row level security off"

    // MARK: Names in SQL

    /// A name with its quotes.
    static func quoted(_ name: String) -> String { SQLDialect.postgres.quoted(name) }

    /// Returns a text as an SQL constant that is valid under any server settings.
    static func constant(_ text: String) -> String {
        let doubled = text.replacing("'", with: "''")
        return doubled.utf8.contains(UInt8(ascii: "\\"))
            ? "E'\(doubled.replacing("\\", with: "\\\\"))'" : "'\(doubled)'"
    }

    /// The operator's table, quoted.
    var place: String { "\(Self.quoted(schema)).\(Self.quoted(name))" }
    /// The copy's name, without quotes.
    var copy: String { Self.own("sluice_copy_", name) }
    /// The name of the triggers' function, without quotes.
    var function: String { Self.own("sluice_adopt_", name) }
    /// The name of the function that converts documents to `jsonb`, without quotes.
    var documentFunction: String { Self.own("sluice_json_", name) }

    /// Returns the backend's name for an object of the table, within PostgreSQL's 63 bytes.
    private static func own(_ prefix: String, _ name: String) -> String {
        let whole = prefix + name
        if whole.utf8.count <= 63 { return whole }
        return prefix + String(FNV1a.hash(Array(name.utf8), after: Fingerprint.of([])), radix: 16)
    }

    // MARK: In the catalog

    /// The table's JSON in the catalog.
    var json: JSON {
        var json: JSON = [
            "schema": JSON(schema), "key": JSON(key), "keyType": JSON(keyType), "softDelete": JSON(softDelete),
        ]
        json["nextKey"] = nextKey.map { JSON($0) }
        json["columns"] = JSON(columns.map { JSON([JSON($0.name), JSON($0.type.rawValue), JSON($0.held)]) })
        return json
    }

    init(
        name: String, schema: String, key: String, keyType: String, nextKey: String?, softDelete: Bool,
        columns: [Column]
    ) {
        self.name = name
        self.schema = schema
        self.key = key
        self.keyType = keyType
        self.nextKey = nextKey
        self.softDelete = softDelete
        self.columns = columns
    }

    /// Reads the catalog's JSON.
    init(_ name: String, _ text: String) throws {
        let json = try JSON(parsing: text)
        guard let schema = json["schema"]?.string, let key = json["key"]?.string,
            let keyType = json["keyType"]?.string, let softDelete = json["softDelete"]?.bool
        else {
            throw SluiceError(.storeSchema, "what the database says of the adopted table cannot be read", table: name)
        }
        let columns = try (json["columns"]?.elements ?? []).map { column -> Column in
            guard let property = column[0]?.string, let held = column[2]?.string,
                let type = column[1]?.string.flatMap(TableSchema.ColumnType.init)
            else { throw SluiceError(.storeSchema, "a column of the adopted table cannot be read", table: name) }
            return Column(name: PropertyName(property), type: type, held: held)
        }
        self.init(
            name: name, schema: schema, key: key, keyType: keyType, nextKey: json["nextKey"]?.string,
            softDelete: softDelete, columns: columns)
    }

    /// Reads the adopted table of that name from the catalog.
    static func find(_ name: String, _ connection: any StorageConnection) throws -> AdoptedTable? {
        let rows = try connection.run("SELECT adopted FROM sluice_tables WHERE name = $1", [.text(name)])
        guard case .text(let text)? = rows.first?.first else { return nil }
        return try AdoptedTable(name, text)
    }
}
