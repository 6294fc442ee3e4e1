/// A named pull as a pure state machine: it follows `updatedAt` and cannot skip a row.
///
/// Pages are asked for as `updatedAt ge T`, never `gt`, ordered by `updatedAt`: rows that share one time with the last
/// row seen are read again, and dropped by id and version. Only where a whole page has one time does the session page
/// by `$skip`, inside that group alone, and then it repeats the group until a pass finds nothing new: a row that
/// moves while the pages are read cannot slip through. Rows without a time, which no time leads to, have a pass of their
/// own behind the others: on a first pull where they may come last, and on every pull once there are such rows.
package struct IncrementalPullSession: Sendable {
    private enum State { case idle, waiting, committing, finished }

    private let pageSize: Int
    private let commitLag: Int64
    private var state = State.idle
    /// The time from which pages are asked for, as the server wrote it; nil before any is known.
    private var from: String?
    private var fromTime: Timestamp?
    /// The rows already taken that may come again: those of the time `from`, by id, with their versions.
    private var group: [ExactText: String?] = [:]
    private var skip = 0
    private var passFoundNew = false
    private var idlePages = 0
    /// The earliest time at which the server's clock, less the lag, has held the cursor back. What came before it is not
    /// read again in this pull, so a later answer does not move it.
    private var ceiling: Timestamp?
    private var position: CursorPosition?
    /// Whether this pull has to look for rows without a time.
    private let looksForUntimed: Bool
    private var hasUntimed: Bool
    /// The rows without a time that were taken in this pull, by id, with their versions.
    private var untimed: [ExactText: String?] = [:]
    private var untimedPass: UntimedPass?

    /// - Parameters:
    ///   - cursor: the saved cursor, nil for a first pull.
    ///   - pageSize: how many rows to ask for at once.
    ///   - commitLag: ticks by which the saved cursor stays behind the server's clock, because a transaction may be
    ///     committed after one that began later.
    ///   - untimedMayComeLast: whether the server may sort rows without a time behind the others. Where they come first
    ///     a first pull, which has no lower bound, reads them before it has one.
    package init(cursor: CursorPosition?, pageSize: Int, commitLag: Int64, untimedMayComeLast: Bool = false) {
        self.pageSize = pageSize
        self.commitLag = commitLag
        position = cursor
        looksForUntimed = cursor == nil && untimedMayComeLast
        hasUntimed = cursor?.hasUntimed ?? false
        from = cursor?.updatedAt
        fromTime = from.flatMap { Timestamp($0) }
    }

    /// Takes an event and says what to do next.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch (state, event) {
        case (.idle, .began): return request()
        case (.waiting, .page(let page)): return take(page)
        case (.committing, .committed): return request()
        case (_, .failed(let error)): return finish(error)
        default: return finish(SluiceError(.brokenProtocol, "the pull was told something out of turn"))
        }
    }

    private mutating func finish(_ error: SluiceError?) -> PullEffect {
        state = .finished
        return .finish(error)
    }

    private mutating func request() -> PullEffect {
        state = .waiting
        if let untimedPass { return .request(untimedPass.request(top: pageSize)) }
        return .request(
            PullRequest(position: from.map { .changedSince($0) } ?? .start, skip: skip, top: pageSize))
    }

    private mutating func take(_ page: PullPage) -> PullEffect {
        if untimedPass != nil { return takeUntimed(page) }
        let fresh = page.rows.indices.filter { group[ExactText(page.rows[$0].id)] != .some(page.rows[$0].version) }
        // A short page is no end: a server may send fewer rows at once than it did before.
        if page.rows.isEmpty {
            if passFoundNew, skip > 0 {
                // Rows came while the group was read: once more, until nothing does.
                return beginPass()
            }
            // Without a lower bound all rows were read, those without a time too.
            guard from != nil, looksForUntimed || hasUntimed else { return finish(nil) }
            untimedPass = UntimedPass()
            return request()
        }
        remember(untimedOf: page)
        idlePages = fresh.isEmpty ? idlePages + 1 : 0
        if idlePages > 2 + group.count / max(1, page.rows.count) {
            return finish(
                SluiceError(.brokenProtocol, "the server sends the same rows again and again: it ignores $skip"))
        }
        advance(over: page, fresh)
        if fresh.isEmpty { return request() }
        moveCursor(at: page.serverDate)
        state = .committing
        return .commit(rows: fresh, cursor: position)
    }

    private mutating func takeUntimed(_ page: PullPage) -> PullEffect {
        guard !page.rows.isEmpty else { return finish(nil) }
        if let error = untimedPass?.advance(over: page) { return finish(error) }
        let fresh = page.rows.indices.filter { untimed[ExactText(page.rows[$0].id)] != .some(page.rows[$0].version) }
        remember(untimedOf: page)
        if fresh.isEmpty { return request() }
        position?.hasUntimed = hasUntimed
        state = .committing
        return .commit(rows: fresh, cursor: position)
    }

    private mutating func remember(untimedOf page: PullPage) {
        for row in page.rows where row.updatedAt == nil {
            hasUntimed = true
            untimed[ExactText(row.id)] = .some(row.version)
        }
    }

    private mutating func beginPass() -> PullEffect {
        skip = 0
        passFoundNew = false
        idlePages = 0
        return request()
    }

    private mutating func advance(over page: PullPage, _ fresh: [Int]) {
        let times = page.rows.indices.map { page.rows[$0].updatedAt.flatMap { Timestamp($0) } }
        var newest: (row: Int, time: Timestamp)?
        for (row, time) in times.enumerated() {
            guard let time else { continue }
            if newest.map({ time > $0.time }) ?? true { newest = (row, time) }
        }
        guard let newest, fromTime.map({ newest.time > $0 }) ?? true else {
            skip += page.rows.count
            passFoundNew = passFoundNew || !fresh.isEmpty
            for row in page.rows { group[ExactText(row.id)] = .some(row.version) }
            return
        }
        let foundNewInGroup = passFoundNew || fresh.contains { times[$0] == fromTime }
        if skip > 0, foundNewInGroup {
            // The group was paged by `$skip`, so a row that moved away may have hidden another: read it once more.
            skip = 0
            passFoundNew = false
            remember(page, times, at: fromTime)
        } else {
            from = page.rows[newest.row].updatedAt
            fromTime = newest.time
            skip = 0
            passFoundNew = false
            group = [:]
            remember(page, times, at: newest.time)
        }
    }

    /// Notes the rows of that time as those that may come again.
    private mutating func remember(_ page: PullPage, _ times: [Timestamp?], at time: Timestamp?) {
        for row in times.indices where times[row] == time {
            group[ExactText(page.rows[row].id)] = .some(page.rows[row].version)
        }
    }

    /// Moves the cursor to save: never later than the server's clock less the lag, when what is before it was read.
    private mutating func moveCursor(at serverDate: Timestamp?) {
        guard let from, let fromTime else { return }
        if commitLag > 0, let serverDate {
            let latest = Timestamp(ticks: serverDate.ticks - commitLag)
            if fromTime > latest { ceiling = min(ceiling ?? latest, latest) }
        }
        let text = ceiling.flatMap { $0 < fromTime ? $0.text(fractionDigits: 3) : nil }
        position = CursorPosition(updatedAt: text ?? from, hasUntimed: hasUntimed)
    }
}
