public import SluiceCore

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

    init(_ session: TableSession, _ id: RecordID, client: JSON, server: JSON, replaces: Bool) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        recordID = id
        self.client = client
        self.server = server
        self.replaces = replaces
    }
}
