public import SluiceBase

/// What someone gave up, changed or settled in the queue on purpose. The audit keeps it for good.
public struct AuditEntry: Sendable, Hashable, Identifiable {
    /// The entry's id.
    public let id: String
    /// When it was.
    public let at: Timestamp
    /// What was done: `discard`, `undo`, `edit`, `change to …`, `server wins`, `merge` and `delete` where the decision
    /// of a conflict gave something up, `deleted before it was sent` where a delete took the place of an edit, `purge`,
    /// `import`, `take over` or `migration`; `answered by …` where a plugin made the answer, or another
    /// of the server's, that ended the operation.
    public let what: String
    /// The operation as it was before.
    public let operation: TableOperation
    /// The local record as it was before, where there was one.
    public let local: JSON?

    /// What was done with an edit whose place a delete took.
    package static let folded = "deleted before it was sent"

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
