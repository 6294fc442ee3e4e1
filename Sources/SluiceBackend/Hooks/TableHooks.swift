public import SluiceCore

/// Code of the server's own around what requests do to a table.
///
/// Hooks run outside any transaction, so they may wait; versions are checked again when the change is written, and
/// where the record changed meanwhile ``before(_:)`` is asked again. So what has an effect elsewhere belongs in
/// ``after(_:)``.
///
/// ```swift
/// struct MovieHooks: TableHooks {
///     func before(_ request: inout HookRequest) async throws {
///         if request.operation == .delete, request.principal?.user != "editor" {
///             throw HookRefusal(403, "only the editor deletes movies")
///         }
///         if request.record?["title"] == "" { throw HookRefusal(400, "a movie has a title") }
///     }
///
///     func conflict(_ conflict: HookConflict) async throws -> JSON? {
///         var merged = conflict.server
///         for (name, value) in conflict.client.members ?? [] { merged[name] = value }
///         return merged
///     }
/// }
///
/// let backend = try await Backend(configuration, hooks: ["movies": MovieHooks()])
/// ```
public protocol TableHooks: Sendable {
    /// Before the operation. It may change the record of an insert or update, narrow the records that the request sees
    /// and touches, and refuse by throwing ``HookRefusal``. Any other error is answered with 500 and not shown.
    func before(_ request: inout HookRequest) async throws

    /// After the operation, with what is stored or was read. It may change the answer. A change is committed by then;
    /// an error answers the request but takes nothing back. The server's record in a conflict that is left to the
    /// client is shown as one that was read.
    func after(_ answer: inout HookAnswer) async throws

    /// An insert of an id that exists, or an update made on another version. The record that is given back is written
    /// in place of the server's, and the request succeeds; nil leaves the conflict to the client. Asked again, up to 5
    /// times, where the server's record changes meanwhile.
    func conflict(_ conflict: HookConflict) async throws -> JSON?
}

extension TableHooks {
    /// Does nothing.
    public func before(_ request: inout HookRequest) async throws {}
    /// Does nothing.
    public func after(_ answer: inout HookAnswer) async throws {}
    /// Leaves the conflict to the client.
    public func conflict(_ conflict: HookConflict) async throws -> JSON? { nil }
}
