public import SluiceBase

/// A local change that is about to be stored with its operation.
public struct EnqueuedChange: Sendable, Hashable {
    /// The table.
    public var table: String
    /// The record's id.
    public var recordID: RecordID
    /// The kind of the application's change.
    public var kind: TableOperation.Kind
    /// The whole record to store, with the changes of earlier hooks. It is nil for a delete, and for an undelete of a
    /// record that is not known here.
    public var record: JSON?
    /// The record as the application sees it before the change; nil where there is none.
    public var before: JSON?
    /// The application's tags of the change.
    public var tags: Set<String>
    /// The group that the change is part of; nil for one that stands alone.
    public var group: String?
    /// The number of this attempt, from 1. The hooks are asked again where the record or its queue has changed since.
    public var attempt: Int

    package init(
        table: String, recordID: RecordID, kind: TableOperation.Kind, record: JSON?, before: JSON? = nil,
        tags: Set<String> = [], group: String? = nil, attempt: Int = 1
    ) {
        self.table = table
        self.recordID = recordID
        self.kind = kind
        self.record = record
        self.before = before
        self.tags = tags
        self.group = group
        self.attempt = attempt
    }
}
