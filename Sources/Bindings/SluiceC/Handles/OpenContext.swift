internal import CSluice
internal import Dispatch
internal import Glibc
internal import SluiceCore
internal import SluiceSQLite
internal import Synchronization

/// A context that is open for callers of the header, with their running calls.
final class OpenContext: Sendable {
    /// Whether a call may wait for a running callback.
    enum Rule {
        case local, waiting
    }

    /// All open contexts.
    static let all = HandleTable<OpenContext>(.context)

    let sync: SyncContext
    let store: SQLiteStore
    /// The queue on which event callbacks run, one at a time.
    let events = DispatchQueue(label: "sluice.events")

    private struct State {
        var isClosing = false
        var lastCall: UInt64 = 0
        /// The cancel action of each running call.
        var calls: [UInt64: @Sendable () -> Void] = [:]
        var subscriptions: [UInt64] = []
    }
    private let state = Mutex(State())
    private let underWay = DispatchGroup()

    init(_ sync: SyncContext, _ store: SQLiteStore) {
        self.sync = sync
        self.store = store
    }

    /// Returns the context of a handle, for a call that obeys the rules for callbacks.
    static func find(_ handle: sluice_context, _ rule: Rule) throws(Failure) -> OpenContext {
        try ThisProcess.check()
        try allow(rule)
        return try all.find(handle)
    }

    /// Checks that the calling thread is in no callback from which such a call would wait for itself.
    static func allow(_ rule: Rule) throws(Failure) {
        switch (CallbackPlace.current, rule) {
        case (.none, _), (.decision, .local), (.event, .local): return
        case (.transaction, _):
            throw Failure(
                SLUICE_ERROR_REENTRANT, "the body of a transaction calls the functions sluice_transaction_… alone")
        case (.decision, .waiting), (.event, .waiting):
            throw Failure(SLUICE_ERROR_REENTRANT, "this call would wait for the callback that makes it")
        }
    }

    /// Runs `body` for a caller with one of a context's sync tables, and waits for its end.
    static func inTable<Result: Sendable>(
        _ handle: sluice_context, _ name: UnsafePointer<CChar>?,
        _ body: @escaping @Sendable (SyncTable<JSON>) async throws -> Result
    ) throws -> Result {
        let open = try find(handle, .local)
        let name = try Input.name(name, "table")
        return try open.call { try await body($0.sync.table(name)) }
    }

    /// Runs `body` for a caller, and waits for its end.
    func call<Result: Sendable>(_ body: @escaping @Sendable (OpenContext) async throws -> Result) throws -> Result {
        let call = try begin()
        defer { end(call) }
        return try CallerExecutor.run(started: { note($0, for: call) }) { try await body(self) }
    }

    /// Runs synchronous `body` on the caller's thread.
    func here<Result>(_ body: () throws -> Result) throws -> Result {
        let call = try begin()
        defer { end(call) }
        return try body()
    }

    private func begin() throws(Failure) -> UInt64 {
        let call = state.withLock { state -> UInt64? in
            guard !state.isClosing else { return nil }
            state.lastCall += 1
            state.calls[state.lastCall] = {}
            underWay.enter()
            return state.lastCall
        }
        guard let call else { throw .handle(HandleTable<OpenContext>.Kind.context) }
        return call
    }

    private func note(_ cancel: @escaping @Sendable () -> Void, for call: UInt64) {
        let isClosing = state.withLock { state in
            state.calls[call] = cancel
            return state.isClosing
        }
        if isClosing { cancel() }
    }

    private func end(_ call: UInt64) {
        state.withLock { $0.calls[call] = nil }
        underWay.leave()
    }

    /// Ends all running calls.
    func interrupt() {
        for cancel in state.withLock({ Array($0.calls.values) }) { cancel() }
    }

    /// Remembers a subscription, so that it ends with the context.
    func add(_ subscription: UInt64) throws(Failure) {
        let isClosing = state.withLock { state in
            if !state.isClosing { state.subscriptions.append(subscription) }
            return state.isClosing
        }
        if isClosing { throw .handle(HandleTable<OpenContext>.Kind.context) }
    }

    func forget(_ subscription: UInt64) { state.withLock { $0.subscriptions.removeAll { $0 == subscription } } }

    /// Ends all running calls and subscriptions, waits for them, and closes the store.
    func close() throws {
        let subscriptions = state.withLock { state in
            state.isClosing = true
            return state.subscriptions
        }
        interrupt()
        underWay.wait()
        for handle in subscriptions { Subscription.finish(handle) }
        try CallerExecutor.run { [store] in try await store.close() }
    }
}

/// The process that uses the library: a child that is forked from it has none of its threads.
enum ThisProcess {
    private static let id = getpid()

    /// Checks that this is the process that used the library first.
    static func check() throws(Failure) {
        guard getpid() == id else {
            throw Failure(
                SLUICE_ERROR_FORKED, "this process was forked from one that uses the library: call exec first")
        }
    }
}
