internal import SluiceBase

/// One run of pushes and pulls: a change that did not go through in it is not sent again by the pushes that its pulls
/// begin with. So a server that is ill for a moment fails at a change once, however many tables are pulled.
///
/// A push begins a run, and so does a pull of what the run has pulled already.
struct SyncRun: Sendable {
    /// What was pulled, as the caller asked for it.
    struct Pull: Sendable, Hashable {
        let query: Query
        let name: String?
    }

    private var failed: Set<String> = []
    private var pulled: Set<Pull> = []

    /// Begins a run with a push.
    ///
    /// - Parameter passedBy: the operations that the push has left alone.
    init(_ push: PushResult? = nil, passingBy passedBy: Set<String> = []) {
        if let push { note(push) }
        failed.formUnion(passedBy)
    }

    /// Goes on with a pull, in this run or the next.
    ///
    /// - Returns: the operations that did not go through in the run.
    mutating func take(_ pull: Pull) -> Set<String> {
        if pulled.contains(pull) { self = SyncRun() }
        pulled.insert(pull)
        return failed
    }

    /// Notes a push of the run. One that ended early has not tried all, so the next tries all again.
    mutating func note(_ push: PushResult) {
        guard push.end == .completed else { return failed = [] }
        failed.formUnion(push.failures.filter { $0.state == .pending }.map(\.id))
    }
}

extension QueueReader {
    /// Those of the operations that were not changed or revived since they failed, and that wait for no time of their
    /// own.
    func stillFailed(_ ids: Set<String>) throws -> Set<String> {
        try ids.filter { id in
            let operation = try operation(id)
            return operation?.failure != nil && operation?.notBefore == nil
        }
    }
}
