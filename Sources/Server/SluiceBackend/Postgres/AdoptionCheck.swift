internal import SluiceCore
internal import SluicePostgres

/// Examines an operator's table, and refuses an unsuitable one with the reason.
struct AdoptionCheck {
    let connection: PostgresConnection
    let rules: BackendConfiguration.Table

    private var name: String { rules.name }

    private func refusal(_ reason: String) -> SluiceError { SluiceError(.invalidTable, reason, table: name) }

    /// The schema of the backend's own tables.
    func home() throws -> String {
        guard let home = try connection.query("SELECT current_schema()").text(0, 0) else {
            throw refusal("the database's user has no schema in its search_path")
        }
        return home
    }

    /// Returns the description of the table after the adoption.
    func table() throws -> AdoptedTable {
        guard let key = rules.key else { throw refusal("the configuration names no key column of the table (key:)") }
        try checkCatalog()
        let (oid, schema) = try place()
        let security = try connection.query(AdoptedTable.rowSecuritySQL, [.text(AdoptedTable.quoted(name))])
        guard security.text(0, 0) != "t" else { throw refusal(AdoptedTable.rowSecurityReason) }
        try checkKey(key, oid)
        let columns = try columns(oid)
        guard let found = columns[ExactName(key)] else { throw refusal("the table has no column \(key)") }
        guard AdoptedTable.keys.contains(found.type) else {
            throw refusal(
                "the key column \(key) is of the type \(found.type); keys are texts, uuid or integers "
                    + "(\(AdoptedTable.keys.joined(separator: ", ")))")
        }
        let table = AdoptedTable(
            name: name, schema: schema, key: key, keyType: found.type, nextKey: try nextKey(found, key, schema),
            softDelete: rules.softDelete, columns: try mapped(columns))
        try checkIDs(table)
        try checkNames(table, oid)
        return table
    }

    /// Returns the copy's columns: the declared ones and the server's.
    func copied() throws -> TableSchema {
        try StoreRules.merge(TableSchema(name, columns: rules.storedColumns + SystemColumn.declared), into: nil)
    }

    private func checkCatalog() throws {
        let isThere = try connection.query(
            "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('sluice_tables') AND attname = 'adopted'")
        guard isThere.integer(0, 0) == 1 else { return }
        let rows = try connection.query(
            "SELECT adopted IS NOT NULL FROM sluice_tables WHERE name = $1", [.text(name)]
        ).rows
        guard let row = rows.first else { return }
        throw refusal(row[0] == .integer(1) ? "the table is adopted already" : "the backend made the table itself")
    }

    private func place() throws -> (oid: Int64, schema: String) {
        let rows = try connection.query(
            """
            SELECT c.oid::bigint, n.nspname::text, c.relkind::text, c.relispartition
                OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid OR inhparent = c.oid)
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)
            """, [.text(AdoptedTable.quoted(name))])
        guard rows.count == 1, let oid = rows.integer(0, 0), let schema = rows.text(0, 1) else {
            throw refusal("the database has no such table in the search_path of its user")
        }
        guard rows.text(0, 2) == "r" else {
            throw refusal("it is a view or a partitioned table, and no table by itself")
        }
        guard rows.text(0, 3) != "t" else { throw refusal("the table is a part of another one, or has such parts") }
        return (oid, schema)
    }

    private func checkKey(_ key: String, _ oid: Int64) throws {
        let names = try connection.query(
            """
            SELECT a.attname::text FROM pg_index AS i
                JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
            WHERE i.indrelid = $1::oid AND i.indisprimary ORDER BY 1
            """, [.integer(oid)]
        ).rows.map { row in if case .text(let name) = row[0] { name } else { "" } }
        guard !names.isEmpty else { throw refusal("the table has no primary key") }
        guard names.count == 1 else {
            throw refusal(
                "the table's primary key has several columns (\(names.joined(separator: ", "))); ids are of one")
        }
        guard ExactName(names[0]) == ExactName(key) else {
            throw refusal("the table's primary key is \(names[0]), not \(key)")
        }
    }

    /// A column of the operator's.
    private struct Found {
        var type: String
        /// Whether the type is an enumeration.
        var isEnumeration: Bool
        var isGenerated: Bool
        var isIdentity: Bool
        /// The column's default, as SQL.
        var usual: String?
    }

    private func columns(_ oid: Int64) throws -> [ExactName: Found] {
        let rows = try connection.query(
            """
            SELECT a.attname::text,
                format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL), t.typtype::text,
                a.attgenerated <> '', a.attidentity <> '', pg_get_expr(d.adbin, d.adrelid)
            FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
                LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
            """, [.integer(oid)])
        var columns: [ExactName: Found] = [:]
        for row in 0..<rows.count {
            columns[ExactName(rows.text(row, 0) ?? "")] = Found(
                type: rows.text(row, 1) ?? "", isEnumeration: rows.text(row, 2) == "e",
                isGenerated: rows.text(row, 3) == "t", isIdentity: rows.text(row, 4) == "t", usual: rows.text(row, 5))
        }
        return columns
    }

    private func mapped(_ columns: [ExactName: Found]) throws -> [AdoptedTable.Column] {
        try rules.columns.map { column in
            guard let found = columns[ExactName(column.name.text)] else {
                let all = columns.keys.map(\.text).sorted().joined(separator: ", ")
                throw refusal("the table has no column \(column.name); it has \(all)")
            }
            guard !found.isGenerated else {
                throw refusal("the column \(column.name) is computed by the database; clients could not write it")
            }
            let isMapped =
                AdoptedTable.types(column.type).contains(found.type)
                || (column.type == .string && found.isEnumeration)
            guard isMapped else {
                let fitting = TableSchema.ColumnType.allCases.filter { AdoptedTable.types($0).contains(found.type) }
                let hint = fitting.isEmpty ? "" : "; it can be \(fitting.map(\.rawValue).joined(separator: " or "))"
                throw refusal(
                    "the column \(column.name) is of the type \(found.type), which cannot be shown as "
                        + "\(column.type.rawValue)\(hint)")
            }
            return .init(name: column.name, type: column.type, held: found.type)
        }
    }

    /// Returns the source of new keys.
    private func nextKey(_ found: Found, _ key: String, _ schema: String) throws -> String? {
        let isNumber = AdoptedTable.numbers.contains(found.type)
        guard isNumber == (rules.ids == .integer) else {
            throw refusal(
                isNumber
                    ? "the key column \(key) holds numbers: give the table ids: integer"
                    : "the key column \(key) holds texts, and the table's ids are integers")
        }
        guard isNumber else { return nil }
        if let usual = found.usual { return usual }
        guard found.isIdentity,
            let sequence = try connection.query(
                "SELECT pg_get_serial_sequence($1, $2)",
                [.text("\(AdoptedTable.quoted(schema)).\(AdoptedTable.quoted(name))"), .text(key)]
            ).text(0, 0)
        else {
            throw refusal(
                "nothing gives the key column \(key) new numbers: make it an identity column, or give it a sequence")
        }
        return "nextval(\(AdoptedTable.constant(sequence))::regclass)"
    }

    /// Refuses keys that are invalid as ids.
    private func checkIDs(_ table: AdoptedTable) throws {
        let key = AdoptedTable.quoted(table.key)
        let isNone =
            table.hasNumbers
            ? "\(key) < 1"
            : "\(key)::text = '' OR length(\(key)::text) > 255 OR \(key)::text ~ '[\"+?/`\\\\[:cntrl:]]'"
        let count = try connection.query("SELECT count(*) FROM \(table.place) WHERE \(isNone)").integer(0, 0) ?? 0
        guard count == 0 else {
            throw refusal(
                table.hasNumbers
                    ? "\(count) of its keys are less than 1; ids are from 1 on"
                    : "\(count) of its keys are no ids: an id has 1 to 255 characters, none of them a control character "
                        + "or one of \" + ? \\ / `")
        }
    }

    /// Refuses if a name of the adoption's objects is taken.
    private func checkNames(_ table: AdoptedTable, _ oid: Int64) throws {
        if try connection.query("SELECT to_regclass($1) IS NOT NULL", [.text(AdoptedTable.quoted(table.copy))])
            .text(0, 0) == "t"
        {
            throw refusal("the database has something of the name \(table.copy) already")
        }
        for name in [table.function, table.documentFunction] {
            let functions = try connection.query(
                "SELECT count(*) FROM pg_proc WHERE proname = $1 AND pronamespace = current_schema()::regnamespace",
                [.text(name)])
            guard functions.integer(0, 0) == 0 else {
                throw refusal("the database has a function of the name \(name) already")
            }
        }
        let triggers = try connection.query(
            "SELECT tgname::text FROM pg_trigger WHERE tgrelid = $1::oid AND NOT tgisinternal", [.integer(oid)]
        ).rows
        for name in AdoptionSQL.triggerNames where triggers.contains([.text(name)]) {
            throw refusal("the table has a trigger of the name \(name) already")
        }
    }
}
