internal import SluiceBase

/// A local change that hooks see before it is stored. The hooks run outside of any transaction. The change is then
/// stored if the data that they saw is still the same.
struct HookedWrite: Sendable {
    let change: LocalChange
    let chain: AskedHooks
    let context: SyncContext

    /// The number of times that hooks are asked about one change at most.
    static let mostAttempts = 3

    /// Thrown to roll a transaction back because the data differs from the data that the hooks saw.
    private struct Moved: Error {}

    /// Carries the change out and returns the local record after it.
    ///
    /// - Throws: ``SluiceError`` of code `refusedByHook` or `hookFailed`; `operationRefused` where the record has
    ///   changed after each look of the hooks; and the errors of the change itself.
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
