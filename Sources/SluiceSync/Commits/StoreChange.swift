public import SluiceBase
internal import SluiceWire

/// What became of one record of the local store in one transaction.
public struct StoreChange: Sendable, Hashable {
    /// What became of it.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It was not there before.
        case inserted
        /// It was written; its properties may be the same as before.
        case updated
        /// It is gone.
        case removed
    }

    /// The table.
    public var table: String
    /// The record's id.
    public var recordID: RecordID
    /// What became of it.
    public var kind: Kind
    /// Who changed it.
    public var source: ChangeSource

    /// A change.
    public init(table: String, recordID: RecordID, kind: Kind, source: ChangeSource) {
        self.table = table
        self.recordID = recordID
        self.kind = kind
        self.source = source
    }
}
