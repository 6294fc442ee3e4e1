internal import Synchronization

/// A store in memory: gone when the process ends. For tests, and for what need not outlive the process.
///
/// ```swift
/// let store = MemoryStore()
/// try await store.write { try $0.put(["id": "1", "text": "milk"], in: "todos") }
/// let todos = try await store.read { try $0.records(matching: Query("todos")) }
/// ```
///
/// A transaction works on a copy, which takes the original's place when it ends well; so readers wait for nobody.
public final class MemoryStore: LocalStore {
    private let state = Mutex<MemoryStoreState?>(MemoryStoreState())
    private let writers = MemoryStoreQueue()
    private let leases = ExclusiveLease()

    /// An empty store.
    public init() {}

    /// Declares tables; see ``LocalStore/define(_:)``.
    public func define(_ tables: [TableSchema]) async throws {
        try await change { state in
            for table in tables { try state.define(table) }
        }
    }

    /// Runs `body` on the state of this moment; see ``LocalStore/read(_:)``.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        let transaction = MemoryStoreTransaction(try snapshot())
        defer { transaction.end() }
        return try body(transaction)
    }

    /// Runs `body` as one transaction; see ``LocalStore/write(_:)``.
    public func write<Result: Sendable>(
        _ body: @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await change { state in
            let transaction = MemoryStoreTransaction(state)
            defer { transaction.end() }
            let result = try body(transaction)
            state = transaction.state
            return result
        }
    }

    /// Forgets everything; see ``LocalStore/close()``.
    public func close() async throws {
        await writers.run { state.withLock { $0 = nil } }
    }

    /// Takes the lease; see ``LocalStore/takeLease()``.
    public func takeLease() async throws -> StoreLease? { leases.take() }

    /// Takes the lease away; see ``LocalStore/breakLease()``.
    public func breakLease() async throws { leases.breakUp() }

    private func snapshot() throws -> MemoryStoreState {
        guard let snapshot = state.withLock({ $0 }) else {
            throw SluiceError(.storeClosed, "the store is closed; make another")
        }
        return snapshot
    }

    /// Runs `body` on a copy of the state, one after the other, and keeps the copy if it does not throw.
    private func change<Result: Sendable>(
        _ body: @Sendable (inout MemoryStoreState) throws -> Result
    ) async throws -> Result {
        try await writers.run {
            var copy = try snapshot()
            let result = try body(&copy)
            state.withLock { $0 = copy }
            return result
        }
    }
}

/// Lets one writer in at a time.
private actor MemoryStoreQueue {
    func run<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result { try body() }
}
