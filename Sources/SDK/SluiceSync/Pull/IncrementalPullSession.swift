internal import SluiceBase
internal import SluiceWire

/// A named pull by time of change as a pure state machine: it follows `updatedAt` and cannot skip a row.
///
/// Pages are requested as `updatedAt ge T`, ordered by `updatedAt`: rows with the time of the last row seen are read
/// again, and dropped by id and version. If a whole page has one time, the session pages by `$skip`, only inside that
/// group (``SameTimePages``). It repeats the group until a pass finds nothing new, so that a row moving between pages
/// is not missed.
///
/// If a server is proven to sort rows of one time by id (``TieCheck``), pages begin at (time, id) instead, which needs
/// neither. Such a page has to begin with the known row. The session returns to times alone if it does not, if the page
/// brings nothing new because stored times are finer than written ones, or if servers sort such ids in different ways
/// (``IDOrder``).
///
/// A page from the time of a row just read must show that row. If it shows no row of that time, the session looks the
/// row up, once until a page shows a known row again. If the row is unchanged, the server reads times differently than
/// it writes them, and paging by time is not possible. A row written within the last seconds proves nothing, since a copy
/// of the data that lags may not have it: the pull ends with a reconcile, and the next one starts from the beginning.
///
/// Rows without a time cannot be reached by time, so they have a pass of their own at the end of every pull. They may
/// appear at any time, and come first or last depending on the server's database.
struct IncrementalPullSession: Sendable {
    enum State { case idle, waiting, committing, finished }
    enum Keyset { case unknown, checking(TieCheck), proven, unfit }
    /// Whether the server finds rows by the times it has written.
    private enum TimeDoubt { case none, asking(RecordID, about: PullPage, isControl: Bool), dispelled }

    let pageSize: Int
    var state = State.idle
    var keyset: Keyset
    private var group = SameTimeRows()
    private var timeDoubt = TimeDoubt.none
    /// Whether a page from (time, id) on has shown the known row alone, so that the rows after it are requested.
    private var isPastKnown = false
    private var pages: SameTimePages
    private var passFoundNew = false
    /// The number of the group's rows passed again since the last new row, and the most on one page.
    private var idle = (rows: 0, page: 1)
    private let commitLag: Int64
    private var ceiling: CursorCeiling
    private var isFirstPage = true
    /// Whether this pull had to go back because the server's clock was set since the last one: see
    /// ``CursorCeiling/rewound(at:)``.
    private(set) var wentBack = false
    private var sortCheck = SortCheck()
    var isOver = false
    var position: CursorPosition?
    /// Whether paging by time is not possible, for example because the server ignores the order or the condition.
    private(set) var isUnsorted = false
    /// Whether the server returns rows of one time in another order with each request.
    private(set) var hasNoOrder = false
    /// Whether a group was read in several pages from a server that does not sort rows of one time by id. If it changes
    /// their order while others change, a row may be missing.
    private(set) var isDoubtful = false
    /// Whether all pages have sorted rows of one time by id.
    private var sortsTies = true
    /// Whether the server does not find rows by the times it has written.
    private(set) var misreadsTimes = false
    /// Whether the next pull has to start from the beginning, because it is not known whether the server misreads times.
    private(set) var startsOver = false
    /// Whether the server refuses `$skip`, so that rows of one time cannot be read page by page.
    private(set) var refusesSkip = false
    /// Whether the last request asked the server to leave rows out.
    private var asksToSkip = false
    private var repeated = RepeatedRows()
    /// The number of consecutive passes through the group with a row shown twice, and so perhaps another one missed.
    private var doubledPasses = 0
    private static let mostDoubledPasses = 3
    /// Whether this or an earlier pull has found rows without a time.
    var hasUntimed: Bool
    /// The rows without a time taken in this pull.
    var untimed = RowVersions()
    var untimedPass: NullTimePass?
    var untimedPage = PullPage(rows: [])
    /// Whether the server has failed at the question for rows without a time in this pull.
    var failedUntimed = false

    /// - Parameters:
    ///   - cursor: the saved cursor, nil for a first pull.
    ///   - pageSize: the number of rows to request at once.
    ///   - commitLag: ticks by which the saved cursor stays behind the server's clock, because a transaction may be
    ///     committed after one that began later.
    package init(cursor: CursorPosition?, pageSize: Int, commitLag: Int64) {
        self.pageSize = pageSize
        pages = SameTimePages(pageSize: pageSize)
        self.commitLag = commitLag
        ceiling = CursorCeiling(commitLag: commitLag, from: cursor?.updatedAt, clock: cursor?.clock)
        position = cursor
        hasUntimed = cursor?.hasUntimed ?? false
        keyset = cursor?.grade == .keyset ? .proven : .unknown
        if let cursor, !cursor.updatedAt.isEmpty { group = SameTimeRows(time: cursor.updatedAt, lastID: cursor.id) }
    }

    /// The method by which changes are followed, as far as known.
    package var grade: PullResult.Grade {
        if isUnsorted { return .full }
        if case .proven = keyset { return .keyset }
        return .timestamps
    }

    /// Handles an event and returns the next effect.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch (state, event) {
        case (.idle, .began): return request()
        case (.waiting, .page(let page)): return take(page)
        case (.waiting, .answer(let answer)): return takeRow(answer.rows)
        case (.committing, .committed): return untimedPass == nil ? request() : followUntimed(.committed)
        case (.waiting, .failed(let error)): return takeFailure(error)
        case (_, .failed(let error)): return finish(error)
        default: return finish(SluiceError(.brokenProtocol, "the pull got an event that does not fit its state"))
        }
    }

    /// The question that the last request put to the server.
    private enum Question { case untimed, sort, ties, row, others, skip, page }

    private var question: Question {
        if untimedPass != nil { return .untimed }
        if sortCheck.isAsking { return .sort }
        if case .checking = keyset { return .ties }
        if case .asking = timeDoubt { return .row }
        if pages.asksForOthers { return .others }
        return asksToSkip ? .skip : .page
    }

    /// Handles a failed request: a question that this server does not understand is given up.
    private mutating func takeFailure(_ error: SluiceError) -> PullEffect {
        switch question {
        case .untimed: return takeUntimed(error)
        case .others where error.mayRefuseIDs || error.status == 500: pages.goOn()
        case .sort where error.mayRefuseQuestion:
            _ = sortCheck.failed(by: nil)
            return takeEnd()
        case .ties where error.mayRefuseQuestion: keyset = .unfit
        case .row where error.mayRefuseQuestion: return takeRow([])
        case .skip where error.mayRefuseQuestion:
            refusesSkip = true
            return readAll()
        default: return finish(error)
        }
        return request()
    }

    mutating func finish(_ error: SluiceError?) -> PullEffect {
        state = .finished
        return .finish(error)
    }

    private mutating func request() -> PullEffect {
        if isOver { return finish(nil) }
        state = .waiting
        asksToSkip = false
        if case .checking(let check) = keyset { return .request(check.request) }
        if sortCheck.isAsking { return .request(sortCheck.request) }
        if case .proven = keyset, let from = group.time, let id = group.lastID {
            return asksBehind
                ? .request(PullRequest(position: .after(time: from, id: id), skip: 0, top: pageSize))
                : .request(PullRequest(position: .from(time: from, id: id), skip: 0, top: max(2, pageSize)))
        }
        switch pages.question {
        case .page(let skip):
            asksToSkip = skip > 0
            // One row of a page is already known unless the page begins the group.
            return .request(
                PullRequest(
                    position: group.time.map { .changedSince($0) } ?? .start, skip: skip,
                    top: pages.place > 0 ? max(2, pageSize) : pageSize))
        case .others:
            return .request(PullRequest(position: .others(since: group.time, than: group.ids), skip: 0, top: 1))
        }
    }

    /// Whether a page begins after the known row, because an earlier pull has read that row or it was just shown.
    private var asksBehind: Bool { group.count == 0 || isPastKnown }

    mutating func commit(_ rows: [Int]) -> PullEffect {
        state = .committing
        return .commit(rows: rows, cursor: position)
    }

    private mutating func take(_ page: PullPage) -> PullEffect {
        if isFirstPage, let clock = ceiling.rewound(at: page) { return goBack(to: clock) }
        isFirstPage = false
        if case .checking(let check) = keyset { return takeTies(page, check) }
        if sortCheck.isAsking {
            guard sortCheck.failed(by: page) else { return takeEnd() }
            return readAll()
        }
        if untimedPass != nil {
            untimedPage = page
            return followUntimed(.page(page))
        }
        if case .proven = keyset, let id = group.lastID { return takeByKey(page, after: id) }
        if case .page(skip: 0) = pages.question, let id = group.someID {
            let isShown = group.isShown(by: page)
            if case .none = timeDoubt, !isShown {
                timeDoubt = .asking(id, about: page, isControl: false)
                return .ask(PullRequest(position: .row(id), skip: 0, top: 1))
            }
            if isShown { timeDoubt = .none }
        }
        let answer = pages.judge(page)
        if pages.hasNoOrder {
            hasNoOrder = true
            return readAll(page.rows.indices.filter { !group.holds(page.rows[$0]) })
        }
        switch answer {
        case .nothing: return request()
        case .end(let isCertain):
            if isCertain { passFoundNew = false }
            if !isCertain, pages.place > group.count { return takeDoubled() }
            doubledPasses = 0
            return takeEnd()
        case .page(let page, let skip): return follow(page, skip: skip)
        case .proven(let earlier, let skip): return follow(earlier, skip: skip, isStored: true)
        case .others(let page): return takeOthers(page)
        case .unproven:
            let fresh = page.rows.indices.filter { !group.holds(page.rows[$0]) }
            if fresh.isEmpty { return request() }
            passFoundNew = passFoundNew || fresh.contains { page.rows[$0].updatedAt == group.time }
            return commit(fresh)
        }
    }

    /// Takes rows that this pass has not reached. A row of the group's time is stored at once, and the group is read
    /// again: a server without an order may show that row on none of the pass's pages.
    private mutating func takeOthers(_ page: PullPage) -> PullEffect {
        let times = page.rows.map { $0.updatedAt.flatMap { Timestamp($0) } }
        let fresh = times.indices.filter {
            times[$0] != nil && times[$0] == group.timestamp && !group.holds(page.rows[$0])
        }
        if fresh.isEmpty { return request() }
        group.add(page, times)
        passFoundNew = true
        return commit(fresh)
    }

    /// Takes the lookup of a row that was missing from a page beginning at its time. If the row comes back, an
    /// impossible id is requested next: a server that returns a row for it ignores the condition, and its first answer
    /// proves nothing.
    private mutating func takeRow(_ rows: [RowPage.Row]) -> PullEffect {
        guard case .asking(let id, let page, let isControl) = timeDoubt else {
            return finish(SluiceError(.brokenProtocol, "the pull got an event that does not fit its state"))
        }
        if isControl ? rows.isEmpty : rows.count == 1 && rows[0].id == id && rows[0].updatedAt == group.time {
            if isControl, !isFresh(on: page) {
                misreadsTimes = true
                return readAll()
            }
            if isControl {
                // A copy of the data that lags may have answered the page. The next pull decides.
                (startsOver, isDoubtful, timeDoubt) = (true, true, .dispelled)
                return take(page)
            }
            timeDoubt = .asking(id, about: page, isControl: true)
            return .ask(PullRequest(position: .row(RecordID("no-\(id)")), skip: 0, top: 1))
        }
        timeDoubt = .dispelled
        return take(page)
    }

    /// Whether the group's rows were written so short a time before the page that a copy of the data may not have them.
    private func isFresh(on page: PullPage) -> Bool {
        guard let time = group.timestamp, let now = page.serverDate ?? page.localDate else { return false }
        return ReplacedVersions.isWithinLag(time, of: now)
    }

    /// Takes a page by time and id.
    private mutating func takeByKey(_ page: PullPage, after id: RecordID) -> PullEffect {
        let isAfter = asksBehind
        if isAfter, page.rows.isEmpty { return takeEnd() }
        guard isAfter || page.rows.first?.id == id, page.isUniform(with: id) else { return giveUpKeyset() }
        if !isAfter, page.rows.count == 1, group.holds(page.rows[0]) {
            isPastKnown = true
            return request()
        }
        return follow(page, skip: 0)
    }

    private mutating func giveUpKeyset() -> PullEffect {
        keyset = .unfit
        pages = SameTimePages(pageSize: pageSize)
        return request()
    }

    /// Saves an earlier position, and continues there.
    private mutating func goBack(to clock: ServerClock) -> PullEffect {
        (isFirstPage, wentBack) = (false, true)
        let time = Timestamp(ticks: clock.row.ticks - commitLag).text(fractionDigits: 3)
        position?.updatedAt = time
        position?.id = nil
        position?.clock = clock
        group = SameTimeRows(time: time, lastID: nil)
        ceiling = CursorCeiling(commitLag: commitLag, from: time, clock: clock)
        return commit([])
    }

    /// Takes a page that follows the rows taken before.
    ///
    /// - Parameters:
    ///   - skip: the place in its group at which the page begins.
    ///   - isStored: whether its rows are already stored, and the driver holds another page.
    private mutating func follow(_ page: PullPage, skip: Int, isStored: Bool = false) -> PullEffect {
        let fresh = page.rows.indices.filter { !group.holds(page.rows[$0]) }
        let times = page.rows.map { $0.updatedAt.flatMap { Timestamp($0) } }
        if !group.isFollowedInOrder(by: times) { return readAll(isStored ? [] : fresh) }
        sortsTies = sortsTies && page.sortsTies
        sortCheck.count(fresh.count, linksOn: page.linksOn)
        repeated.take(fresh.lazy.map { page.rows[$0] })
        if repeated.isEnough {
            // Ending the pull inside a group whose pages find no known row would never get past it.
            if pages.slips > 0 {
                hasNoOrder = true
                return readAll(isStored ? [] : fresh)
            }
            isOver = true
        }
        remember(untimedOf: page)
        if case .proven = keyset, group.lastID != nil { return takeBehind(page, fresh, times) }
        let passed = max(1, page.rows.count - 1)
        idle = fresh.isEmpty ? (idle.rows + passed, max(idle.page, passed)) : (0, 1)
        advance(over: page, fresh, times, skip: skip)
        if hasNoOrder { return readAll(isStored ? [] : fresh) }
        // A page may bring one row besides the known one, and each step back passes known rows again.
        if pages.isStuck || idle.rows > group.count + (2 + 2 * pages.slips) * idle.page {
            // Without slips the server ignores `$skip`.
            hasNoOrder = pages.slips > 0
            return readAll(isStored ? [] : fresh)
        }
        if fresh.isEmpty { return request() }
        moveCursor(at: page, fresh.count)
        if case .unknown = keyset, let check = TieCheck(page, pageSize: pageSize) { keyset = .checking(check) }
        return commit(isStored ? [] : fresh)
    }

    /// Gives up paging by time: all rows of the query are read instead.
    private mutating func readAll(_ rows: [Int] = []) -> PullEffect {
        isUnsorted = true
        position = .full
        return commit(rows)
    }

    /// Ends a pass that has passed more rows than exist: an inserted row has moved the others, or the server has no
    /// order in the group.
    private mutating func takeDoubled() -> PullEffect {
        doubledPasses += 1
        hasNoOrder = doubledPasses > Self.mostDoubledPasses
        if hasNoOrder { return readAll() }
        pages.restart()
        (passFoundNew, idle) = (false, (0, 1))
        return request()
    }

    /// Takes an empty page. A short page is no end, since a server may send fewer rows at once than before.
    private mutating func takeEnd() -> PullEffect {
        if passFoundNew, pages.place > 0 {
            // Rows came while the group was read: repeat until none does.
            pages.restart()
            (passFoundNew, idle) = (false, (0, 1))
            return request()
        }
        if sortCheck.begins() { return request() }
        // Without a lower bound all rows were read, including rows without a time.
        guard group.time != nil else { return finish(nil) }
        return beginUntimed()
    }

    private mutating func takeTies(_ page: PullPage, _ check: TieCheck) -> PullEffect {
        keyset = check.isProven(by: page) ? .proven : .unfit
        // The same rows, or others of the query: new ones are stored without moving the cursor.
        let fresh = page.rows.indices.filter { !group.holds(page.rows[$0]) }
        return fresh.isEmpty ? request() : commit(fresh)
    }

    private mutating func takeBehind(_ page: PullPage, _ fresh: [Int], _ times: [Timestamp?]) -> PullEffect {
        if fresh.isEmpty {
            // Stored times are finer than written ones, or the server ignores the condition on the id.
            return giveUpKeyset()
        }
        isPastKnown = false
        group.advance(over: page, times)
        // These rows come again with the next page, and must not count as progress.
        group.add(untimedOf: page, times)
        moveCursor(at: page, fresh.count)
        return commit(fresh)
    }

    private mutating func advance(
        over page: PullPage, _ fresh: [Int], _ times: [Timestamp?], skip: Int
    ) {
        guard group.isAfter(times) else {
            passFoundNew = passFoundNew || !fresh.isEmpty
            group.add(page)
            pages.pass(page, skip: skip, known: group.count)
            return
        }
        let foundNewInGroup = passFoundNew || fresh.contains { times[$0] == group.timestamp }
        group.add(page, times)
        let isDoubled = skip + group.rowsBeforeLater(times) > group.count
        if skip > 0, foundNewInGroup || isDoubled {
            // The group was paged by `$skip`, from a server that may have no order in it: read it once more.
            pages.restart()
            if isDoubled {
                (doubledPasses, idle) = (doubledPasses + 1, (0, 1))
                hasNoOrder = doubledPasses > Self.mostDoubledPasses
            }
        } else {
            if skip > 0, !sortsTies { isDoubtful = true }
            group.advance(over: page, times)
            pages = SameTimePages(pageSize: pageSize)
            doubledPasses = 0
        }
        passFoundNew = false
    }

    /// - Parameter count: the number of new rows on the page.
    private mutating func moveCursor(at page: PullPage, _ count: Int) {
        guard let time = group.time, let timestamp = group.timestamp else { return }
        let grade = grade
        let limit = ceiling.limit((timestamp, time), at: page)
        repeated.take(count, until: timestamp, on: page, of: page.asked ?? pageSize)
        position = CursorPosition(
            grade: grade, updatedAt: limit.text, id: limit.isPast && grade == .keyset ? group.lastID : nil,
            hasUntimed: hasUntimed, clock: ceiling.clock)
    }
}
