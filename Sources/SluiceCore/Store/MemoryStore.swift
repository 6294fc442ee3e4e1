internal import Synchronization

/// A store in memory: gone when the process ends. For tests, and for what need not outlive the process.
///
/// ```swift
/// let store = MemoryStore()
/// try await store.write { try $0.put(["id": "1", "text": "milk"], in: "todos") }
/// let todos = try await store.read { try $0.records(matching: Query("todos")) }
/// ```
///
/// Readers see the state of the moment in which they began. A transaction changes the state in place, or a copy of it
/// while someone reads; where it throws, its changes are taken back. Declared indexes are used as a database would.
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
            // The transaction alone holds the state now, so that its changes copy nothing.
            state = MemoryStoreState()
            defer {
                transaction.end()
                state = transaction.state
            }
            do {
                return try body(transaction)
            } catch {
                transaction.rollBack()
                throw error
            }
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
            throw Self.closed
        }
        return snapshot
    }

    /// Runs `body` on the state, one after the other; readers that begin meanwhile wait for its end.
    private func change<Result: Sendable>(
        _ body: @Sendable (inout MemoryStoreState) throws -> Result
    ) async throws -> Result {
        try await writers.run {
            try state.withLock { state in
                guard var held = state.take() else { throw Self.closed }
                defer { state = held }
                return try body(&held)
            }
        }
    }

    private static var closed: SluiceError { SluiceError(.storeClosed, "the store is closed; make another") }
}

/// Lets one writer in at a time.
private actor MemoryStoreQueue {
    func run<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result { try body() }
}
