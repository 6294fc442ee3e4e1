internal import SluiceCore

/// A device's store as one of its processes sees it. It ends with the process, fails where a fault strikes, and reports
/// the changes of every committed transaction to the checker.
struct SimulatedStore: LocalStore {
    let inner: any LocalStore
    let process: SimulatedProcess
    let world: SimulationParts
    let usesThreads: Bool
    let commits: SimulatedCommits

    func define(_ tables: [TableSchema]) async throws {
        try process.checkAlive()
        try await call { try await inner.define(tables) }
    }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try process.checkAlive()
        if let error = trouble() { throw error }
        let result = try await call { try await inner.read(body) }
        try process.checkAlive()
        return result
    }

    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        try process.checkAlive()
        if world.faults.strikes(.crashAtEffect, of: process.device) { try process.crash("before a transaction") }
        if world.faults.strikes(.storeFailure, of: process.device) {
            throw SluiceError(.storeInputOutput, "the simulated disk failed")
        }
        let trouble = trouble()
        let callsUntilTrouble = trouble == nil ? 0 : world.random.below(8)
        let ticket = commits.begin()
        let result: Result
        do {
            result = try await call {
                try await inner.write { [commits] writer in
                    let watched = WatchedWriter(
                        writer, failing: trouble, after: callsUntilTrouble, ids: world.setting.ids)
                    let result = try body(watched)
                    // The transaction had fewer changes than that: it fails at the commit.
                    if let trouble { throw trouble }
                    commits.end(ticket, SimulatedTransaction(watched.changes))
                    return result
                }
            }
        } catch {
            commits.drop(ticket)
            throw error
        }
        for transaction in commits.take(through: ticket) where !transaction.changes.isEmpty {
            world.committed(transaction, on: process.device)
        }
        if world.faults.strikes(.crashAtEffect, of: process.device) { try process.crash("after a transaction") }
        try process.checkAlive()
        return result
    }

    func close() async throws {}

    /// Returns the error of the simulated disk, if it fails now.
    private func trouble() -> SluiceError? {
        guard world.faults.strikes(.storeTrouble, of: process.device) else { return nil }
        let codes: [SluiceError.Code] = [.storeInputOutput, .storeFull, .storeBusy, .storeCorrupt]
        return SluiceError(codes[world.random.below(codes.count)], "the simulated disk failed")
    }

    private func call<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        usesThreads ? try await world.executor.outside(body) : try await body()
    }
}

/// The change of one record by a transaction.
struct StoreChange: Sendable {
    let table: String
    let id: RecordID
    /// The new record; nil where it was deleted.
    let record: JSON?

    var description: String { table + (record == nil ? "/\(id) gone" : "(\(SimulationText.of(record)))") }
}

/// Passes writes on and records them; fails at one of them if it has to.
private final class WatchedWriter: StoreWriter {
    private let inner: any StoreWriter
    private let error: SluiceError?
    private var callsLeft: Int
    private let ids: SimulatedIDs
    private(set) var changes: [StoreChange] = []

    init(_ inner: any StoreWriter, failing error: SluiceError?, after calls: Int, ids: SimulatedIDs) {
        self.inner = inner
        self.ids = ids
        self.error = error
        callsLeft = calls
    }

    private func countCall() throws {
        guard let error else { return }
        callsLeft -= 1
        if callsLeft < 0 { throw error }
    }

    /// Notes a change, with ids in the server's form.
    private func note(_ table: String, _ id: RecordID, _ record: JSON?) {
        changes.append(StoreChange(table: table, id: ids.known(id), record: record.map(ids.known)))
    }

    func record(_ id: RecordID, in table: String) throws -> JSON? { try inner.record(id, in: table) }
    func records(matching query: TableQuery) throws -> [JSON] { try inner.records(matching: query) }
    func records(
        in table: String, where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName
    ) throws -> [JSON] { try inner.records(in: table, where: texts, orderedBy: order) }
    func largest(_ column: PropertyName, in table: String) throws -> Int64? { try inner.largest(column, in: table) }
    func count(matching query: TableQuery) throws -> Int { try inner.count(matching: query) }
    func tables() throws -> [TableSchema] { try inner.tables() }
    func redeclare(_ table: TableSchema) throws { try inner.redeclare(table) }
    func drop(_ table: String) throws { try inner.drop(table) }

    func put(_ record: JSON, in table: String) throws {
        try countCall()
        try inner.put(record, in: table)
        note(table, record["id"]?.textID ?? "", record)
    }

    func put(_ rows: RowPage.Selection, in table: String) throws {
        try countCall()
        try inner.put(rows, in: table)
        for index in rows.indices {
            note(table, rows.page.rows[index].id, rows.page.record(at: index))
        }
    }

    func put(_ row: StoreRow) throws {
        try countCall()
        try inner.put(row)
        note(row.schema.name, row.id, row.record)
    }

    func delete(_ ids: [RecordID], from table: String) throws {
        try countCall()
        try inner.delete(ids, from: table)
        for id in ids { note(table, id, nil) }
    }

    func delete(matching query: TableQuery) throws -> Int {
        var all = TableQuery(query.table, filter: query.filter)
        all.parameters = query.parameters
        let ids = try inner.records(matching: all).compactMap { $0["id"]?.textID }
        try countCall()
        let count = try inner.delete(matching: query)
        for id in ids { note(query.table, id, nil) }
        return count
    }
}
