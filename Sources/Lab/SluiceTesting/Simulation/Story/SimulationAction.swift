internal import SluiceCore

/// One thing that a device, its user or another client does in a story.
public struct SimulationAction: Sendable, Hashable {
    /// What is done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The application makes, changes, deletes or restores a record.
        case insert, update, delete, undelete
        /// The application changes two or three records in one group.
        case group
        /// The application reads and changes two or three records in one local transaction, as values of a type.
        case transaction
        /// The application edits or makes a record, deletes it, and takes the deletion back.
        case reconsider
        /// The record moves to another group, and so out of queries and into others.
        case move
        /// The device pushes.
        case push
        /// The device pulls one of its named queries.
        case pull
        /// The device pulls without a name.
        case pullAll
        /// The device compares what its named queries hold with the server.
        case reconcile
        /// Another user begins to work on the device, after everything of the one before was removed.
        case switchUser
        /// The application empties a table here, waiting changes included.
        case purge
        /// An operation is given up, or all that are held are tried again.
        case discard, retry
        /// All that waits for a record is taken back.
        case undo
        /// An operation gets another body, becomes one of another kind, or has its conflict decided from outside.
        case amend, changeKind, resolve
        /// What waits for a record goes on in another device's queue.
        case transfer
        /// A named query lets its rows go here.
        case purgeNamed
        /// What the named queries ask for is asked in other words, or becomes something else.
        case reword
        /// Another user begins to work on the device, with everything of the one before still there.
        case handOver
        /// The process ends and another begins.
        case restart
        /// The task of a push or pull is cancelled.
        case cancel
        /// Another client changes, makes or deletes a row on the server, or several at once.
        case serverEdit, serverDelete, serverBatch
        /// The server's operator makes a backup, or puts the last one in the place of what is there.
        case backup, restoreBackup
        /// The device has no network for a while.
        case offline
        /// Time passes.
        case wait
    }

    /// What is done.
    public var kind: Kind
    /// Which device does it.
    public var device: Int
    /// A number that stands for the record, the operation, the query or the length, whatever the kind needs.
    public var choice: Int
    /// From which all chance follows until the next action.
    public var luck: UInt64
    /// How many requests, answers and timers come after it before the next action begins.
    public var pace: Int
    /// Whether no fault happens until the next action.
    public var isCalm = false

    /// The action as JSON: an array, so that a story stays short.
    var json: JSON {
        [
            JSON(kind.rawValue), JSON(device), JSON(choice), JSON(Int64(bitPattern: luck)), JSON(pace), JSON(isCalm),
        ]
    }

    init(_ kind: Kind, device: Int, choice: Int, luck: UInt64, pace: Int) {
        self.kind = kind
        self.device = device
        self.choice = choice
        self.luck = luck
        self.pace = pace
    }

    init?(json: JSON) {
        guard let kind = json[0]?.string.flatMap(Kind.init), let device = json[1]?.int, let choice = json[2]?.int,
            let luck = json[3]?.int, let pace = json[4]?.int
        else { return nil }
        self.init(
            kind, device: Int(device), choice: Int(choice), luck: UInt64(bitPattern: luck), pace: Int(pace))
        isCalm = json[5]?.bool ?? false
    }
}
