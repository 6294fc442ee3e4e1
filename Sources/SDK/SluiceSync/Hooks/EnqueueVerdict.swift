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
            case .localOnly:
                verdict.isLocalOnly = true
                return verdict
            case .reject(let refusal):
                let name = refusal.hookName ?? hook.hookName
                throw SluiceError(
                    .refusedByHook, "the hook \(name) refuses the change: \(refusal.message)", table: table,
                    recordID: seen.recordID, cause: refusal)
            case .change(let record):
                guard seen.kind == .insert || seen.kind == .update else {
                    throw broken(hook, "\(seen.kind.rawValue) has no record to change", recordID: seen.recordID)
                }
                guard record.kind == .object, record["id"].map({ $0.textID == seen.recordID }) ?? true else {
                    throw broken(
                        hook, "a changed record is whole, and its id cannot be another", recordID: seen.recordID)
                }
                change.record = record
                verdict.record = record
            }
        }
        return verdict
    }
}
