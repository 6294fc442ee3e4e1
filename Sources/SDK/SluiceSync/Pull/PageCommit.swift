internal import SluiceBase

/// Stores a page in one transaction: the rows, the query's membership, and the cursor after them.
///
/// A row is written if its record has no operations. For a record with operations only the mirror is updated. A row is
/// not written if its record has changed here since the page was requested; then the cursor is not written either, and
/// those rows are read again first. A row with a version known to be replaced is not written, but requested later.
struct PageCommit: Sendable {
    package let table: String
    package let page: RowPage
    package private(set) var rows: [Int]
    package var cursor: Cursor?
    /// Whether the cursor is saved with the page; else it only identifies the query that holds the rows.
    var savesCursor = true
    /// The moment at which the page was requested.
    var askedAt: ChangeStamps.Moment?
    /// The time at which the page was requested. The answer may have been on its way for longer than a replica lags.
    var requestedAt: Timestamp
    package var removals: RemovalGuard
    /// The rows as changed by hooks; nil where no hook took part.
    var revised: RevisedRows?
    /// The names of the system properties.
    var columns = PushColumns(SystemColumns())
    private var version: PropertyName { columns.version }
    /// The name of the time property, if rows older than the records here are to be requested once more: they may come
    /// from a replica that lags, and no later page corrects them.
    var time: PropertyName?
    /// The time at which the page came.
    package var now: Timestamp
    /// The endpoint of the page.
    var server = ""
    /// The references by ids.
    var references: [AssignedReference] = []
    /// The stamp of the table when the pull began, if it was empty then. Until the stamp moves, no local record can
    /// have another spelling of its id.
    var stampWhenEmpty: Int64?

    package init(
        table: String, page: RowPage, rows: [Int], cursor: Cursor?,
        removals: RemovalGuard = RemovalGuard(PullOptions(), isAllowed: false), now: Timestamp = Timestamp(ticks: 0)
    ) {
        self.table = table
        self.page = page
        self.rows = rows
        self.cursor = cursor
        self.removals = removals
        self.now = now
        requestedAt = now
    }

    /// The result of storing a page.
    package struct Outcome: Sendable, Hashable {
        package var stored = 0
        /// The number of stored rows that were already here unchanged.
        package var unchanged = 0
        package var deleted = 0
        package var pending = 0
        package var conflicts = 0
        package var quarantined = 0
        /// The number of rows dropped by hooks.
        package var dropped = 0
        /// The ids of rows not written because their records have changed since.
        package var stale: [RecordID] = []
        /// The ids of rows to request again later. The query may have lost them but they cannot be released now, or
        /// they came in a version known to be replaced, or older than the records here. See ``Cursor/toRecheck``.
        var toRecheck: [RecordID] = []
        /// The moment after the page.
        package var mark = ChangeStamps.Moment()
        /// The number of transactions.
        package var commits = 1
        /// The ids, among those requested, of rows that the server has.
        package var found: Set<RecordID> = []

        mutating func add(_ other: Outcome) {
            stored += other.stored
            unchanged += other.unchanged
            deleted += other.deleted
            pending += other.pending
            conflicts += other.conflicts
            quarantined += other.quarantined
            dropped += other.dropped
            mark = other.mark
            commits += other.commits
            found.formUnion(other.found)
            toRecheck += other.toRecheck
        }
    }

    /// Returns the commit for the given rows of the page.
    func taking(_ rows: [Int]) -> PageCommit {
        var commit = self
        commit.rows = rows
        return commit
    }

    /// Writes the page.
    ///
    /// - Throws: ``SluiceError`` of code `removalsHeld`, and of the store.
    package func write(to store: any StoreWriter) throws -> Outcome {
        var outcome = Outcome()
        let sorted = revised?.sorted ?? PageRows(page, rows)
        let ids = sorted.fit.map { page.rows[$0].id }
        let stale = try askedAt.map { try ChangeStamps.changed(ids, in: table, since: $0, store) } ?? []
        let replaced = try ReplacedVersions(of: table, on: server, at: requestedAt, in: store)
        let queue = QueueWriter(store)
        let pending = try waiting(among: ids, queue, store)
        try respell(ids.lazy.filter { !pending.contains($0) }, queue, store)
        var upserts: [Int] = []
        var left: [RecordID] = []
        var gone: [Int] = []
        var dropped: [Int] = []
        var unfit = sorted.unfit
        for index in sorted.fit {
            let row = page.rows[index]
            let isDropped = revised?.dropped.contains(index) ?? false
            if !stale.isEmpty, stale.contains(row.id) {
                outcome.stale.append(row.id)
            } else if replaced.contains(row) {
                outcome.toRecheck.append(row.id)
            } else if !pending.isEmpty, pending.contains(row.id) {
                outcome.pending += 1
                // The server has shown the record, so a pending send for an earlier record with this id can be
                // forgotten.
                try UnansweredSend.remove(row.id, in: table, from: store)
                if row.leftQuery || isDropped {
                    outcome.toRecheck.append(row.id)
                } else if !row.isDeleted, !StoreRules.isShallow(record(at: index), RecordRules.maximumDepth) {
                    let reason =
                        "it nests deeper than \(RecordRules.maximumDepth) levels, and a change of it waits here"
                    unfit.append(.init(index: index, reason: reason))
                } else if try moveMirror(index, queue) {
                    outcome.conflicts += 1
                }
            } else if isDropped {
                dropped.append(index)
            } else if row.leftQuery {
                left.append(row.id)
            } else if row.isDeleted {
                gone.append(index)
            } else {
                if try isOlder(row, store) { outcome.toRecheck.append(row.id) }
                upserts.append(index)
            }
        }
        let late = try UnansweredSend.bury(page, upserts + dropped + gone, of: table, in: store)
        if !late.isEmpty {
            upserts.removeAll { late.contains(page.rows[$0].id) }
            dropped.removeAll { late.contains(page.rows[$0].id) }
        }
        outcome.unchanged = try unchanged(upserts, store)
        let refused = try put(upserts, store)
        unfit += refused
        outcome.stored = upserts.count - refused.count
        outcome.dropped = dropped.count
        // A row that left the whole table, such as a user's view of it, is gone, whatever queries of part of it have noted.
        let isOfAll = cursor?.isOfAll ?? false
        outcome.deleted = try remove(
            left: isOfAll ? [] : left, gone: gone.map { page.rows[$0].id } + (isOfAll ? left : []),
            dropped: dropped.map { page.rows[$0].id }, store)
        try settle(upserts, except: unfit, store)
        if let cursor { try claim(sorted.fit, stale, cursor, store) }
        outcome.quarantined = unfit.count
        try quarantine(unfit, clearing: ids, store)
        outcome.mark = try ChangeStamps.notePage(of: table, store)
        if let cursor { try save(cursor, outcome, store) }
        return outcome
    }

    /// Whether the record here has another version and a later time.
    private func isOlder(_ row: RowPage.Row, _ store: any StoreReader) throws -> Bool {
        guard let time, let came = row.updatedAt.flatMap({ Timestamp($0) }),
            let here = try store.record(row.id, in: table), here[version]?.string != row.version,
            let known = here[time]?.string.flatMap({ Timestamp($0) })
        else { return false }
        return came < known
    }

    /// Returns the ids of records with operations. A record with the same GUID in another case takes the server's
    /// spelling.
    private func waiting(
        among ids: [RecordID], _ queue: QueueWriter, _ store: any StoreWriter
    ) throws -> Set<RecordID> {
        let waiting = try queue.reader.waiting(in: table, among: ids)
        for (id, here) in waiting.sorted(by: { $0.key < $1.key }) where id != here {
            try respell(here, as: id, queue, store)
        }
        return Set(waiting.keys)
    }

    /// Renames records without operations to the server's spelling, if they have the same GUID in another case.
    private func respell(_ ids: some Sequence<RecordID>, _ queue: QueueWriter, _ store: any StoreWriter) throws {
        if let stampWhenEmpty, try ChangeStamps.mark(of: table, in: store).stamp == stampWhenEmpty { return }
        for id in ids where id.text.isGUID {
            if try store.record(id, in: table) != nil { continue }
            for other in id.spellings where try other != id && store.record(other, in: table) != nil {
                try respell(other, as: id, queue, store)
            }
        }
    }

    private func respell(
        _ here: RecordID, as id: RecordID, _ queue: QueueWriter, _ store: any StoreWriter
    ) throws {
        try AssignedID(references: references, store: store, queue: queue).take(here, in: table, as: id, JSON(id))
        try Membership.rename(here, to: id, in: table, store)
    }

    /// Returns the number of rows that are already here unchanged. Rows requested again come first, so only these and
    /// one more are compared, and none in the first pull of a query.
    private func unchanged(_ upserts: [Int], _ store: any StoreWriter) throws -> Int {
        guard let cursor, try store.record(cursor.owner.id, in: Cursor.schema.name) != nil else { return 0 }
        let same = try upserts.prefix { (index: Int) throws -> Bool in
            guard let here = try store.record(page.rows[index].id, in: table) else { return false }
            return (record(at: index).members ?? []).allSatisfy { (here[$0.name] ?? .null) == $0.value }
        }
        return same.count
    }

    private func save(_ cursor: Cursor, _ outcome: Outcome, _ store: any StoreWriter) throws {
        if savesCursor, outcome.stale.isEmpty {
            var cursor = cursor
            cursor.recheckLater(outcome.toRecheck)
            try store.put(cursor.record, in: Cursor.schema.name)
            return
        }
        // A server reports rows that left since a saved position. If there is none yet and this pull breaks off, the
        // next one starts over, and rows leaving until then would not be reported.
        var saved =
            try store.record(cursor.owner.id, in: Cursor.schema.name).flatMap(Cursor.init(record:))
            ?? Cursor(owner: cursor.owner, query: cursor.query, position: nil, key: cursor.key)
        guard outcome.stored + outcome.pending > 0, saved.position == nil, !saved.needsReconcile else { return }
        saved.needsReconcile = true
        try store.put(saved.record, in: Cursor.schema.name)
    }

    /// Puts the rows, and returns the ones refused by the store.
    private func put(_ upserts: [Int], _ store: any StoreWriter) throws -> [PageRows.Unfit] {
        let page = try keepingVersions(of: upserts, store)
        func put(_ rows: [Int]) throws { try store.put(.init(page, rows), in: table) }
        do {
            try put(upserts)
            return []
        } catch let error as SluiceError where error.code == .invalidRecord {
            // One by one, to find the refused rows.
            var refused: [PageRows.Unfit] = []
            for index in upserts {
                do {
                    try put([index])
                } catch let error as SluiceError where error.code == .invalidRecord {
                    refused.append(.init(index: index, reason: error.message))
                }
            }
            return refused
        }
    }

    /// Returns the page with the locally known version in each row that came without one, and with the record's values.
    /// Lists of some servers have no versions. Other values may be older than that version, or newer.
    private func keepingVersions(of upserts: [Int], _ store: any StoreWriter) throws -> RowPage {
        let (raw, page) = (page, revised?.page ?? page)
        var revisions: [RowPage.Revision?]?
        for index in upserts where page.rows[index].version == nil {
            guard let record = try store.record(page.rows[index].id, in: table), let known = record[version],
                !known.isNull, [raw, page].contains(where: { columns.isSame($0.record(at: index), as: record) })
            else { continue }
            let held = JSON(members: [(version, known)])
            var kept = revisions ?? page.rows.indices.map(page.revision)
            switch kept[index] {
            case nil: kept[index] = .members(held)
            case .members(let members): kept[index] = .members(members.setting(held))
            case .record(let record): kept[index] = .record(record.setting(held))
            }
            revisions = kept
        }
        return revisions.map(page.revised) ?? page
    }

    /// Removes rows that are gone, and rows that left the query or were dropped if no other query holds them.
    private func remove(left: [RecordID], gone: [RecordID], dropped: [RecordID], _ store: any StoreWriter) throws -> Int
    {
        if left.isEmpty, gone.isEmpty, dropped.isEmpty { return 0 }
        let membership = try cursor.map { try Membership(of: $0, in: store) }
        try membership?.forget(gone)
        // Some servers also report rows that were never in the query.
        let lost = try left.filter { id in try cursor.map { try Membership.holds($0, id, in: store) } ?? false }
        let free = try membership?.release(lost + dropped) ?? Membership.unheld(dropped, of: table, in: store)
        // Most tombstones of a first pull belong to rows that were never here.
        var here: [RecordID] = []
        for (index, id) in (gone + free).enumerated() {
            guard let record = try store.record(id, in: table) else { continue }
            here.append(id)
            if index < gone.count, gone.count <= Self.mostNoted { try noteReplaced(record, id, store) }
        }
        try removals.check(here.count, of: table, in: store)
        try store.delete(here, from: table)
        try forgetStates(of: here, store)
        return here.count
    }

    /// Notes the version that a deletion replaces: a copy of the data that lags may still show the row to an undelete.
    private func noteReplaced(_ record: JSON, _ id: RecordID, _ store: any StoreWriter) throws {
        guard let version = record[version]?.string else { return }
        try ChangeStamps.note(id, in: table, store)
        try ReplacedVersions.note([version], of: id, in: table, on: server, at: now, store)
    }

    /// The number of deletions in a page above which none is noted: each later page reads the notes of its table.
    private static let mostNoted = 16

    /// Removes the local-only marks of the records, because the server has them.
    private func settle(_ upserts: [Int], except unfit: [PageRows.Unfit], _ store: any StoreWriter) throws {
        let refused = Set(unfit.map(\.index))
        try forgetStates(of: upserts.lazy.filter { !refused.contains($0) }.map { page.rows[$0].id }, store)
    }

    /// Deletes the states of records without operations. Such a state only marks a record that a hook kept local.
    private func forgetStates(of ids: some Collection<RecordID>, _ store: any StoreWriter) throws {
        if ids.isEmpty { return }
        let schema = RecordState.schema.name
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        // Most tables have no states or few, so the rows are not looked up one by one.
        let few = 64
        let some = TableQuery(schema, filter: ofTable, top: few + 1, select: ["id"])
        let known = try Set(store.records(matching: some).compactMap { $0["id"]?.textID })
        if known.isEmpty { return }
        let states = ids.map { RecordState.id(table, $0) }
        try store.delete(known.count > few ? states : states.filter { known.contains($0) }, from: schema)
    }

    private func claim(_ fit: [Int], _ stale: Set<RecordID>, _ cursor: Cursor, _ store: any StoreWriter) throws {
        if cursor.isOfAll { return }
        let kept = revised.map { revised in fit.filter { !revised.dropped.contains($0) } } ?? fit
        let ids = kept.lazy.map { page.rows[$0] }.filter { !$0.isDeleted && !$0.leftQuery }.map(\.id)
        try Membership(of: cursor, in: store).claim(ids.filter { stale.isEmpty || !stale.contains($0) })
    }

    private func quarantine(
        _ unfit: [PageRows.Unfit], clearing ids: [RecordID], _ store: any StoreWriter
    ) throws {
        let schema = QuarantinedRow.schema.name
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        if try store.count(matching: TableQuery(schema, filter: ofTable)) > 0 {
            try store.delete(ids.map { QuarantinedRow.id(table, $0) }, from: schema)
        }
        for row in unfit {
            try store.put(
                QuarantinedRow(
                    table: table, recordID: row.hasID(in: page) ? page.rows[row.index].id : nil,
                    distinction: page.rows[row.index].id, reason: row.reason,
                    raw: page.source(at: row.index), at: now
                ).record, in: schema)
        }
    }

    /// Returns the row to store.
    private func record(at index: Int) -> JSON { (revised?.page ?? page).record(at: index) }

    /// - Returns: whether the mirror is newer than the base of the oldest waiting change.
    private func moveMirror(_ index: Int, _ queue: QueueWriter) throws -> Bool {
        let row = page.rows[index]
        var state =
            try queue.reader.state(of: row.id, in: table)
            ?? RecordState(table: table, recordID: row.id, base: nil, mirror: nil)
        let newest = record(at: index).versioned((state.mirror ?? state.base)?[version], version)
        state.mirror = row.isDeleted ? nil : newest
        try queue.put(state, isNoted: false)
        // The base of an undelete is the tombstone itself.
        if row.isDeleted { return state.base.map { $0[version] != newest[version] } ?? false }
        return newest[version] != state.base?[version]
    }
}

extension JSON {
    /// Returns the record with the known version, if it has none of its own.
    fileprivate func versioned(_ known: JSON?, _ name: PropertyName) -> JSON {
        guard let known, !known.isNull, self[name]?.isNull ?? true else { return self }
        var record = self
        record[name] = known
        return record
    }
}
