/// A transaction on a memory store's state, for the one thread that runs its body.
final class MemoryStoreTransaction: StoreWriter {
    private(set) var state: MemoryStoreState
    private var isOpen = true
    /// What was there before each change, the last change last.
    private var before: [(record: JSON?, key: MemoryStoreState.Key, table: String)] = []

    init(_ state: MemoryStoreState) { self.state = state }

    /// Makes every further call throw.
    func end() { isOpen = false }

    /// Takes all changes back.
    func rollBack() {
        while let change = before.popLast() { _ = state.set(change.record, at: change.key, in: change.table) }
    }

    private func checkOpen() throws(SluiceError) {
        if !isOpen {
            throw SluiceError(.storeClosed, "the transaction has ended; use its reader or writer inside only")
        }
    }

    func record(_ id: String, in table: String) throws -> JSON? {
        try checkOpen()
        return state.record(id, in: table)
    }

    func records(matching query: Query) throws -> [JSON] {
        try checkOpen()
        return try state.records(matching: query)
    }

    func count(matching query: Query) throws -> Int {
        try checkOpen()
        return try state.keys(matching: query).count
    }

    func put(_ record: JSON, in table: String) throws {
        try checkOpen()
        try StoreRules.check(table: table)
        set(record, at: MemoryStoreState.Key(try StoreRules.id(of: record, in: table)), in: table)
    }

    func delete(_ ids: [String], from table: String) throws {
        try checkOpen()
        for id in ids { set(nil, at: MemoryStoreState.Key(id), in: table) }
    }

    func delete(matching query: Query) throws -> Int {
        try checkOpen()
        let keys = try state.keys(matching: query)
        for key in keys { set(nil, at: key, in: query.table) }
        return keys.count
    }

    private func set(_ record: JSON?, at key: MemoryStoreState.Key, in table: String) {
        before.append((state.set(record, at: key, in: table), key, table))
    }
}
