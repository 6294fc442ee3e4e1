public import SluiceBase

/// A deliberate change of the queue: an operation that was given up, changed or settled. The audit keeps it for good.
public struct AuditEntry: Sendable, Hashable, Identifiable {
    /// The entry's id.
    public let id: String
    /// The time of the action.
    public let at: Timestamp
    /// The action: `discard`, `undo`, `edit`, `change to …`, `purge`, `import`, `take over` or `migration`; `server
    /// wins`, `merge` and `delete` where the decision of a conflict gave something up; `deleted before it was sent`
    /// where a delete took the place of an edit; `not kept by the server: …` where the answer to a change lacks properties that
    /// it has set; `done, and no longer shown` where the server has confirmed a change and does not show the record since;
    /// `deleted by others before` where a delete follows a conflict with one that was given up;
    /// `answered by …` where a plugin made the final answer, or another of the server's answers.
    public let what: String
    /// The operation before the action.
    public let operation: TableOperation
    /// The local record before the action, if there was one.
    public let local: JSON?

    /// The action on an edit that a delete has replaced.
    package static let folded = "deleted before it was sent"
    /// The action on a confirmed change of a record that the server hides or has lost since.
    static let unseen = "done, and no longer shown"
    /// The action on a delete of a record that others had deleted, as the conflict before it has shown.
    static let settled = "deleted by others before"
    /// The action on a change of which the server has dropped properties, before their names.
    static let dropped = "not kept by the server: "

    init(record: JSON) throws(SluiceError) {
        guard let id = record["id"]?.string, let at = record["at"]?.string.flatMap({ Timestamp($0) }),
            let what = record["what"]?.string, let operation = record["operation"]
        else { throw SluiceError(.storeCorrupt, "the audit holds an entry that cannot be read") }
        self.id = id
        self.at = at
        self.what = what
        self.operation = try TableOperation(record: operation)
        local = record["local"].flatMap { $0.isNull ? nil : $0 }
    }
}
