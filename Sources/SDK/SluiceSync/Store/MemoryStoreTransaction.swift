internal import SluiceBase

/// A transaction on a memory store's state, for the thread that runs its body. It changes the state in place and
/// records the changes.
final class MemoryStoreTransaction: StoreWriter {
    typealias Key = MemoryStoreState.Key

    /// A record that was put or removed.
    struct Change {
        let table: Key
        let name: String
        let key: Key
    }

    private(set) var state: MemoryStoreState
    private(set) var changes: [Change] = []
    /// Whether tables were changed, so that the whole state has to be copied.
    private(set) var changesTables = false
    private var isOpen = true

    init(_ state: consuming MemoryStoreState) { self.state = state }

    /// Makes every further call throw, and returns the state.
    func end() -> MemoryStoreState {
        isOpen = false
        let last = state
        state = MemoryStoreState()
        return last
    }

    private func checkOpen() throws(SluiceError) {
        if !isOpen {
            throw SluiceError(.storeClosed, "the transaction has ended; use its reader or writer inside only")
        }
    }

    func record(_ id: RecordID, in table: String) throws -> JSON? {
        try checkOpen()
        return state.record(Key(id.text), in: Key(table))
    }

    func records(matching query: TableQuery) throws -> [JSON] {
        try checkOpen()
        return try state.records(matching: query)
    }

    func count(matching query: TableQuery) throws -> Int {
        try checkOpen()
        return try state.keys(matching: query).count
    }

    func tables() throws -> [TableSchema] {
        try checkOpen()
        return state.schemas
    }

    func put(_ record: JSON, in table: String) throws {
        try checkOpen()
        try StoreRules.check(table: table)
        set(record, Key(try StoreRules.id(of: record, in: table).text), in: table)
    }

    func delete(_ ids: [RecordID], from table: String) throws {
        try checkOpen()
        for id in ids { set(nil, Key(id.text), in: table) }
    }

    func delete(matching query: TableQuery) throws -> Int {
        try checkOpen()
        let keys = try state.keys(matching: query)
        for key in keys { set(nil, key, in: query.table) }
        return keys.count
    }

    func redeclare(_ table: TableSchema) throws {
        try checkOpen()
        try state.redeclare(table)
        changesTables = true
    }

    func drop(_ table: String) throws {
        try checkOpen()
        state.drop(Key(table))
        changesTables = true
    }

    private func set(_ record: JSON?, _ key: Key, in table: String) {
        let change = Change(table: Key(table), name: table, key: key)
        changes.append(change)
        state.set(record, key, in: change.table, named: table)
    }
}
