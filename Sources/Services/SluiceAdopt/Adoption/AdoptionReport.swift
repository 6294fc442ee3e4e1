public import SluiceBase
public import SluiceSync

/// The facts about an old store that its file does not hold.
public struct AdoptionOptions: Sendable {
    /// The tables with the types of their columns and the spelling of names. Android's, iOS's and the JavaScript client's
    /// files tell neither booleans nor times from numbers; a column that cannot be told is refused by name.
    public var tables: [TableSchema] = []
    /// The server's names of old tables: `["TodoItems": "TodoItem"]`.
    public var names: [String: String] = [:]
    /// The old tables that are not the server's, and stay behind.
    public var leftTables: Set<String> = []
    /// The application's queries. A delta token is taken over by the query of its name and table, which has to be the
    /// one that the old application had under that name; an old token of a whole table by any query of the whole table.
    public var queries: [SyncSchedule.Pull] = []
    /// Returns the time in UTC at which a clock of the device shows a time. The Community Toolkit's stores have times
    /// without a zone.
    public var utc: (@Sendable (_ local: Timestamp) -> Timestamp)?

    /// Options; an empty set suffices for stores of the .NET and the Datasync clients.
    public init() {}
}

/// The result of an adoption, or of a dry run.
public struct AdoptionReport: Sendable, Hashable, Encodable, JSONPrinted {
    /// A table.
    public struct Table: Sendable, Hashable, Encodable {
        /// The server's name.
        public var table: String
        /// The name in the old store.
        public var oldTable: String
        /// The number of its records.
        public var records: Int
    }

    /// A waiting change.
    public struct Change: Sendable, Hashable, Encodable {
        /// The state that a change has in the new queue.
        public enum State: String, Sendable, Hashable, Encodable {
            /// It was certainly not applied; the next push sends it.
            case pending
            /// The old store cannot tell whether it was applied; the next push finds out.
            case uncertain
            /// The server refused it; it waits for a decision.
            case held
        }

        /// The place in the queue, from 1.
        public var place: Int
        /// The operation's id.
        public var id: String
        /// The action: `insert`, `update` or `delete`.
        public var kind: String
        /// The table.
        public var table: String
        /// The record.
        public var recordID: RecordID
        /// The version that it was made on; nil for an insert, and where it is not known. The next push then compares the
        /// record with the server's before it sends anything.
        public var baseVersion: String?
        /// The state.
        public var state: State
        /// The status of the server's answer, where the old store has it.
        public var status: Int?

        private enum CodingKeys: String, CodingKey {
            case place, id, kind, table, recordID = "record", baseVersion = "version", state, status
        }

        init(_ change: StoreAdoption.Change, at place: Int, versionName: PropertyName) {
            let operation = change.operation
            (self.place, id, kind) = (place, operation.id, operation.kind.rawValue)
            (table, recordID, status) = (operation.table, operation.recordID, operation.failure?.status)
            baseVersion = change.base?[versionName]?.string
            state = operation.state == .parked ? .held : operation.isUncertain ? .uncertain : .pending
        }
    }

    /// A change of the old queue that is not taken over.
    public struct LeftOut: Sendable, Hashable, Encodable {
        /// The action.
        public var kind: String
        /// The table.
        public var table: String
        /// The record.
        public var recordID: RecordID
        /// The old operation's id, in formats with ids.
        public var oldID: String?
        /// The reason.
        public var reason: String

        private enum CodingKeys: String, CodingKey {
            case kind, table, recordID = "record", oldID = "id", reason
        }
    }

    /// A delta token of the old store.
    public struct Token: Sendable, Hashable, Encodable {
        /// The table.
        public var table: String
        /// The old query's id; nil for the whole table.
        public var query: String?
        /// The old time; nil where nothing was pulled.
        public var time: Timestamp?
        /// The time from which on the next pull reads; nil where it reads afresh.
        public var startsAt: Timestamp?
        /// The reason.
        public var reason: String
    }

    /// The old store's format.
    public var format: OldStoreFormat
    /// The tables.
    public var tables: [Table] = []
    /// The changes, in the order of the queue.
    public var operations: [Change] = []
    /// The changes that are not taken over. They are in the old store alone.
    public var leftOut: [LeftOut] = []
    /// The delta tokens.
    public var tokens: [Token] = []
    /// Further facts, for people.
    public var notes: [String] = []
    /// The time at which this content was adopted before, so that nothing was changed now; nil if it was not.
    public var adoptedBefore: Timestamp?

    init(format: OldStoreFormat) { self.format = format }
}
