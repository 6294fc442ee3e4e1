internal import SluiceCore

/// A table of the operator's that the backend serves: where it is, and how its columns are mapped.
///
/// The operator's table stays as it is. Beside it is a copy in the form of the backend's own tables, with versions, times
/// and tombstones. Triggers keep it equal, in the transactions that write the operator's table.
struct AdoptedTable: Sendable, Hashable {
    /// A column that is served.
    struct Column: Sendable, Hashable {
        /// The property, and the column of the operator's table.
        var name: PropertyName
        var type: TableSchema.ColumnType
        /// The operator's type, as PostgreSQL names it.
        var held: String
    }

    /// The name by which it is served, and its own.
    var name: String
    /// The schema in which it is.
    var schema: String
    /// The column of the primary key, and its type.
    var key: String
    var keyType: String
    /// What gives the next key, as SQL; nil where clients make ids.
    var nextKey: String?
    /// Whether a delete leaves a tombstone.
    var softDelete: Bool
    var columns: [Column]

    /// Whether the key is a number.
    var hasNumbers: Bool { Self.numbers.contains(keyType) }

    static let numbers = ["smallint", "integer", "bigint"]
    private static let texts = ["text", "character varying", "character", "uuid", "numeric"]
    /// Types of keys that ids can be.
    static let keys = numbers + ["text", "character varying", "uuid"]

    /// The types of the database that a declared type can show.
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

    /// Asks whether a table, by its quoted name, has row level security.
    static let rowSecuritySQL = "SELECT relrowsecurity FROM pg_class WHERE oid = to_regclass($1)"
    static let rowSecurityReason =
        "the table has row level security, and what is served is a copy, which its policies do not guard; leave it "
        + "unadopted, or say who sees which records by perUser or view and switch its row level security off"

    // MARK: Names in SQL

    /// A name with its quotes.
    static func quoted(_ name: String) -> String { SQLDialect.postgres.quoted(name) }

    /// A text as a constant, whatever the server's settings are.
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
    /// The name of the function that reads documents which `jsonb` may not have, without quotes.
    var documentFunction: String { Self.own("sluice_json_", name) }

    /// A name of the backend's for something of the table, in the 63 bytes that names have.
    private static func own(_ prefix: String, _ name: String) -> String {
        let whole = prefix + name
        if whole.utf8.count <= 63 { return whole }
        return prefix + String(FNV1a.hash(Array(name.utf8), after: Fingerprint.of([])), radix: 16)
    }

    // MARK: In the catalog

    /// As the catalog keeps it.
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

    /// Reads what the catalog has.
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

    /// The adopted table of that name that the catalog has.
    static func find(_ name: String, _ connection: any StorageConnection) throws -> AdoptedTable? {
        let rows = try connection.run("SELECT adopted FROM sluice_tables WHERE name = $1", [.text(name)])
        guard case .text(let text)? = rows.first?.first else { return nil }
        return try AdoptedTable(name, text)
    }
}
