internal import SluiceCore

/// The reader and writer of one transaction on a connection.
final class SQLiteStoreTransaction: StoreWriter {
    private let connection: SQLiteConnection
    private var isOpen = true
    /// The failure with which SQLite ended the transaction; nil while it is open.
    private var ending: (any Error)?

    private init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Runs `body` in the connection's open transaction. Afterwards every further call throws.
    static func run<Result>(
        on connection: SQLiteConnection, _ body: (SQLiteStoreTransaction) throws -> Result
    ) throws -> Result {
        let transaction = SQLiteStoreTransaction(connection)
        defer { transaction.isOpen = false }
        let result = try body(transaction)
        try transaction.checkOpen()
        return result
    }

    /// Checks that the transaction is still the one that was begun. After some failures (a full disk, say) SQLite rolls
    /// it back, and later statements would run in transactions of their own.
    ///
    /// - Throws: the failure that ended it, even if the body has caught that.
    private func checkOpen() throws {
        if !isOpen {
            throw SluiceError(.storeClosed, "the transaction has ended; use its reader or writer inside only")
        }
        if connection.isInTransaction { return }
        throw ending ?? SluiceError(.storeInputOutput, "SQLite has ended the transaction; nothing of it was written")
    }

    /// Runs `body`, and adds the table's name to its errors.
    private func inTable<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        try checkOpen()
        do {
            return try body()
        } catch {
            var error = error
            if var named = error as? SluiceError, named.table == nil {
                named.table = name
                error = named
            }
            if ending == nil, !connection.isInTransaction { ending = error }
            throw error
        }
    }

    private func table(creating name: String) throws -> RecordTable {
        try connection.catalog.table(name) ?? connection.catalog.define(TableSchema(name), connection)
    }

    func record(_ id: RecordID, in table: String) throws -> JSON? {
        try inTable(table) { try connection.catalog.table(table)?.record(id, on: connection) }
    }

    func records(matching query: TableQuery) throws -> [JSON] {
        try inTable(query.table) {
            if let table = connection.catalog.table(query.table) {
                return try table.records(matching: query, on: connection)
            }
            _ = try TableQuery.Evaluator(query, schema: nil)
            return []
        }
    }

    func records(
        in table: String, where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName
    ) throws -> [JSON] {
        try inTable(table) {
            try connection.catalog.table(table)?.records(where: texts, orderedBy: order, on: connection)
                ?? records(matching: TableQuery(table, where: texts, orderedBy: order))
        }
    }

    func largest(_ column: PropertyName, in table: String) throws -> Int64? {
        try inTable(table) {
            guard let stored = connection.catalog.table(table), stored.schema.column(column)?.type == .integer else {
                return try records(matching: TableQuery(largest: column, in: table)).first?[column]?.int
            }
            return try stored.largest(column, on: connection)
        }
    }

    func count(matching query: TableQuery) throws -> Int {
        try inTable(query.table) {
            if let table = connection.catalog.table(query.table) {
                return try table.count(matching: query, on: connection)
            }
            _ = try TableQuery.Evaluator(query, schema: nil)
            return 0
        }
    }

    func tables() throws -> [TableSchema] {
        try checkOpen()
        return connection.catalog.schemas
    }

    func put(_ record: JSON, in table: String) throws {
        try inTable(table) { try self.table(creating: table).put(record, on: connection) }
    }

    func put(_ rows: RowPage.Selection, in table: String) throws {
        if rows.indices.isEmpty { return }
        try inTable(table) { try self.table(creating: table).put(rows, on: connection) }
    }

    func put(_ row: StoreRow) throws {
        try inTable(row.schema.name) {
            // A store that another version has declared may have other columns, or another order.
            guard let table = connection.catalog.table(row.schema.name), row.fits(table.schema) else {
                return try put(row.record, in: row.schema.name)
            }
            try table.put(row.id, row.values, on: connection)
        }
    }

    func delete(_ ids: [RecordID], from table: String) throws {
        try inTable(table) { try connection.catalog.table(table)?.delete(ids, on: connection) }
    }

    func delete(matching query: TableQuery) throws -> Int {
        try inTable(query.table) {
            if let table = connection.catalog.table(query.table) {
                return try table.delete(matching: query, on: connection)
            }
            _ = try TableQuery.Evaluator(query, schema: nil)
            return 0
        }
    }

    func redeclare(_ table: TableSchema) throws {
        try inTable(table.name) { try connection.catalog.redeclare(table, connection) }
    }

    func drop(_ table: String) throws {
        try inTable(table) { try connection.catalog.drop(table, connection) }
    }
}
