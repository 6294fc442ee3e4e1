internal import HTTPTypes
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
    /// The hooks of one request, asked for when it begins: for those that keep something from ``before(_:)`` to
    /// ``after(_:)``. It is let go of when the request is over, also where it was refused between the two.
    func forRequest() -> any TableHooks

    /// Before the operation. It may change the record of an insert or update, narrow the records that the request sees
    /// and touches, and refuse by throwing ``HookRefusal``. Any other error is answered with 500 and not shown.
    func before(_ request: inout HookRequest) async throws

    /// After the operation, with what is stored or was read. It may change the answer. A change is committed by then;
    /// an error answers the request but takes nothing back. The server's record in a conflict that is left to the
    /// client is shown as one that was read.
    func after(_ answer: inout HookAnswer) async throws

    /// An insert of an id that exists, or an update made on another version. The record that is given back is written
    /// in place of the server's, and the request succeeds; with the server's own record nothing is written. Nil leaves
    /// the conflict to the client. Asked again, up to 5 times, where the server's record changes meanwhile.
    func conflict(_ conflict: HookConflict) async throws -> JSON?
}

extension TableHooks {
    /// The same for all requests.
    public func forRequest() -> any TableHooks { self }
    /// Does nothing.
    public func before(_ request: inout HookRequest) async throws {}
    /// Does nothing.
    public func after(_ answer: inout HookAnswer) async throws {}
    /// Leaves the conflict to the client.
    public func conflict(_ conflict: HookConflict) async throws -> JSON? { nil }
}

/// A change that was made on another version than the server's; see ``TableHooks/conflict(_:)``.
public struct HookConflict: Sendable {
    /// The table's name.
    public let table: String
    /// An insert or an update.
    public let operation: BackendOperation
    /// Whom the request comes from; nil where it brings no token.
    public let principal: Principal?
    /// The record's id.
    public let recordID: RecordID
    /// What the request says of the record: all of it, or, where ``replaces`` is false, what an update changes.
    public let client: JSON
    /// The record as the server has it; a tombstone where its `deleted` is true.
    public let server: JSON
    /// Whether an update replaces all properties.
    public let replaces: Bool
    /// The status of the answer if the conflict is left to the client: 409 or 412.
    public let status: Int
}

/// What a request brought about, before it is answered; see ``TableHooks/after(_:)``.
public struct HookAnswer: Sendable {
    /// The table's name.
    public let table: String
    /// What the request did.
    public let operation: BackendOperation
    /// Whom it came from; nil where it brought no token.
    public let principal: Principal?
    /// The records of the answer: one, or a list's page. What is changed here changes the answer and not what is
    /// stored; to hide records narrow the request's filter instead, so that pages and counts know of it.
    public var records: [JSON]

    /// The first of the records: the one, where the request is about one. After a delete it is the last that was known.
    public var record: JSON? {
        get { records.first }
        set {
            if !records.isEmpty { records.removeFirst() }
            if let newValue { records.insert(newValue, at: 0) }
        }
    }
}

/// A request before it is carried out; see ``TableHooks/before(_:)``.
public struct HookRequest: Sendable {
    /// The table's name.
    public let table: String
    /// What the request does.
    public let operation: BackendOperation
    /// Whom it comes from; nil where it brings no token.
    public let principal: Principal?
    /// The id of the record it is about; nil for a list.
    public let recordID: RecordID?
    /// The query of a list, as the client sent it.
    public internal(set) var query: Query?
    /// The record as it is stored; nil for a list and where there is none.
    public internal(set) var stored: JSON?
    /// Whether an update replaces all properties instead of changing those it names.
    public internal(set) var replaces = false
    /// What an insert or update says of the record; nil for the other operations. Its id and the server's own columns
    /// cannot be changed here, nor the owner's column of a table that belongs to users.
    public var record: JSON?
    /// A condition that takes records away from the request, beside those of the table. A record that does not match is
    /// as if it were not there: not in a list, and 404 by its id.
    public var filter: QueryExpression?
}
