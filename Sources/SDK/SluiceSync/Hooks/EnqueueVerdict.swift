internal import SluiceBase

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
