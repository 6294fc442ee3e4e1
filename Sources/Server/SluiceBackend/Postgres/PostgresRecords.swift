internal import SluiceCore
internal import SluicePostgres

/// A table of records in PostgreSQL: a typed column for each declared one, and two for the remaining information.
///
/// `_extra` is the object of all properties without a column, and of values that their column cannot restore exactly;
/// it takes precedence over the columns. `_absent` is the array of declared columns missing in the record, to
/// distinguish them from nulls. Both are NULL if empty.
struct PostgresRecords: RecordStorage {
    /// The most sort keys of a query.
    private static let mostKeys = 1000

    let schema: TableSchema
    /// The table's name in the database.
    private let name: String
    private let quotedName: String
    let selectSQL: String
    private let upsertSQL: String

    /// - Parameter name: the table's name in the database, if it differs from the schema's.
    init(_ schema: TableSchema, _ name: String? = nil) {
        self.schema = schema
        self.name = name ?? schema.name
        quotedName = SQLDialect.postgres.quoted(self.name)
        let quoted: [String] = schema.columns.map { SQLDialect.postgres.quoted($0.name.text) }
        let selected: [String] = zip(quoted, schema.columns).map { PostgresColumns.selected($0, $1.type) }
        let names: [String] = ["\"id\""] + quoted + ["\"_extra\"", "\"_absent\""]
        let columns: String = (["\"id\""] + selected + ["\"_extra\"", "\"_absent\""]).joined(separator: ", ")
        let places: String = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let changes: String = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        selectSQL = "SELECT \(columns) FROM \(quotedName)"
        upsertSQL =
            "INSERT INTO \(quotedName) (\(names.joined(separator: ", "))) "
            + "VALUES (\(places)) ON CONFLICT (\"id\") DO UPDATE SET \(changes)"
    }

    // MARK: Definition

    func with(_ schema: TableSchema) -> any RecordStorage { PostgresRecords(schema, name) }

    func create(on connection: any StorageConnection) throws {
        for column in [schema.name] + schema.columns.map(\.name.text) where column.utf8.count > 63 {
            throw SluiceError(
                .invalidTable, "PostgreSQL has no names of more than 63 bytes: \(column)", table: schema.name)
        }
        let transaction = try Self.postgres(connection)
        let isThere = try transaction.query("SELECT to_regclass($1) IS NOT NULL", [.text(quotedName)]).value(0, 0)
        guard isThere == .integer(0) else {
            throw SluiceError(
                .storeSchema,
                "the database has a table of that name that the backend did not make; it was left as it is. To serve it, "
                    + "name its key column (key:) and run sluice backend adopt",
                table: schema.name)
        }
        try transaction.connection.execute(createSQL)
    }

    /// The statement that creates the table.
    var createSQL: String {
        let columns = schema.columns.map {
            "\(SQLDialect.postgres.quoted($0.name.text)) \(PostgresColumns.declaration($0.type)), "
        }
        return "CREATE TABLE \(quotedName) (\"id\" text COLLATE \"C\" PRIMARY KEY, \(columns.joined())"
            + "\"_extra\" jsonb, \"_absent\" jsonb)"
    }

    func extend(to wanted: TableSchema, on connection: any StorageConnection) throws -> (any RecordStorage)? {
        let transaction = try Self.postgres(connection)
        let extended = PostgresRecords(wanted, name)
        let added = wanted.columns.dropFirst(schema.columns.count)
        if added.isEmpty { return extended }
        let isAdded = try transaction.withoutWaiting {
            for column in added {
                try transaction.connection.execute(
                    "ALTER TABLE \(quotedName) ADD COLUMN \(SQLDialect.postgres.quoted(column.name.text)) "
                        + PostgresColumns.declaration(column.type))
            }
        }
        guard isAdded else { return nil }
        // No id is empty, so all ids come after the empty text.
        var last = ""
        while true {
            let rows = try transaction.query(
                selectSQL + " WHERE \"id\" > $1 ORDER BY \"id\" LIMIT 500", [.text(last)])
            for row in 0..<rows.count { _ = try extended.put(try record(rows, row), on: connection) }
            guard rows.count > 0, let end = rows.text(rows.count - 1, 0) else { return extended }
            last = end
        }
    }

    func createIndex(_ name: String, _ keys: [TableQuery.SortKey], on connection: any StorageConnection) throws {
        // PostgreSQL cuts names after 63 bytes, but names with the same beginning must stay distinct.
        var name = name
        if name.utf8.count > 63 {
            name = "sluice_" + String(FNV1a.hash(Array(name.utf8), after: Fingerprint.of([])), radix: 16)
        }
        guard let ordering = ordering(keys) else { return }
        let transaction = try Self.postgres(connection)
        let quoted = SQLDialect.postgres.quoted(name)
        // The check takes no lock, unlike `CREATE INDEX IF NOT EXISTS` on an existing index.
        let isThere = try transaction.query("SELECT to_regclass($1) IS NOT NULL", [.text(quoted)]).value(0, 0)
        if isThere == .integer(1) { return }
        try transaction.connection.execute("CREATE INDEX \(quoted) ON \(quotedName) (\(ordering))")
    }

    /// Returns the keys of an `ORDER BY`, with the id as the last; nil if the database's order differs from the
    /// queries'.
    private func ordering(_ keys: [TableQuery.SortKey]) -> String? {
        var parts: [String] = []
        var seen: Set<PropertyName> = []
        for key in keys.prefix(Self.mostKeys) {
            guard let name = key.column, let column = PostgresFilter.Column(name, schema), column.type != .json else {
                return nil
            }
            if !seen.insert(name).inserted { continue }
            parts.append("\(column.sql) \(key.descending ? "DESC NULLS LAST" : "NULLS FIRST")")
            if name == "id" { return parts.joined(separator: ", ") }
        }
        return (parts + ["\"id\""]).joined(separator: ", ")
    }

    // MARK: Reading

    func record(_ id: RecordID, on connection: any StorageConnection) throws -> JSON? {
        guard PostgresFilter.Column.isStorable(id.text) else { return nil }
        let rows = try Self.postgres(connection).query(selectSQL + " WHERE \"id\" = $1", [.text(id.text)])
        return rows.count > 0 ? try record(rows, 0) : nil
    }

    func forEach(
        _ query: TableQuery, on connection: any StorageConnection,
        _ body: (_ record: JSON, _ stored: Int) throws -> Bool
    ) throws {
        let transaction = try Self.postgres(connection)
        let matcher = try PostgresMatcher(query, schema)
        guard Set(query.order.map(\.expression)).count <= Self.mostKeys else {
            throw SluiceError(.invalidQuery, "the query sorts by more than \(Self.mostKeys) keys", table: schema.name)
        }
        let filter = PostgresFilter(query.filter, schema)
        guard let ordering = ordering(query.order) else {
            return try forEachSorted(query, matcher, on: connection, body)
        }
        let chosen = filter.isExact ? chosen(query.select) : self
        var sql = SQLText(chosen.selectSQL)
        filter.append(to: &sql)
        sql.append(" ORDER BY \(ordering)")
        var (skip, left) = (filter.isExact ? 0 : query.skip, query.top ?? .max)
        if filter.isExact, query.top != nil || query.skip > 0 {
            // A page is read in parts: the size of its records decides the rows of the next part.
            var (size, offset) = (FetchSize(), query.skip)
            while left > 0 {
                let wanted = min(left, size.rows)
                var part = sql
                part.append(" LIMIT \(wanted) OFFSET \(offset)")
                let rows = try transaction.query(part)
                for row in 0..<rows.count {
                    let record = TableQuery.Evaluator.selecting(query.select, from: try chosen.record(rows, row))
                    guard try body(record, rows.bytes(row)) else { return }
                }
                if rows.count < wanted { return }
                size.note(rows: rows.count, bytes: rows.bytes)
                (left, offset) = (left - rows.count, offset + rows.count)
            }
            return
        }
        if left == 0 { return }
        try transaction.walk(sql) { rows in
            let found = try (0..<rows.count).map { try chosen.record(rows, $0) }
            let matching = try filter.isExact ? nil : matcher.matching(found[...], on: connection)
            // The matches are a subset of the records, in their order.
            let ids = matching.map { Set($0.compactMap { $0["id"]?.textID }) }
            for (row, record) in found.enumerated() {
                if let ids, !(record["id"]?.textID.map { ids.contains($0) } ?? false) { continue }
                if skip > 0 {
                    skip -= 1
                    continue
                }
                left -= 1
                guard try body(TableQuery.Evaluator.selecting(query.select, from: record), rows.bytes(row)), left > 0
                else {
                    return false
                }
            }
            return true
        }
    }

    /// Returns the table with only the columns of a selection, so that others are not read.
    private func chosen(_ select: [PropertyName]) -> PostgresRecords {
        guard !select.isEmpty else { return self }
        var schema = schema
        schema.columns.removeAll { !select.contains($0.name) }
        return schema.columns.count == self.schema.columns.count ? self : PostgresRecords(schema, name)
    }

    func count(matching query: TableQuery, on connection: any StorageConnection) throws -> Int {
        var whole = TableQuery(query.table, filter: query.filter)
        whole.related = query.related
        // Refuses an invalid query by the rules of every store.
        _ = try PostgresMatcher(whole, schema)
        let filter = PostgresFilter(query.filter, schema)
        if filter.isExact {
            var sql = SQLText("SELECT count(*) FROM \(quotedName)")
            filter.append(to: &sql)
            return Int(clamping: try Self.postgres(connection).query(sql).integer(0, 0) ?? 0)
        }
        var count = 0
        try forEach(whole, on: connection) { _, _ in
            count += 1
            return true
        }
        return count
    }

    func scan(
        matching filter: QueryExpression?, on connection: any StorageConnection,
        _ body: (_ id: RecordID, _ version: String) throws -> Void
    ) throws {
        let query = TableQuery(schema.name, filter: filter, order: [.init("id")], select: ["id", SystemColumn.version])
        try forEach(query, on: connection) { record, _ in
            try body(RecordID(record["id"]?.string ?? ""), record[SystemColumn.version]?.string ?? "")
            return true
        }
    }

    func append(
        _ query: TableQuery, _ size: PageSize, _ text: ListText, to output: inout [UInt8],
        on connection: any StorageConnection
    ) throws -> (count: Int, hasMore: Bool) {
        var (count, hasMore) = (0, false)
        let first = output.count
        try forEach(query, on: connection) { record, _ in
            let shown = count < size.records ? text.whole(record).bytes() : []
            guard count < size.records, count == 0 || output.count - first + shown.count < size.bytes else {
                hasMore = true
                return false
            }
            if count > 0 { output.append(UInt8(ascii: ",")) }
            count += 1
            output += shown
            return true
        }
        return (count, hasMore)
    }

    /// Reads the record of a row that begins with the columns of ``selectSQL``.
    func record(_ rows: PostgresResult, _ row: Int) throws -> JSON {
        let id = rows.text(row, 0) ?? ""
        do {
            var record = JSON.object
            record["id"] = JSON(id)
            let others = schema.columns.count + 1
            let extra = try rows.withText(row, others) { try JSON(parsing: $0) }
            let absent = try rows.withText(row, others + 1) { try JSON(parsing: $0) }?.elements ?? []
            for (index, column) in schema.columns.enumerated() {
                if !absent.isEmpty, absent.contains(JSON(column.name)) { continue }
                guard let value = PostgresColumns.value(rows, row, index + 1, column.type) else {
                    throw SluiceError(.storeCorrupt, "the column \(column.name) holds no \(column.type.rawValue)")
                }
                record[column.name] = value
            }
            for (name, value) in extra?.members ?? [] { record[name] = PostgresJSON.document(value) }
            return record
        } catch {
            throw SluiceError(
                .storeCorrupt, "the database holds a record that cannot be read", table: schema.name,
                recordID: RecordID(id), cause: error)
        }
    }

    // MARK: Writing

    func put(_ record: JSON, on connection: any StorageConnection) throws -> JSON {
        let id = try StoreRules.id(of: record, in: schema.name)
        var values: [SQLValue] = [.text(id.text)]
        var absent: [PropertyName] = []
        // The properties with a column, including the id.
        var inColumns: Set<PropertyName> = ["id"]
        for column in schema.columns {
            guard let value = record[column.name] else {
                absent.append(column.name)
                values.append(.null)
                continue
            }
            let (stored, isExact) = PostgresColumns.stored(value, column.type)
            values.append(stored)
            if isExact { inColumns.insert(column.name) }
        }
        let extra = (record.members ?? []).filter { !inColumns.contains($0.name) }
        let kept = extra.map { (name: $0.name, value: PostgresJSON.kept($0.value)) }
        values.append(kept.isEmpty ? .null : .text(JSON(members: kept).description))
        values.append(absent.isEmpty ? .null : .text(JSON(absent.map { JSON($0) }).description))
        _ = try Self.postgres(connection).query(upsertSQL, values)
        return record
    }

    func delete(_ ids: [RecordID], on connection: any StorageConnection) throws {
        for id in ids { try connection.run("DELETE FROM \(quotedName) WHERE \"id\" = $1", [.text(id.text)]) }
    }

    static func postgres(_ connection: any StorageConnection) throws -> PostgresTransaction {
        guard let transaction = connection as? PostgresTransaction else {
            throw SluiceError(.storeSchema, "the table is in PostgreSQL, the connection goes elsewhere")
        }
        return transaction
    }
}
