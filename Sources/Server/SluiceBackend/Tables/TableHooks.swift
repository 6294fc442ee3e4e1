internal import HTTPTypes
public import SluiceCore

/// The server's own code around requests to a table.
///
/// Hooks run outside any transaction, so they may wait. Versions are checked again when the change is written, and
/// ``before(_:)`` is called again if the record has changed in the meantime. External effects therefore belong in
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
    /// Returns the hooks of one request when it begins, so that hooks can keep state from ``before(_:)`` to
    /// ``after(_:)``. They are released after the request, even if it is refused between the two.
    func forRequest() -> any TableHooks

    /// Runs before the operation. It may change the record of an insert or update, narrow the request's records, or
    /// refuse by throwing ``HookRefusal``. Any other error is answered with 500 and not shown.
    func before(_ request: inout HookRequest) async throws

    /// Runs after the operation, with the stored or read records. It may change the answer. A change is committed by
    /// then: an error becomes the answer but does not undo the change. In a conflict left to the client it gets the
    /// server's record as a read one.
    func after(_ answer: inout HookAnswer) async throws

    /// Decides about an insert of an existing id, or an update of another version. The returned record replaces the
    /// server's, and the request succeeds; for the server's own record nothing is written. Nil leaves the conflict to
    /// the client. It is called again, up to 5 times, if the server's record changes in the meantime.
    func conflict(_ conflict: HookConflict) async throws -> JSON?
}

extension TableHooks {
    /// Returns the same hooks for all requests.
    public func forRequest() -> any TableHooks { self }
    /// Does nothing.
    public func before(_ request: inout HookRequest) async throws {}
    /// Does nothing.
    public func after(_ answer: inout HookAnswer) async throws {}
    /// Leaves the conflict to the client.
    public func conflict(_ conflict: HookConflict) async throws -> JSON? { nil }
}

/// A change based on another version than the server's; see ``TableHooks/conflict(_:)``.
public struct HookConflict: Sendable {
    /// The table's name.
    public let table: String
    /// An insert or an update.
    public let operation: BackendOperation
    /// The user of the request; nil without a token.
    public let principal: Principal?
    /// The record's id.
    public let recordID: RecordID
    /// The request's record: all of it, or only an update's changes if ``replaces`` is false.
    public let client: JSON
    /// The server's record; a tombstone if its `deleted` is true.
    public let server: JSON
    /// Whether an update replaces all properties.
    public let replaces: Bool
    /// The status of the answer if the conflict is left to the client: 409 or 412.
    public let status: Int
}

/// The result of a request, before it is answered; see ``TableHooks/after(_:)``.
public struct HookAnswer: Sendable {
    /// The table's name.
    public let table: String
    /// The operation of the request.
    public let operation: BackendOperation
    /// The user of the request; nil without a token.
    public let principal: Principal?
    /// The records of the answer: one, or a list's page. Changes here affect the answer, not the store. To hide
    /// records, narrow the request's filter instead, so that pages and counts agree.
    public var records: [JSON]

    /// The first of the records, for requests about a single one. After a delete it is the record's last state.
    public var record: JSON? {
        get { records.first }
        set {
            if !records.isEmpty { records.removeFirst() }
            if let newValue { records.insert(newValue, at: 0) }
        }
    }
}

/// A request before it is executed; see ``TableHooks/before(_:)``.
public struct HookRequest: Sendable {
    /// The table's name.
    public let table: String
    /// The operation of the request.
    public let operation: BackendOperation
    /// The user of the request; nil without a token.
    public let principal: Principal?
    /// The id of the request's record; nil for a list.
    public let recordID: RecordID?
    /// The query of a list, as the client sent it.
    public internal(set) var query: TableQuery?
    /// The stored record; nil for a list, or if there is none.
    public internal(set) var stored: JSON?
    /// Whether an update replaces all properties instead of changing the named ones.
    public internal(set) var replaces = false
    /// The record of an insert or the changes of an update; nil for the other operations. Its id, the server's columns
    /// and the owner's column cannot be changed here.
    public var record: JSON?
    /// A condition that narrows the request's records, besides the table's own. Any other record seems not to exist: it
    /// is in no list, and 404 by its id.
    public var filter: QueryExpression?
}

/// A hook's refusal of a request.
public struct HookRefusal: Error, Sendable, Hashable {
    /// The answer's status: 400 to 599; anything else becomes 500.
    public var status: Int
    /// The reason shown to the client.
    public var message: String

    /// Creates a refusal.
    public init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }
}
