/// A transaction on a copy of a memory store's state, for the one thread that runs its body.
final class MemoryStoreTransaction: StoreWriter {
    private(set) var state: MemoryStoreState
    private var isOpen = true

    init(_ state: MemoryStoreState) { self.state = state }

    /// Makes every further call throw.
    func end() { isOpen = false }

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
        try state.put(record, in: table)
    }

    func delete(_ ids: [String], from table: String) throws {
        try checkOpen()
        state.delete(ids.map(MemoryStoreState.Key.init), from: table)
    }

    func delete(matching query: Query) throws -> Int {
        try checkOpen()
        let keys = try state.keys(matching: query)
        state.delete(keys, from: query.table)
        return keys.count
    }
}
