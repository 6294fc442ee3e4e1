internal import SluiceBase
internal import SluiceWire

/// Compares a query's local rows with the server's (``ReconcileSession``), and repairs the differences.
///
/// A row missing from the server's list is requested by its id. It is released only if that request misses it too and
/// it has not changed here since the listing began. No tombstone has proven that it is gone, so a later pull requests it
/// once more.
struct ReconcileDriver: Sendable {
    let exchange: RowExchange
    let query: TableQuery
    private var cursor: Cursor
    private var removals: RemovalGuard
    private var mark = ChangeStamps.Moment()
    private var pending: Set<RecordID> = []
    private var result = ReconcileResult()

    /// The maximum number of rows that one removal leaves to be rechecked.
    private static let mostRemembered = 10_000

    init(exchange: RowExchange, query: TableQuery, cursor: Cursor, removals: RemovalGuard) {
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
        // A copy that lags may answer the comparison as it did the page, so another one follows later.
        let now = environment.now()
        if let gap = cursor.gapAt, !ReplacedVersions.isWithinLag(gap, of: now) { cursor.gapAt = nil }
        (mark, pending) = try await exchange.store.read { reader in
            (try ChangeStamps.mark(of: table, in: reader), try QueueReader(reader).recordIDs(in: table))
        }
        let held = try await LocalQueryRows(of: cursor, version: dialect.columns.version, in: exchange.store)
        result.compared = held.ids.count
        // A pull by keyset has proven that the server sorts.
        var reader = DifferenceReader(
            exchange: exchange, query: query, sorts: cursor.position?.grade == .keyset ? true : nil)
        let difference = try await reader.difference(held, pending: pending)
        (result.pending, result.usedDigest) = (difference.pending, difference.usedDigest)
        let late = try await behindChanges(difference, held)
        // After a restart the server does not report which of these rows left before.
        let holdsNone = held.ids.isEmpty && difference.wanted.isEmpty && pending.isEmpty
        cursor.needsReconcile = cursor.position == nil && !holdsNone
        cursor.heldAll = false
        cursor.pulls = 0
        // The list has shown what became of them, unless nothing was listed at all.
        let rechecks = cursor.takeRechecks()
        if !reader.hasListed { cursor.recheckLater(rechecks) }
        cursor.recheckLater(late.lost)
        // Sorted, so that the order depends on the rows alone.
        try await bring((difference.wanted + late.old).sorted())
        // A copy that lags may have answered list and reads alike.
        cursor.recheckCompared(difference.wanted + difference.missing, at: environment.now())
        try await letGo(difference.missing, held.versions, isListed: true)
        return result
    }

    /// Rechecks the rows that the query may have lost, and those that were removed without a tombstone, unless changes
    /// of them still wait.
    ///
    /// - Parameters:
    ///   - compared: the rows that a comparison has changed, and that are requested once more now.
    ///   - isAnswered: whether this pull has brought a row. Else a server that answers with empty lists for a while would
    ///     be believed twice, so removed rows stay to be rechecked.
    /// - Returns: the result; nil if there was no row to recheck, and then the cursor is not saved.
    mutating func settle(_ compared: Set<RecordID>, isAnswered: Bool) async throws -> ReconcileResult? {
        let (table, toRecheck, version, owner) = (table, cursor.toRecheck, dialect.columns.version, cursor)
        let moment = environment.now()
        let (now, waiting, here, passed) = try await exchange.store.read { reader in
            let waiting = try QueueReader(reader).waiting(in: table, among: toRecheck)
            var here: [RecordID: String?] = [:]
            var passed: [RecordID: Bool] = [:]
            for id in toRecheck { passed[id] = try ReplacedVersions.hasPassed(id, in: table, at: moment, in: reader) }
            for id in toRecheck where try waiting[id] == nil && Membership.holds(owner, id, in: reader) {
                guard let record = try reader.record(id, in: table) else { continue }
                here[id] = .some(record[version]?.string)
            }
            return (try ChangeStamps.mark(of: table, in: reader), waiting, here, passed)
        }
        mark = now
        let free = cursor.takeRechecks(Set(waiting.keys))
        let held = free.filter { here[$0] != nil }
        // A row deleted here a moment ago is in a list that lags. If it still is later, the server has it again.
        let deleted = free.filter { here[$0] == nil && passed[$0] != nil }
        let due = deleted.filter { passed[$0] == true }
        cursor.recheckLater(deleted.filter { passed[$0] == false })
        let removed = free.filter { here[$0] == nil && passed[$0] == nil }
        let asked = isAnswered ? removed : removed.filter(compared.contains)
        let found = try await bring(due + asked)
        // A lagging replica may have shown a row that is gone, so the next pull compares once more.
        if !asked.isEmpty, result.stored > 0 { cursor.needsReconcile = true }
        if !isAnswered { cursor.recheckLater(removed.filter { !found.contains($0) }) }
        if held.isEmpty, due.isEmpty, asked.isEmpty { return nil }
        try await letGo(held, here)
        return result
    }

    // MARK: What differs

    /// Returns the rows with waiting changes that have a newer copy on the server, and those that the server has lost.
    /// They are needed if such a change is given up: the record then returns to the server's last state.
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
                    // A record removed by a waiting delete is in no local digest.
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

    /// A commit of rows requested by their ids.
    private var commit: PageCommit {
        get throws {
            var commit = PageCommit(
                table: table, page: try RowPage(records: []), rows: [], cursor: cursor, removals: removals)
            commit.columns = dialect.pushColumns
            commit.time = dialect.columns.updatedAt
            return commit
        }
    }

    /// Fetches rows, and returns the ids of those that the server has.
    @discardableResult
    private mutating func bring(_ ids: [RecordID]) async throws -> Set<RecordID> {
        if ids.isEmpty { return [] }
        return try await fetch(ids).found
    }

    /// Fetches rows and counts them, and does not count its own stores as local changes.
    private mutating func fetch(_ ids: [RecordID]) async throws -> PageCommit.Outcome {
        let table = table
        let before = try await exchange.store.read { try ChangeStamps.mark(of: table, in: $0) }
        let outcome = try await exchange.fetch(ids, like: try commit, since: before)
        result.stored += outcome.stored
        result.removed += outcome.deleted
        result.quarantined += outcome.quarantined
        removals.removed += outcome.deleted
        mark.pages += Int64(outcome.commits)
        cursor.recheckLater(outcome.toRecheck)
        return outcome
    }

    /// Releases rows that a second read misses too and that the server does not show by their ids, and saves the cursor.
    ///
    /// - Parameters:
    ///   - versions: the rows' versions when the reconcile began.
    ///   - isListed: whether a list has missed the rows. If the second read finds one, the list came from a copy that lags,
    ///     and may have missed rows that are not here: another comparison follows later.
    private mutating func letGo(
        _ ids: [RecordID], _ versions: [RecordID: String?], isListed: Bool = false
    ) async throws {
        var gone: [RecordID] = []
        if !ids.isEmpty {
            let outcome = try await fetch(ids)
            gone = ids.filter { !outcome.found.contains($0) }
            let unlisted = try await exchange.unlisted(gone)
            gone.removeAll(where: unlisted.contains)
            cursor.recheckLater(unlisted.sorted())
            if isListed, gone.count < ids.count { cursor.gapAt = environment.now() }
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
                // The server never had a record that a hook kept local, as its lack of system columns shows.
                if !system.contains(where: { record[$0] != nil }),
                    try writer.record(RecordState.id(table, id), in: RecordState.schema.name) != nil
                {
                    return false
                }
                return versions[id] == .some(record[version]?.string)
            }
            // A row missing from the whole table is gone, whatever queries of part of it have noted.
            if cursor.isOfAll { try membership.forget(same) }
            let released = cursor.isOfAll ? same : try membership.release(same)
            try removals.check(released.count, of: table, in: writer)
            try writer.delete(released, from: table)
            cursor.recheckLater(same.prefix(Self.mostRemembered))
            if cursor.isOfAll { try membership.forgetAll() }
            try writer.put(cursor.record, in: Cursor.schema.name)
            return released.count
        }
    }
}
