package import SluiceBase

/// Reads an export into an empty store: all of it, or nothing.
///
/// ```swift
/// let summary = try await StoreImport().read(into: store) { readLine() }
/// ```
///
/// The store continues at the exported one's position: with its queue, under the same ids. Use only one of the two
/// from then on, because both would send the queue.
public struct StoreImport: Sendable {
    /// The longest line that is read, in bytes.
    public var maximumLineLength: Int

    /// An import.
    public init(maximumLineLength: Int = 64 << 20) { self.maximumLineLength = maximumLineLength }

    /// Reads lines until there are none.
    ///
    /// - Parameters:
    ///   - store: an empty store.
    ///   - next: returns the next line, without its end; nil after the last.
    /// - Throws: ``SluiceError`` of code `recordExists` for a store that is not empty; `invalidTable` for a head with
    ///   invalid declarations: names that are not allowed, tables of the engine's that this version does not know,
    ///   more than 1,997 columns of a table or more than 10,000 tables; `invalidRecord`, with the line's number, for
    ///   lines that are no export, that were cut off, from which something was left out, or that do not fit together;
    ///   of the store. The store then holds nothing.
    @discardableResult
    public func read(
        into store: any LocalStore, _ next: @Sendable () throws -> String?
    ) async throws -> StoreExport.Summary {
        guard let first = try next() else {
            throw SluiceError(.invalidRecord, "there is no line: an export begins with a head")
        }
        try check(first, 1)
        guard case .head(let declared, let isWhole) = try StoreLines.Line(first, number: 1) else {
            throw SluiceError(.invalidRecord, "line 1 is no head of an export")
        }
        guard isWhole else {
            throw SluiceError(
                .invalidRecord, "this export was made with records left out: it can be read, and not imported"
            )
        }
        let tables = try Self.tables(declared)
        let names = Set(tables.map { ExactName($0.name) })
        return try await store.write { writer in
            try Self.checkEmpty(writer)
            for table in tables { try writer.redeclare(table) }
            var summary = StoreExport.Summary()
            var number = 1
            var end: Int64?
            while let text = try next() {
                number += 1
                guard end == nil else {
                    throw SluiceError(.invalidRecord, "line \(number) comes after the end")
                }
                try check(text, number)
                switch try StoreLines.Line(text, number: number) {
                case .head: throw SluiceError(.invalidRecord, "line \(number) is a second head")
                case .end(let rows): end = rows
                case .row(let row, let table):
                    // Otherwise a row would create its table, beyond the number of tables that a head may declare.
                    guard names.contains(ExactName(table)) else {
                        throw SluiceError(
                            .invalidRecord, "line \(number) is of a table that the head does not declare", table: table)
                    }
                    do {
                        try Self.put(row, in: table, writer)
                    } catch let error as SluiceError where error.code == .invalidRecord || error.code == .storeCorrupt {
                        throw SluiceError(.invalidRecord, "line \(number): \(error.message)", table: table)
                    }
                    summary.rows += 1
                    if table == TableOperation.schema.name { summary.operations += 1 }
                    if !table.hasPrefix(SyncTables.prefix) { summary.records[table, default: 0] += 1 }
                }
            }
            guard let end else { throw SluiceError(.invalidRecord, "the export was cut off after line \(number)") }
            guard end == Int64(summary.rows) else {
                throw SluiceError(
                    .invalidRecord, "the export says that it has \(end.counted("row")), and has \(summary.rows)")
            }
            if let problem = try StoreConsistency.problems(in: writer).first {
                throw SluiceError(.invalidRecord, "what the export holds does not fit together: \(problem)")
            }
            return summary
        }
    }

    private func check(_ line: String, _ number: Int) throws(SluiceError) {
        guard line.utf8.count <= maximumLineLength else { throw Self.tooLong(number, longest: maximumLineLength) }
    }

    /// Returns the error for a line that is too long, for a caller that notices before the line is read to its end.
    package static func tooLong(_ number: Int, longest: Int) -> SluiceError {
        SluiceError(.invalidRecord, "line \(number) is longer than \(longest) bytes")
    }

    /// Checks that the store is empty. Tables that a new context writes, and the lease, do not count.
    private static func checkEmpty(_ store: any StoreReader) throws {
        let notes = [LeaseRecord.schema.name, MigrationNote.schema.name, LocalOnly.schema.name]
        for table in try store.tables() where !notes.contains(table.name) {
            if try store.count(matching: TableQuery(table.name)) > 0 {
                throw SluiceError(
                    .recordExists, "the store is not empty: an export is read into a new one", table: table.name)
            }
        }
    }
}

extension StoreImport {
    /// The maximum number of columns of a table, and of indexes: SQLite takes 2,000, and three are the store's own.
    static let mostColumns = 1_997
    /// The maximum number of tables. Each costs a store something at every opening; no application has that many.
    static let mostTables = 10_000

    /// The engine's own tables, which every store has.
    static let own = Set(SyncTables.all.map(\.name))

    /// Returns the tables to create for a head that is not trusted: the engine's own as this version declares them,
    /// and the application's.
    ///
    /// An unknown table of the engine's is from a newer version. It is not created, because the newer version would
    /// later rely on data that this one has not maintained. It is not left out, because the loss would be unknown.
    ///
    /// - Throws: ``SluiceError`` of code `invalidTable`.
    static func tables(_ declared: [TableSchema]) throws(SluiceError) -> [TableSchema] {
        guard declared.count <= mostTables else {
            throw SluiceError(
                .invalidTable, "the export declares \(declared.count) tables, and no more than \(mostTables) are read")
        }
        var tables = SyncTables.all
        var names: Set<ExactName> = []
        for table in declared {
            guard names.insert(ExactName(table.name)).inserted else {
                throw SluiceError(.invalidTable, "the export declares the table twice", table: table.name)
            }
            try checkSize(table)
            if own.contains(table.name) { continue }
            if table.name == SyncTables.pluginValues.name {
                // The declaration that plugins expect, whatever the head has: another type would be refused at every
                // opening.
                tables.append(SyncTables.pluginValues)
            } else if table.name.hasPrefix(SyncTables.prefix) {
                throw SluiceError(
                    .invalidTable, "the export has a table of the engine's own that this version does not know",
                    table: table.name)
            } else {
                try SyncTables.validate(table.name)
                tables.append(table)
            }
        }
        return tables
    }

    private static func checkSize(_ table: TableSchema) throws(SluiceError) {
        guard table.columns.count <= mostColumns else {
            throw SluiceError(
                .invalidTable,
                "the export declares \(table.columns.count) columns, and SQLite takes no more than \(mostColumns)",
                table: table.name)
        }
        guard table.indexes.count <= mostColumns, table.indexes.allSatisfy({ $0.count <= mostColumns }) else {
            throw SluiceError(
                .invalidTable, "the export declares more than \(mostColumns) indexes, or an index of more columns",
                table: table.name)
        }
    }
}
