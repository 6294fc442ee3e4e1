public import SluiceBase
internal import SluiceWire

/// The state of a store and its queue.
public struct SyncStatus: Sendable, Hashable {
    /// The activity of the context.
    public var phase = SyncProgress.Phase.idle
    /// The number of operations that wait to be sent.
    public var pending = 0
    /// The number of operations that are being sent, or were when a process ended.
    public var inFlight = 0
    /// The number of operations that wait for a decision.
    public var parked = 0
    /// The number of operations that have failed too often, and wait for a retry or a discard.
    public var dead = 0
    /// The number of operations of other users, in any state. This context's pushes do not send them.
    public var ofOthers = 0
    /// The position of each named query, for this context's server, wire and user. Without a client it has all of
    /// them.
    public var cursors: [CursorStatus] = []

    /// The position of one named query.
    public struct CursorStatus: Sendable, Hashable, JSONPrinted {
        /// The table.
        public var table: String
        /// The query's name.
        public var name: String
        /// The server's time up to which all changes are here, as the server wrote it; empty for a query that is not
        /// followed by time.
        public var updatedAt: String
        /// The means by which the server's changes are followed.
        public var grade: PullResult.Grade
        /// The time of the last pull, by this machine's clock; nil where it was not noted.
        public var pulledAt: Timestamp?

        private enum CodingKeys: String, CodingKey { case table, name = "query", updatedAt, grade }
    }

    /// The number of operations that need someone's attention.
    public var needsAttention: Int { parked + dead }
}

extension SyncContext {
    /// Returns the activity and the counts of the store and its queue, read in one transaction.
    public func status() async throws -> SyncStatus {
        let (source, wire) = (source, client?.dialect.name)
        return try await store.read { reader in
            let queue = QueueReader(reader)
            var status = SyncStatus()
            status.pending = try queue.count(.pending)
            status.inFlight = try queue.count(.inFlight)
            status.parked = try queue.count(.parked)
            status.dead = try queue.count(.dead)
            status.ofOthers = try queue.count(notOf: options.user)
            status.phase = board.now.phase(held: status.needsAttention)
            let cursors = try reader.records(matching: TableQuery(Cursor.schema.name)).compactMap(Cursor.init(record:))
            status.cursors = cursors.compactMap { cursor in
                guard source == nil || (cursor.owner.source == source && cursor.owner.wire == wire) else {
                    return nil
                }
                return cursor.position.map {
                    .init(
                        table: cursor.owner.table, name: cursor.owner.name, updatedAt: $0.updatedAt, grade: $0.grade,
                        pulledAt: cursor.pulledAt)
                }
            }
            return status
        }
    }
}

extension SyncStatus {
    /// The phase, the counts and the cursors.
    package var json: JSON {
        phase.json.setting(counts).setting(["cursors": JSON(printing: cursors)])
    }

    /// The numbers of operations.
    package var counts: JSON {
        [
            "pending": JSON(pending), "inFlight": JSON(inFlight), "parked": JSON(parked), "dead": JSON(dead),
            "ofOthers": JSON(ofOthers),
        ]
    }
}

extension SyncProgress.Phase {
    /// The phase's name, with the time that it waits for or the number of held operations.
    package var json: JSON {
        switch self {
        case .idle: ["phase": "idle"]
        case .offline: ["phase": "offline"]
        case .pulling: ["phase": "pulling"]
        case .pushing: ["phase": "pushing"]
        case .waiting(let until): ["phase": "waiting", "until": JSON(until.description)]
        case .needsAttention(let count): ["phase": "needsAttention", "count": JSON(count)]
        }
    }
}

extension ChangeBatch {
    /// The changes, and the tables to read again as a whole: null for all of them.
    package var json: JSON {
        var reload: JSON = .null
        if case .tables(let tables) = reloads { reload = JSON(tables.sorted().map { JSON($0) }) }
        // The number counts commits of one context: it stays far below what JSON's integers hold.
        return [
            "id": JSON(Int64(clamping: id)), "changes": JSON(changes.map(\.json)), "reload": reload,
        ]
    }
}

extension StoreChange {
    /// The change, without the record's content.
    package var json: JSON {
        [
            "table": JSON(table), "record": JSON(recordID), "kind": JSON(kind.rawValue),
            "source": JSON(source.rawValue),
        ]
    }
}
