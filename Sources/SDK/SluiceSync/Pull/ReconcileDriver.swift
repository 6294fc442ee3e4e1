internal import SluiceBase
internal import SluiceWire

/// Compares what a query holds here with what the server has of it (``ReconcileSession``), and mends what differs.
///
/// A row that the server did not list is asked for by its id, and let go only if that misses it too and nothing has
/// touched it here since the listing began.
struct ReconcileDriver: Sendable {
    let exchange: RowExchange
    let query: Query
    private var cursor: Cursor
    private var removals: RemovalGuard
    private var mark = ChangeStamps.Moment()
    private var pending: Set<RecordID> = []
    private var result = ReconcileResult()

    init(exchange: RowExchange, query: Query, cursor: Cursor, removals: RemovalGuard) {
        self.exchange = exchange
        self.query = query
        self.cursor = cursor
        self.removals = removals
    }

    private var dialect: Dialect { exchange.client.dialect }
    private var table: String { query.table }
    private var environment: SyncEnvironment { exchange.options.environment }

    mutating func run() async throws -> ReconcileResult {
        let table = table
        (mark, pending) = try await exchange.store.read { reader in
            (try ChangeStamps.mark(of: table, in: reader), try QueueReader(reader).recordIDs(in: table))
        }
        let held = try await LocalQueryRows(of: cursor, version: dialect.columns.version, in: exchange.store)
        result.compared = held.ids.count
        // A pull in the order of keys has shown that the server sorts.
        var reader = DifferenceReader(
            exchange: exchange, query: query, sorts: cursor.position?.grade == .keyset ? true : nil)
        let difference = try await reader.difference(held, pending: pending)
        (result.pending, result.usedDigest) = (difference.pending, difference.usedDigest)
        let late = try await behindChanges(difference, held)
        // The server does not report to a pull that begins afresh which of these rows left before.
        let holdsNone = held.ids.isEmpty && difference.wanted.isEmpty && pending.isEmpty
        cursor.needsReconcile = cursor.position == nil && !holdsNone
        cursor.heldAll = false
        cursor.pulls = 0
        _ = cursor.takeRechecks()
        cursor.recheckLater(late.lost)
        // In an order that depends on the rows alone.
        try await bring((difference.wanted + late.old).sorted())
        try await letGo(difference.missing, held.versions)
        return result
    }

    /// Looks again at the rows that the query may have lost, as far as no change of theirs waits any more.
    ///
    /// - Returns: what was done; nil if there was none to look at, and then the cursor is not saved.
    mutating func settle() async throws -> ReconcileResult? {
        let (table, toRecheck, version) = (table, cursor.toRecheck, dialect.columns.version)
        let (now, waiting, here) = try await exchange.store.read { reader in
            let waiting = try QueueReader(reader).waiting(in: table, among: toRecheck)
            var here: [RecordID: String?] = [:]
            for id in toRecheck where waiting[id] == nil {
                guard let record = try reader.record(id, in: table) else { continue }
                here[id] = .some(record[version]?.string)
            }
            return (try ChangeStamps.mark(of: table, in: reader), waiting, here)
        }
        mark = now
        let free = cursor.takeRechecks(Set(waiting.keys))
        if free.isEmpty { return nil }
        let owner = cursor
        let held = try await exchange.store.read { reader in
            try free.filter { try here[$0] != nil && Membership.holds(owner, $0, in: reader) }
        }
        try await letGo(held, here)
        return result
    }

    // MARK: What differs

    /// Of the rows whose changes wait, those of which a newer copy is to be had, and those that the server has no
    /// longer though it once had. If such a change is given up, the record is as the server last had it.
    private func behindChanges(_ difference: ReconcileSession.Difference, _ held: LocalQueryRows) async throws -> (
        old: [RecordID], lost: [RecordID]
    ) {
        let (table, version, pending, cursor) = (table, dialect.columns.version, pending, cursor)
        if pending.isEmpty { return ([], []) }
        return try await exchange.store.read { reader in
            let queue = QueueReader(reader)
            var (old, lost): ([RecordID], [RecordID]) = ([], [])
            for key in pending {
                let mirror = try queue.state(of: key, in: table)?.mirror
                if let listed = difference.listed[key] {
                    if mirror == nil || mirror?[version]?.string != listed { old.append(key) }
                } else if mirror != nil {
                    // A record that a waiting delete has taken away is in no digest of what is here.
                    let isLost =
                        held.versions[key] == nil
                        ? try Membership.holds(cursor, key, in: reader) : difference.unlisted.contains(key)
                    if isLost { lost.append(key) }
                }
            }
            return (old, lost.sorted())
        }
    }

    // MARK: What is done about it

    /// A commit of rows that are asked for by their ids.
    private var commit: PageCommit {
        get throws {
            var commit = PageCommit(
                table: table, page: try RowPage(records: []), rows: [], cursor: cursor, removals: removals)
            commit.version = dialect.columns.version
            return commit
        }
    }

    private mutating func bring(_ ids: [RecordID]) async throws {
        if ids.isEmpty { return }
        let outcome = try await fetch(ids)
        result.stored += outcome.stored
        result.removed += outcome.deleted
        removals.removed += outcome.deleted
    }

    /// Fetches rows, and does not take for a change here what the fetch itself has stored.
    private mutating func fetch(_ ids: [RecordID]) async throws -> PageCommit.Outcome {
        let table = table
        let before = try await exchange.store.read { try ChangeStamps.mark(of: table, in: $0) }
        let outcome = try await exchange.fetch(ids, like: try commit, since: before)
        mark.pages += Int64(outcome.commits)
        cursor.recheckLater(outcome.toRecheck)
        return outcome
    }

    /// Lets rows go that a second read misses too, and saves the cursor.
    ///
    /// - Parameter versions: of the rows as they were when it began.
    private mutating func letGo(_ ids: [RecordID], _ versions: [RecordID: String?]) async throws {
        var gone: [RecordID] = []
        if !ids.isEmpty {
            let outcome = try await fetch(ids)
            result.stored += outcome.stored
            result.removed += outcome.deleted
            removals.removed += outcome.deleted
            gone = ids.filter { !outcome.found.contains($0) }
        }
        let (table, held, mark, removals) = (table, cursor, mark, removals)
        let (version, system) = (dialect.columns.version, dialect.pushColumns.system)
        let missing = gone
        result.removed += try await exchange.store.write(at: .membership, environment) { writer in
            var cursor = held
            let membership = try Membership(of: cursor, in: writer)
            let touched = try ChangeStamps.changed(missing, in: table, since: mark, writer)
            let waiting = try QueueReader(writer).waiting(in: table, among: missing)
            let busy = touched.union(waiting.keys)
            let free = missing.filter { !busy.contains($0) }
            cursor.recheckLater(missing.filter { busy.contains($0) })
            let same = try free.filter { id in
                guard let record = try writer.record(id, in: table) else { return false }
                // What a hook keeps here alone the server never had: it has nothing that only the server sets.
                if !system.contains(where: { record[$0] != nil }),
                    try writer.record(RecordState.id(table, id), in: RecordState.schema.name) != nil
                {
                    return false
                }
                return versions[id] == .some(record[version]?.string)
            }
            // What is not in the whole table is nowhere, whatever queries of a part of it remember.
            if cursor.isOfAll { try membership.forget(same) }
            let released = cursor.isOfAll ? same : try membership.release(same)
            try removals.check(released.count, of: table, in: writer)
            try writer.delete(released, from: table)
            if cursor.isOfAll { try membership.forgetAll() }
            try writer.put(cursor.record, in: Cursor.schema.name)
            return released.count
        }
    }
}
