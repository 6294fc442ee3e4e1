public import SluiceBase

/// A change that the server refused because its record is not the one the change was made on.
public struct Conflict: Sendable {
    /// The table.
    public let table: String
    /// The record's id.
    public let recordID: RecordID
    /// The operation that was refused.
    public let operation: TableOperation
    /// The record as the application has it; nil where it was deleted here.
    public let client: JSON?
    /// The record as the server has it; nil where the server has none. It may be marked as deleted: see
    /// ``isDeletedOnServer``.
    public let server: JSON?
    /// The server's record on which the local change was made; nil for an insert.
    public let base: JSON?
    /// Whether a send before this one ended without an answer, so that the change may be on the server already. A
    /// handler that adds up must not add twice.
    public let maybeApplied: Bool
    /// The status of the answer: 409 or 412, or 404 and 410 for an update of what is gone.
    public let status: Int
    /// Whether the server's record is gone or marked as deleted.
    public let isDeletedOnServer: Bool

    package init(
        operation: TableOperation, client: JSON?, server: JSON?, base: JSON?, maybeApplied: Bool, status: Int,
        isDeletedOnServer: Bool
    ) {
        table = operation.table
        recordID = operation.recordID
        self.operation = operation
        self.client = client
        self.server = server
        self.base = base
        self.maybeApplied = maybeApplied
        self.status = status
        self.isDeletedOnServer = isDeletedOnServer
    }
}
