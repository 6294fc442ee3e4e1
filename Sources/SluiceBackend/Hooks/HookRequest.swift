public import SluiceCore

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

    init(_ session: TableSession, id: RecordID?) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        recordID = id
    }
}
