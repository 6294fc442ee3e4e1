internal import SluiceBase

/// A local change that hooks look at: first outside of any transaction, then it is stored if what they saw still
/// stands.
struct HookedWrite: Sendable {
    let change: LocalChange
    let chain: AskedHooks
    let context: SyncContext

    /// How often hooks are asked about one change.
    static let mostAttempts = 3

    /// Thrown to roll a transaction back that finds something else than the hooks saw.
    private struct Moved: Error {}

    /// Carries the change out and returns the local record after it.
    ///
    /// - Throws: ``SluiceError`` of code `refusedByHook`, `hookFailed`, `operationRefused` where the record moves each
    ///   time that the hooks have looked; and what the change throws without hooks.
    func carryOut() async throws -> JSON? {
        let environment = context.options.environment
        for attempt in 1...Self.mostAttempts {
            let seen = try await context.store.read { try change.look(at: $0) }
            let verdict = try await chain.verdict(on: seen.shown(attempt: attempt))
            do {
                return try await context.store.write(at: .localChange, environment) { writer in
                    guard try change.look(at: writer) == seen else { throw Moved() }
                    return try change.taking(verdict).apply(to: writer, environment: environment)
                }
            } catch is Moved {
                continue
            }
        }
        throw Self.moved(change.table, change.recordID)
    }

    static func moved(_ table: String? = nil, _ recordID: RecordID? = nil) -> SluiceError {
        SluiceError(
            .operationRefused, "the data changed as often as the hooks looked at it; try again", table: table,
            recordID: recordID)
    }
}
