public import SluiceBase

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

/// A local change that is about to be stored with its operation.
public struct EnqueuedChange: Sendable, Hashable {
    /// The table.
    public var table: String
    /// The record's id.
    public var recordID: RecordID
    /// The kind of the application's change.
    public var kind: TableOperation.Kind
    /// The whole record to store, with the changes of earlier hooks. It is nil for a delete, and for an undelete of a
    /// record that is not known here.
    public var record: JSON?
    /// The record as the application sees it before the change; nil where there is none.
    public var before: JSON?
    /// The application's tags of the change.
    public var tags: Set<String>
    /// The group that the change is part of; nil for one that stands alone.
    public var group: String?
    /// The number of this attempt, from 1. The hooks are asked again where the record or its queue has changed since.
    public var attempt: Int

    package init(
        table: String, recordID: RecordID, kind: TableOperation.Kind, record: JSON?, before: JSON? = nil,
        tags: Set<String> = [], group: String? = nil, attempt: Int = 1
    ) {
        self.table = table
        self.recordID = recordID
        self.kind = kind
        self.record = record
        self.before = before
        self.tags = tags
        self.group = group
        self.attempt = attempt
    }
}

/// The combined decision of all hooks about a local change.
struct EnqueueVerdict: Sendable, Hashable {
    /// The whole record to store instead of the application's; nil to store the application's.
    var record: JSON?
    /// Whether the change is stored without an operation, so that it is not sent.
    var isLocalOnly = false
}

extension AskedHooks {
    /// Asks the hooks about a local change, in their order.
    ///
    /// - Throws: ``SluiceError`` of code `refusedByHook` where a hook refuses it, and of code `hookFailed`.
    func verdict(on change: EnqueuedChange) async throws(SluiceError) -> EnqueueVerdict {
        var change = change
        var verdict = EnqueueVerdict()
        for hook in hooks {
            let seen = change
            let decision = try await ask(hook, recordID: seen.recordID) { try await $0.beforeEnqueue(seen) }
            switch decision {
            case .accept: break
            case .localOnly(let record):
                if let record { verdict.record = try checked(record, of: hook, for: seen) }
                verdict.isLocalOnly = true
                return verdict
            case .reject(let refusal):
                let name = refusal.hookName ?? hook.hookName
                throw SluiceError(
                    .refusedByHook, "the hook \(name) refuses the change: \(refusal.message)", table: table,
                    recordID: seen.recordID, cause: refusal)
            case .change(let record):
                verdict.record = try checked(record, of: hook, for: seen)
                change.record = verdict.record
            }
        }
        return verdict
    }

    /// Returns a hook's record for a change.
    ///
    /// - Throws: ``SluiceError`` of code `hookFailed` where the change has no record, or the record is not one of its
    ///   id.
    private func checked(
        _ record: JSON, of hook: any SyncHook, for change: EnqueuedChange
    ) throws(SluiceError) -> JSON {
        guard change.kind == .insert || change.kind == .update else {
            throw broken(hook, "\(change.kind.rawValue) has no record to change", recordID: change.recordID)
        }
        guard record.kind == .object, record["id"].map({ $0.textID == change.recordID }) ?? true else {
            throw broken(hook, "a changed record is whole, and its id cannot be another", recordID: change.recordID)
        }
        return record
    }
}
