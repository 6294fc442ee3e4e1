internal import SluiceBase

/// The hooks that are asked at one point about one table, in their order.
struct AskedHooks: Sendable {
    /// The names of the hooks that the current task runs in. A hook is not asked about its own actions.
    @TaskLocal private static var asked: Set<String> = []

    let point: HookPoint
    let table: String
    let hooks: [any SyncHook]

    /// The chain; nil where no hook takes part.
    init?(_ all: [any SyncHook], _ point: HookPoint, table: String) {
        if all.isEmpty { return nil }
        hooks = all.filter { $0.wants(point, table: table) && !Self.asked.contains($0.hookName) }
        if hooks.isEmpty { return nil }
        self.point = point
        self.table = table
    }

    /// Asks one hook.
    ///
    /// - Throws: ``SluiceError`` of code `hookFailed`, for every error of the hook; `cancelled` where the task was
    ///   cancelled.
    func ask<Answer: Sendable>(
        _ hook: any SyncHook, recordID: RecordID? = nil, operationID: String? = nil,
        _ question: @Sendable (any SyncHook) async throws -> Answer
    ) async throws(SluiceError) -> Answer {
        do {
            return try await Self.$asked.withValue(Self.asked.union([hook.hookName])) { try await question(hook) }
        } catch {
            if Task.isCancelled { throw SluiceError(.cancelled, "the task was cancelled", table: table) }
            throw SluiceError(
                .hookFailed, "the hook \(hook.hookName) failed (\(point.rawValue))", table: table, recordID: recordID,
                operationID: operationID, cause: error)
        }
    }

    /// Returns the error for an invalid answer of a hook.
    func broken(_ hook: any SyncHook, _ reason: String, recordID: RecordID? = nil) -> SluiceError {
        SluiceError(
            .hookFailed, "the hook \(hook.hookName) gave an answer that cannot be (\(point.rawValue)): \(reason)",
            table: table, recordID: recordID)
    }
}

/// A hook's decision, with the hook's name.
struct HookVerdict<Decision: Sendable & Hashable>: Sendable, Hashable {
    /// The hook's name; empty where all hooks left the decision to the engine.
    package var hook: String
    package var decision: Decision

    package init(_ decision: Decision, by hook: String = "") {
        self.hook = hook
        self.decision = decision
    }
}
