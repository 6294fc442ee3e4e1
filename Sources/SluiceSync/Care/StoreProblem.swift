public import SluiceBase
internal import SluiceWire

/// An inconsistency in a store: what is wrong, and where.
public struct StoreProblem: Sendable, Hashable, CustomStringConvertible {
    /// What kind of thing.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The file is damaged.
        case damagedFile
        /// A row of the engine's own tables cannot be read.
        case unreadable
        /// An operation waits for a record that is not there, or that is there although it was deleted.
        case orphanedOperation
        /// An operation waits, and what it was made on is not kept.
        case missingBase
        /// What an operation was made on is kept, and there is no operation.
        case orphanedBase
        /// Two operations have one place in the queue, or two cursors one number.
        case doubled
        /// A row is held by a query that nobody knows.
        case orphanedMember
    }

    /// What kind of thing.
    public var kind: Kind
    /// What was found, in a sentence.
    public var message: String
    /// The table it is about.
    public var table: String?
    /// The record it is about.
    public var recordID: RecordID?
    /// The operation it is about.
    public var operationID: String?

    /// A problem.
    public init(
        _ kind: Kind, _ message: String, table: String? = nil, recordID: RecordID? = nil, operationID: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.table = table
        self.recordID = recordID
        self.operationID = operationID
    }

    /// The kind, the record and the sentence.
    public var description: String {
        let record = [table, recordID?.text].compactMap(\.self).joined(separator: "/")
        return record.isEmpty ? "\(kind.rawValue): \(message)" : "\(kind.rawValue): \(record): \(message)"
    }
}
