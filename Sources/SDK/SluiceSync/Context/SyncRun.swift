internal import SluiceBase

/// One run of pushes and pulls. A pull begins with a push, and that push does not repeat an operation that has failed
/// in the run. So a server with a short failure rejects a change once, however many tables are pulled.
///
/// A push begins a run, and so does a second pull of the same query.
struct SyncRun: Sendable {
    /// A pull, by the caller's arguments.
    struct Pull: Sendable, Hashable {
        let query: TableQuery
        let name: String?
    }

    private var failed: Set<String> = []
    private var pulled: Set<Pull> = []

    /// Begins a run with a push.
    ///
    /// - Parameter passedBy: the operations that the push has skipped.
    init(_ push: PushResult? = nil, passingBy passedBy: Set<String> = []) {
        if let push { note(push) }
        failed.formUnion(passedBy)
    }

    /// Adds a pull to this run, or begins a run with it.
    ///
    /// - Returns: the operations that did not go through in the run.
    mutating func take(_ pull: Pull) -> Set<String> {
        if pulled.contains(pull) { self = SyncRun() }
        pulled.insert(pull)
        return failed
    }

    /// Adds a push to the run. A push that ended early has not tried all operations, so the next one tries all again.
    mutating func note(_ push: PushResult) {
        guard push.end == .completed else { return failed = [] }
        failed.formUnion(push.failures.filter { $0.state == .pending }.map(\.id))
    }
}

extension QueueReader {
    /// Returns the operations that were not changed or revived since they failed, and that wait for no time of their
    /// own.
    func stillFailed(_ ids: Set<String>) throws -> Set<String> {
        try ids.filter { id in
            let operation = try operation(id)
            return operation?.failure != nil && operation?.notBefore == nil
        }
    }
}
