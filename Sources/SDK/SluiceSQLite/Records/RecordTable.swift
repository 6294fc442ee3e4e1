package import SluiceCore

/// A table of records in a database: a column for each declared one, and two for the values that do not fit these.
///
/// `_extra` is a JSON object. It has all properties without a column, and those whose column cannot return the value as
/// it was put; for these, `_extra` takes precedence. `_absent` is the JSON array of the declared columns that the
/// record lacks, which tells them from explicit nulls. Both are NULL instead of empty.
///
/// The functions work in the caller's transaction, on any connection.
package final class RecordTable: Sendable {
    static let extra = "_extra"
    static let absent = "_absent"

    /// The columns as declared.
    package let schema: TableSchema
    /// The table's name in the database.
    package let storage: String
    let selectSQL: String
    let upsertSQL: String
    private let lookupSQL: String
    private let deleteSQL: String
    /// The names of the columns with properties, including the id's.
    private let columnNames: Set<PropertyName>

    /// Creates a table whose name in the database is `storage`, or the schema's name.
    package init(_ schema: TableSchema, storage: String? = nil) {
        self.schema = schema
        self.storage = storage ?? schema.name
        columnNames = Set(schema.columns.map(\.name)).union(["id"])
        let names = Self.names(schema)
        let table = SQLDialect.sqlite.quoted(self.storage)
        selectSQL = "SELECT \(names.joined(separator: ", ")) FROM \(table)"
        lookupSQL = selectSQL + " WHERE \"id\" = ?"
        deleteSQL = "DELETE FROM \(table) WHERE \"id\" = ?"
        upsertSQL =
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) "
            + "VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) "
            + "ON CONFLICT (\"id\") DO UPDATE SET "
            + names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    }

    private static func names(_ schema: TableSchema) -> [String] {
        (["id"] + schema.columns.map(\.name.text) + [extra, absent]).map(SQLDialect.sqlite.quoted)
    }

    /// Is ``selectSQL`` with the row's number as one more column.
    var numberedSelectSQL: String {
        "SELECT \(Self.names(schema).joined(separator: ", ")), _rowid_ FROM \(quotedStorage)"
    }

    /// The index of the row's number in ``numberedSelectSQL``.
    var numberColumn: Int { schema.columns.count + 3 }

    var quotedStorage: String { SQLDialect.sqlite.quoted(storage) }
    var extraParameter: Int { schema.columns.count + 2 }
    var absentParameter: Int { schema.columns.count + 3 }

    // MARK: Definition

    /// Creates the table and its indexes if they are missing.
    package func create(on connection: SQLiteConnection) throws {
        let columns = schema.columns.map {
            "\(SQLDialect.sqlite.quoted($0.name.text))\(RecordColumns.declaration($0.type)), "
        }
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS \(quotedStorage) (\"id\" TEXT PRIMARY KEY NOT NULL, \(columns.joined())"
                + "\"\(Self.extra)\" TEXT, \"\(Self.absent)\" TEXT)")
        for index in schema.indexes {
            let columns = index.map { SQLDialect.sqlite.quoted($0.text) }.joined(separator: ", ")
            try connection.execute("CREATE INDEX IF NOT EXISTS \(indexName(index)) ON \(quotedStorage) (\(columns))")
        }
    }

    /// Adds the additional columns and indexes of `wanted`, and moves values into the new columns.
    package func extend(to wanted: TableSchema, on connection: SQLiteConnection) throws -> RecordTable {
        let extended = RecordTable(wanted, storage: storage)
        let added = wanted.columns.dropFirst(schema.columns.count)
        for column in added {
            try connection.execute(
                "ALTER TABLE \(quotedStorage) ADD COLUMN "
                    + SQLDialect.sqlite.quoted(column.name.text) + RecordColumns.declaration(column.type))
        }
        try extended.create(on: connection)
        if !added.isEmpty { try extended.take(from: self, on: connection) }
        return extended
    }

    /// Renames the table in the database to a free name, and returns it.
    func renamed(to name: String, on connection: SQLiteConnection) throws -> RecordTable {
        for index in schema.indexes { try connection.execute("DROP INDEX \(indexName(index))") }
        let renamed = RecordTable(schema, storage: name)
        try connection.execute("ALTER TABLE \(quotedStorage) RENAME TO \(renamed.quotedStorage)")
        try renamed.create(on: connection)
        return renamed
    }

    private func indexName(_ columns: [PropertyName]) -> String {
        SQLDialect.sqlite.quoted("\(storage)(\(columns.map(\.text).joined(separator: ",")))")
    }

    /// Puts all records of another table, which may be this table with its earlier declaration.
    func take(from other: RecordTable, on connection: SQLiteConnection) throws {
        // No id is empty, so that all follow the empty one.
        var last = ""
        while true {
            var batch: [JSON] = []
            let statement = try connection.statement(other.selectSQL + " WHERE \"id\" > ? ORDER BY \"id\" LIMIT 500")
            defer { statement.reset() }
            try statement.bind(1, last)
            while try statement.step() { batch.append(try other.record(statement)) }
            statement.reset()
            for record in batch { try put(record, on: connection) }
            guard let end = batch.last?["id"]?.string else { return }
            last = end
        }
    }

    // MARK: Writing

    /// Inserts or replaces a record.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a record that no store accepts.
    package func put(_ record: JSON, on connection: SQLiteConnection) throws {
        let id = try StoreRules.id(of: record, in: schema.name)
        let statement = try connection.statement(upsertSQL)
        var absent: [PropertyName] = []
        // The number of properties in columns, including the id, and the names of the declared ones that did not fit.
        var (inColumns, inexact): (Int, [PropertyName]) = (1, [])
        try statement.bind(1, id.text)
        for (index, column) in schema.columns.enumerated() {
            guard let value = record[column.name] else {
                absent.append(column.name)
                continue
            }
            try statement.bind(index + 2, value, declared: column.type)
            if RecordColumns.isExact(value, column.type) { inColumns += 1 } else { inexact.append(column.name) }
        }
        if inColumns < record.count {
            let extra = (record.members ?? []).filter { !columnNames.contains($0.name) || inexact.contains($0.name) }
            try statement.bind(extraParameter, JSON(members: extra).description)
        }
        if !absent.isEmpty { try statement.bind(absentParameter, JSON(absent.map { JSON($0) }).description) }
        try statement.run()
    }

    /// Inserts or replaces a row with values in the order of the columns.
    func put(_ id: RecordID, _ values: [ColumnValue], on connection: SQLiteConnection) throws {
        let statement = try connection.statement(upsertSQL)
        try statement.bind(1, id.text)
        for (index, value) in values.enumerated() { try statement.bind(index + 2, value) }
        try statement.run()
    }

    /// Removes the records with those ids.
    package func delete(_ ids: [RecordID], on connection: SQLiteConnection) throws {
        for id in ids { try connection.run(deleteSQL, [.text(id.text)]) }
    }

    /// Removes the records that match the query's filter, and returns their number.
    package func delete(matching query: TableQuery, on connection: SQLiteConnection) throws -> Int {
        let condition = try condition(query)
        try connection.run("DELETE FROM \(quotedStorage)" + condition.text, condition.values)
        return connection.changes
    }

    // MARK: Reading

    /// Returns the record with that id.
    package func record(_ id: RecordID, on connection: SQLiteConnection) throws -> JSON? {
        let statement = try connection.statement(lookupSQL)
        defer { statement.reset() }
        try statement.bind(1, id.text)
        return try statement.step() ? record(statement) : nil
    }

    /// Returns the records whose columns have those texts, in the order of a column; nil where the columns are not
    /// declared as `string` and the order as `integer`, so that it takes a query.
    func records(
        where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName,
        on connection: SQLiteConnection
    ) throws -> [JSON]? {
        guard !texts.isEmpty, texts.allSatisfy({ schema.column($0.column)?.type == .string }),
            schema.column(order)?.type == .integer
        else { return nil }
        func quoted(_ name: PropertyName) -> String { SQLDialect.sqlite.quoted(name.text) }
        let condition = texts.map { "\(quoted($0.column)) = ?" }.joined(separator: " AND ")
        let statement = try connection.statement("\(selectSQL) WHERE \(condition) ORDER BY \(quoted(order)), \"id\"")
        defer { statement.reset() }
        for (index, value) in texts.enumerated() { try statement.bind(index + 1, value.text) }
        var records: [JSON] = []
        while try statement.step() { records.append(try record(statement)) }
        return records
    }

    /// Returns the largest integer in a column; nil if there is none.
    func largest(_ column: PropertyName, on connection: SQLiteConnection) throws -> Int64? {
        let statement = try connection.statement(
            "SELECT max(\(SQLDialect.sqlite.quoted(column.text))) FROM \(quotedStorage)")
        defer { statement.reset() }
        return try statement.step() && !statement.isNull(0) ? statement.int(0) : nil
    }

    /// Returns the records that match, in the query's order, with `skip`, `top` and `select` applied.
    package func records(matching query: TableQuery, on connection: SQLiteConnection) throws -> [JSON] {
        var records: [JSON] = []
        try forEach(query, on: connection) { record, _ in
            records.append(record)
            return true
        }
        return records
    }

    /// Walks over the records that match, in the query's order, with `skip`, `top` and `select` applied, until `body`
    /// returns false. It gets each with its size in the file in bytes.
    package func forEach(
        _ query: TableQuery, on connection: SQLiteConnection, _ body: (_ record: JSON, _ stored: Int) throws -> Bool
    ) throws {
        let chosen = chosen(query.select)
        let sql = try selection(query, chosen)
        let statement = try connection.statement(sql.text)
        defer { statement.reset() }
        try statement.bind(sql.values)
        while try statement.step() {
            let record = TableQuery.Evaluator.selecting(query.select, from: try chosen.record(statement))
            guard try body(record, statement.rowBytes) else { return }
        }
    }

    /// Returns the table with only the columns that a selection needs: others are not read.
    private func chosen(_ select: [PropertyName]) -> RecordTable {
        guard !select.isEmpty else { return self }
        var schema = schema
        schema.columns.removeAll { !select.contains($0.name) }
        return schema.columns.count == self.schema.columns.count ? self : RecordTable(schema, storage: storage)
    }

    /// Returns the statement that reads the query's records, with the columns of ``record(_:)``.
    func selection(_ query: TableQuery, _ chosen: RecordTable? = nil) throws -> SQLText {
        var sql = SQLText((chosen ?? self).selectSQL)
        sql.append(try condition(query))
        sql.append(" ORDER BY ")
        sql.append(try printer(query).ordering(query.order))
        if query.top != nil || query.skip > 0 {
            sql.append(" LIMIT ")
            sql.append(.integer(Int64(query.top ?? -1)), .sqlite)
            sql.append(" OFFSET ")
            sql.append(.integer(Int64(query.skip)), .sqlite)
        }
        return sql
    }

    /// Returns the number of records that match the query's filter.
    package func count(matching query: TableQuery, on connection: SQLiteConnection) throws -> Int {
        let condition = try condition(query)
        return Int(try connection.integer("SELECT count(*) FROM \(quotedStorage)" + condition.text, condition.values))
    }

    /// Returns ` WHERE …`, or nothing if the query has no filter.
    func condition(_ query: TableQuery) throws -> SQLText {
        // Refuses an invalid filter, by the one rule for every store.
        if let related = query.related {
            _ = try TableQuery.Evaluator(query, schema: related.main, relations: related)
        } else {
            _ = try TableQuery.Evaluator(query, schema: schema)
        }
        guard let filter = query.filter else { return SQLText() }
        var sql = SQLText(" WHERE ")
        sql.append(try printer(query).condition(filter))
        return sql
    }

    private func printer(_ query: TableQuery) throws -> SQLQueryPrinter {
        guard let related = query.related else {
            return SQLQueryPrinter(dialect: .sqlite, schema: schema, extraColumn: Self.extra)
        }
        return try SQLQueryPrinter(dialect: .sqlite, related: related, extraColumn: Self.extra)
    }

    /// Returns the record in the row of a statement that begins with ``selectSQL``.
    ///
    /// - Throws: ``SluiceError`` of code `storeCorrupt` for a value that no store has written: treating it as missing
    ///   would lose it with the next write.
    func record(_ statement: SQLiteStatement) throws -> JSON {
        let id = statement.text(0) ?? ""
        do {
            var record = JSON.object
            record["id"] = JSON(id)
            let extra = try statement.withText(extraColumn) { try Self.document($0, .object) }
            let absent = try statement.withText(extraColumn + 1) { try Self.document($0, .array) }?.elements ?? []
            for (index, column) in schema.columns.enumerated() {
                if !absent.isEmpty, absent.contains(JSON(column.name)) { continue }
                let value = RecordColumns.value(statement, index + 1, column.type) ?? extra?[column.name]
                guard let value else {
                    throw SluiceError(.storeCorrupt, "the column \(column.name) holds no \(column.type.rawValue)")
                }
                record[column.name] = value
            }
            for (name, value) in extra?.members ?? [] { record[name] = value }
            return record
        } catch {
            throw SluiceError(
                .storeCorrupt, "the store holds a record that cannot be read", table: schema.name,
                recordID: RecordID(id),
                cause: error)
        }
    }

    private static func document(_ text: UnsafeBufferPointer<UInt8>, _ kind: JSON.Kind) throws -> JSON {
        let document = try JSON(parsing: text)
        guard document.kind == kind else { throw SluiceError(.storeCorrupt, "a column of the store's own is damaged") }
        return document
    }

    private var extraColumn: Int { schema.columns.count + 1 }
}
