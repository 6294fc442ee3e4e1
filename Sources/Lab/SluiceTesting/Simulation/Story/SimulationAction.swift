internal import SluiceCore

/// One action of a device, its user or another client in a story.
public struct SimulationAction: Sendable, Hashable {
    /// The kind of an action.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The application inserts, updates, deletes or undeletes a record.
        case insert, update, delete, undelete
        /// The application changes two or three records in one group.
        case group
        /// The application reads and changes two or three records in one local transaction, as typed values.
        case transaction
        /// The application edits or inserts a record, deletes it, and takes the deletion back.
        case reconsider
        /// The record moves to another group, and so out of queries and into others.
        case move
        /// The device pushes.
        case push
        /// The device pulls one of its named queries.
        case pull
        /// The device pulls without a name.
        case pullAll
        /// The device compares the rows of its named queries with the server.
        case reconcile
        /// Another user begins to work on the device, after all data of the one before was removed.
        case switchUser
        /// The application purges a table here, pending operations included.
        case purge
        /// An operation is discarded, or all held operations are retried.
        case discard, retry
        /// All operations of a record are undone.
        case undo
        /// The body or the kind of an operation is changed, or its conflict is decided by an operator.
        case amend, changeKind, resolve
        /// The operations of a record move to another device's queue.
        case transfer
        /// The rows of a named query are purged here.
        case purgeNamed
        /// The named queries get other filters, for the same rows or for different ones.
        case reword
        /// Another user begins to work on the device, with all data of the one before still there.
        case handOver
        /// The process ends and another starts.
        case restart
        /// The task of a push or pull is cancelled.
        case cancel
        /// Another client updates, inserts or deletes a row on the server, or several at once.
        case serverEdit, serverDelete, serverBatch
        /// The server's operator makes a backup, or replaces all rows by the last one.
        case backup, restoreBackup
        /// The device has no network for a while.
        case offline
        /// Time passes.
        case wait
    }

    /// The kind of the action.
    public var kind: Kind
    /// The number of the device.
    public var device: Int
    /// A number that selects the record, the operation, the query or the length, depending on the kind.
    public var choice: Int
    /// The seed of all random choices until the next action.
    public var seed: UInt64
    /// The number of requests, answers and timers that are run before the next action begins.
    public var pace: Int
    /// Whether no fault happens until the next action.
    public var isCalm = false

    /// The action as JSON: an array, so that a story stays short.
    var json: JSON {
        [
            JSON(kind.rawValue), JSON(device), JSON(choice), JSON(Int64(bitPattern: seed)), JSON(pace), JSON(isCalm),
        ]
    }

    init(_ kind: Kind, device: Int, choice: Int, seed: UInt64, pace: Int) {
        self.kind = kind
        self.device = device
        self.choice = choice
        self.seed = seed
        self.pace = pace
    }

    init?(json: JSON) {
        guard let kind = json[0]?.string.flatMap(Kind.init), let device = json[1]?.int, let choice = json[2]?.int,
            let seed = json[3]?.int, let pace = json[4]?.int
        else { return nil }
        self.init(
            kind, device: Int(device), choice: Int(choice), seed: UInt64(bitPattern: seed), pace: Int(pace))
        isCalm = json[5]?.bool ?? false
    }
}
