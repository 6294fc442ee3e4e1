public import SluiceBase
internal import Synchronization

/// A store in memory: gone when the process ends. For tests, and for data that need not outlive the process.
///
/// ```swift
/// let store = MemoryStore()
/// try await store.write { try $0.put(["id": "1", "text": "milk"], in: "todos") }
/// let todos = try await store.read { try $0.records(matching: TableQuery("todos")) }
/// ```
///
/// The state is kept twice, for writers and for readers. A transaction changes the writers' copy. Its changes are then
/// copied to the readers' state, or undone from it after an error. So readers never wait, and the cost of a transaction
/// depends on its changes, not on the size of the store.
public final class MemoryStore: LocalStore {
    private let published = Mutex<MemoryStoreState?>(MemoryStoreState())
    private let writers = MemoryStoreWriters()
    private let leases = ExclusiveLease()

    /// An empty store.
    public init() {}

    /// Declares tables; see ``LocalStore/define(_:)``.
    public func define(_ tables: [TableSchema]) async throws {
        try await writers.run { working in
            var state = try snapshot()
            for table in tables { try state.define(table) }
            working = state
            published.withLock { $0 = state }
        }
    }

    /// Runs `body` on the current state; see ``LocalStore/read(_:)``.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        let transaction = MemoryStoreTransaction(try snapshot())
        defer { _ = transaction.end() }
        return try body(transaction)
    }

    /// Runs `body` as one transaction; see ``LocalStore/write(_:)``.
    public func write<Result: Sendable>(
        _ body: @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await writers.run { working in
            guard published.withLock({ $0 != nil }) else { throw Self.closed }
            let transaction = MemoryStoreTransaction(Self.take(&working))
            do {
                let result = try body(transaction)
                working = transaction.end()
                published.withLock { published in
                    guard var state = published.take() else { return }
                    if transaction.changesTables {
                        state = working
                    } else {
                        state.copy(transaction.changes, from: working)
                    }
                    published = consume state
                }
                return result
            } catch {
                working = transaction.end()
                if let state = published.withLock({ $0 }) {
                    if transaction.changesTables {
                        working = state
                    } else {
                        working.copy(transaction.changes, from: state)
                    }
                }
                throw error
            }
        }
    }

    /// Forgets everything; see ``LocalStore/close()``.
    public func close() async throws {
        await writers.run { working in
            working = MemoryStoreState()
            published.withLock { $0 = nil }
        }
    }

    /// Takes the lease; see ``LocalStore/takeLease()``.
    public func takeLease() async throws -> StoreLease? { leases.take() }

    /// Takes the lease away; see ``LocalStore/breakLease()``.
    public func breakLease() async throws { leases.breakUp() }

    private static func take(_ state: inout MemoryStoreState) -> MemoryStoreState {
        let taken = state
        state = MemoryStoreState()
        return taken
    }

    private static var closed: SluiceError { SluiceError(.storeClosed, "the store is closed; make another") }

    private func snapshot() throws -> MemoryStoreState {
        guard let snapshot = published.withLock({ $0 }) else { throw Self.closed }
        return snapshot
    }
}

extension MemoryStoreState {
    /// Sets the changed records to their content in `other`.
    fileprivate mutating func copy(_ changes: [MemoryStoreTransaction.Change], from other: MemoryStoreState) {
        for change in changes {
            set(other.record(change.key, in: change.table), change.key, in: change.table, named: change.name)
        }
    }
}

/// Runs one writer at a time, on the writers' state.
private actor MemoryStoreWriters {
    private var working = MemoryStoreState()

    func run<Result: Sendable>(
        _ body: @Sendable (inout MemoryStoreState) throws -> Result
    ) rethrows -> Result { try body(&working) }
}

/// The lease of a store within one process: the first caller gets it.
package final class ExclusiveLease: Sendable {
    private struct State {
        var isHeld = false
        /// A counter that grows when the lease is taken away, so that its former holder cannot release the next one's.
        var generation = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// Takes the lease, or returns nil if it is held.
    package func take() -> StoreLease? {
        let generation = state.withLock { state -> Int? in
            guard !state.isHeld else { return nil }
            state.isHeld = true
            return state.generation
        }
        return generation.map { generation in StoreLease { [self] in giveBack(generation) } }
    }

    /// Takes the lease away from its holder.
    package func breakUp() {
        state.withLock { state in
            state.isHeld = false
            state.generation += 1
        }
    }

    private func giveBack(_ generation: Int) {
        state.withLock { state in if state.generation == generation { state.isHeld = false } }
    }
}
