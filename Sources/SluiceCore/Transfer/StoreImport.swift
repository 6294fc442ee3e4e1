/// Reads an export into an empty store: all of it, or nothing.
///
/// ```swift
/// let summary = try await StoreImport().read(into: store) { readLine() }
/// ```
///
/// The store goes on where the exported one was: with its queue, under the same ids. One of the two may go on, not both:
/// what waited would be sent from both.
public struct StoreImport: Sendable {
    /// The longest line that is read, in bytes.
    public var longestLine: Int

    /// An import.
    public init(longestLine: Int = 64 << 20) { self.longestLine = longestLine }

    /// Reads lines until there are none.
    ///
    /// - Parameters:
    ///   - store: an empty one.
    ///   - next: gives the next line, without its end; nil behind the last.
    /// - Throws: ``SluiceError`` of code `recordExists` for a store that is not empty; `invalidRecord`, with the line's
    ///   number, for lines that are no export, that were cut off, from which something was left out, or that do not fit
    ///   together; of the store. The store then holds nothing.
    @discardableResult
    public func read(
        into store: any LocalStore, _ next: @Sendable () throws -> String?
    ) async throws -> StoreExport.Summary {
        guard let first = try next() else {
            throw SluiceError(.invalidRecord, "there is no line: an export begins with a head")
        }
        guard first.utf8.count <= longestLine,
            case .head(let tables, let isWhole) = try StoreLines.Line(first, number: 1)
        else {
            throw SluiceError(.invalidRecord, "line 1 is no head of an export")
        }
        guard isWhole else {
            throw SluiceError(
                .invalidRecord, "something was left out of this export: it is to be looked at, and is no store any more"
            )
        }
        for table in tables where !table.name.hasPrefix(SyncTables.prefix) { try SyncTables.validate(table.name) }
        return try await store.write { writer in
            try Self.checkEmpty(writer)
            for table in SyncTables.all + tables.filter({ !Self.own.contains($0.name) }) { try writer.redeclare(table) }
            var summary = StoreExport.Summary()
            var number = 1
            var end: Int64?
            while let text = try next() {
                number += 1
                guard end == nil else {
                    throw SluiceError(.invalidRecord, "line \(number) comes behind the end")
                }
                guard text.utf8.count <= longestLine else {
                    throw SluiceError(.invalidRecord, "line \(number) is longer than \(longestLine) bytes")
                }
                switch try StoreLines.Line(text, number: number) {
                case .head: throw SluiceError(.invalidRecord, "line \(number) is a second head")
                case .end(let rows): end = rows
                case .row(let row, let table):
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
            guard let end else { throw SluiceError(.invalidRecord, "the export was cut off behind line \(number)") }
            guard end == Int64(summary.rows) else {
                throw SluiceError(.invalidRecord, "the export says that it has \(end) rows, and has \(summary.rows)")
            }
            if let problem = try StoreConsistency.problems(in: writer).first {
                throw SluiceError(.invalidRecord, "what the export holds does not fit together: \(problem)")
            }
            return summary
        }
    }

    private static let own = Set(SyncTables.all.map(\.name))

    /// What a context writes when it is made, and who has the lease, is of no account.
    private static func checkEmpty(_ store: any StoreReader) throws {
        let notes = [LeaseRecord.schema.name, MigrationNote.schema.name, LocalOnly.schema.name]
        for table in try store.tables() where !notes.contains(table.name) {
            if try store.count(matching: Query(table.name)) > 0 {
                throw SluiceError(
                    .recordExists, "the store is not empty: an export is read into a new one", table: table.name)
            }
        }
    }

    /// Puts a row; one of the engine's own only if the engine can read it.
    private static func put(_ row: JSON, in table: String, _ writer: any StoreWriter) throws {
        let id = try StoreRules.id(of: row, in: table)
        let isNote = table == MigrationNote.schema.name || table == LocalOnly.schema.name
        guard try isNote || writer.record(id, in: table) == nil else {
            throw SluiceError(.invalidRecord, "a row of this id came before")
        }
        if own.contains(table) { try checkCounters(row) }
        if !table.hasPrefix(SyncTables.prefix) { try SyncTables.validate(table) }
        switch table {
        case LeaseRecord.schema.name: throw SluiceError(.invalidRecord, "a lease is of one store alone")
        case TableOperation.schema.name:
            var operation = try TableOperation(record: row)
            try OperationDocument.validate(operation)
            if operation.state == .inFlight {
                operation.state = .pending
                operation.isUncertain = true
            }
            return try writer.put(operation.record, in: table)
        case RecordState.schema.name:
            let state = try RecordState(record: row)
            guard id == RecordState.id(state.table, state.recordID) else {
                throw SluiceError(.invalidRecord, "a base has another id than its record")
            }
        case Cursor.schema.name:
            guard Cursor(record: row) != nil else { throw SluiceError(.invalidRecord, "the cursor cannot be read") }
        default: break
        }
        try writer.put(row, in: table)
    }

    /// What the engine counts on from is no number at whose end it would stand.
    private static func checkCounters(_ row: JSON) throws {
        for (name, value) in row.members ?? [] where value.number != nil {
            guard let number = value.int, (0...1 << 50).contains(number) else {
                throw SluiceError(.invalidRecord, "\(name) is no count")
            }
        }
        for name in ["revision", "attempts", "failedAttempts"] where (row[name]?.int ?? 0) > 1_000_000_000 {
            throw SluiceError(.invalidRecord, "\(name) is no count")
        }
    }
}
