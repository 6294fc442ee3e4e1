internal import SluiceBase

/// An unnamed pull as a pure state machine: it reads all rows of the query once and saves no position.
///
/// A query without an order of its own is paged by id, so that concurrent changes move no other row between pages. A
/// server that does not sort by id is paged by `$skip`, in repeated passes until one finds nothing new. Ids may ascend
/// by chance, and a server may sort and compare them in different orders, for example without regard to case. So unless
/// the order is proven, the session requests the ids up to the last one, in the opposite order: that id has to come
/// first, followed by the id read before it. This check precedes each page that begins after an id, because rows may be
/// lost there. For generated ids of one case, which all orders sort alike, it is made only at the end.
///
/// A server that repeats the rows of a page, fewer than requested, ignores `$skip`, and these may be all of its rows. The
/// pull then requests their count and, of a server that counts none, any other row. More rows cannot be read, and end
/// the pull with an error.
///
/// A pass with fewer different rows than it has passed misses some, and is repeated. A query with an order, `$skip` or
/// `$top` is paged by `$skip`, once.
struct FullPullSession: Sendable {
    private enum State { case idle, waiting, committing, finished }
    /// The question of whether the repeated rows are all of the server's.
    private enum Doubt { case count, others }
    private enum Way { case id, passes, once }

    private static let ignoresSkip = SluiceError(
        .brokenProtocol,
        "the server sends the same rows again and again: it ignores the filter and $skip, so those after them cannot be "
            + "read")
    /// The number of consecutive passes without a new row that end a pull, for a server that shows rows twice in a
    /// pass.
    private static let mostIdlePasses = 16
    /// The number of rows whose order is not repeated by chance.
    private static let fewRows = 16

    private let pageSize: Int
    private let isNamed: Bool
    private var way: Way
    private var state = State.idle
    private var lastID: RecordID?
    /// The id read before the last one.
    private var nextToLastID: RecordID?
    private var skip: Int
    private var remaining: Int?
    /// The rows taken so far; kept only where another pass may follow.
    private var seen = RowVersions()
    /// The order of the rows of this pass and of the one before, as hashes.
    private var (order, lastOrder): (UInt64, UInt64?) = (0, nil)
    private var idlePasses = 0
    /// Whether this pass uses another page size than the one before, because that showed rows twice. A server whose
    /// order changes by a rule would otherwise show the same rows again.
    private var isVaried = false
    private var foundNew = false
    private var previous: [RecordID] = []
    /// The number of consecutive pages equal to the one before.
    private var repeats = 0
    /// The number of consecutive pages with all rows of this pass, and fewer rows than requested.
    private var wholes = 0
    /// The number of consecutive known rows.
    private var known = 0
    /// Whether the server is proven to follow the requested order, and to compare ids by it.
    private var isProven: Bool
    private var isChecking = false
    /// The id up to which the order was checked.
    private var checkedID: RecordID?
    /// Whether the check is about the id before the last one, for a server that sends one row at a time.
    private var asksBefore = false
    /// The only row of the first page, where the check is about it. No row stands before it.
    private var firstID: RecordID?
    /// Whether the last page was requested with one row only.
    private var asksForOne = false
    /// The number of rows read in the order of ids.
    private var followed = 0
    /// The number of rows on the pages read in the order of ids, with those that cannot be stored.
    private var shown = 0
    /// Whether all ids so far look generated, and alike: then servers sort them alike too.
    private var hasGeneratedIDs = true
    /// The question that was sent about the repeated rows of the page before.
    private var doubt: Doubt?
    /// Whether there are no rows after the last id.
    private var isAtEnd = false

    /// - Parameters:
    ///   - sorts: whether the server follows the requested order; nil if unknown.
    ///   - isNamed: whether it is part of a named pull, where pages follow the time by default.
    package init(query: TableQuery, pageSize: Int, sorts: Bool? = nil, isNamed: Bool = false) {
        self.pageSize = pageSize
        self.isNamed = isNamed
        isProven = sorts == true
        let isWhole = query.order.isEmpty && query.skip == 0 && query.top == nil
        way = !isWhole ? .once : sorts == false ? .passes : .id
        skip = query.skip
        remaining = query.top
    }

    /// Handles an event and returns the next effect.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch (state, event) {
        case (.idle, .began), (.committing, .committed): return request()
        case (.waiting, .page(let page)) where doubt != nil: return takeDoubt(page)
        case (.waiting, .failed(let error)) where doubt != nil && (error.mayRefuseIDs || error.status == 500):
            return takeDoubt(nil)
        case (.waiting, .page(let page)): return isChecking ? takeCheck(page) : take(page)
        case (.waiting, .failed(let error)) where isChecking && error.mayRefuseQuestion: return takeCheck(nil)
        case (_, .failed(let error)): return finish(error)
        default: return finish(SluiceError(.brokenProtocol, "the pull got an event that does not fit its state"))
        }
    }

    private mutating func finish(_ error: SluiceError?) -> PullEffect {
        state = .finished
        return .finish(error)
    }

    private mutating func request() -> PullEffect {
        if remaining == 0 { return finish(nil) }
        state = .waiting
        switch doubt {
        case .count: return .request(PullRequest(position: .counted, skip: 0, top: 1))
        case .others: return .request(PullRequest(position: .others(since: nil, than: previous), skip: 0, top: 1))
        case nil: break
        }
        if isChecking, let id = firstID ?? (asksBefore ? nextToLastID : lastID) {
            return .request(PullRequest(position: .upToID(id), skip: 0, top: 2))
        }
        let most = isVaried && pageSize > 1 ? pageSize - 1 : pageSize
        return .request(
            PullRequest(
                position: way == .id && (isNamed || lastID != nil) ? .behindID(lastID) : .start, skip: skip,
                top: min(most, remaining ?? most)))
    }

    private mutating func commit(_ rows: [Int]) -> PullEffect {
        if rows.isEmpty { return request() }
        state = .committing
        return .commit(rows: rows, cursor: nil)
    }

    private mutating func take(_ page: PullPage) -> PullEffect {
        switch way {
        case .id: return takeByID(page)
        case .passes: return takeInPasses(page)
        case .once:
            if page.rows.isEmpty { return finish(nil) }
            if let end = endOfRepeats(page) { return end }
            let rows = page.rows.prefix(remaining ?? page.rows.count)
            skip += rows.count
            remaining = remaining.map { $0 - rows.count }
            return commit(Array(rows.indices))
        }
    }

    private mutating func takeByID(_ page: PullPage) -> PullEffect {
        if page.rows.isEmpty {
            // One row has no order, but if only one was requested there may be more.
            if isProven || lastID == nil || shown < (asksForOne ? 1 : 2) || checkedID == lastID { return finish(nil) }
            isChecking = true
            isAtEnd = true
            return request()
        }
        // Rows without an id of their own have no order, and are skipped by their number.
        let ids = page.rows.filter { !$0.isUnfit }.map(\.id)
        let all = page.rows.map(\.id)
        if ids.isEmpty, let end = endOfRepeats(page) { return end }
        previous = all
        // The first page had one row, although more were requested: the step over it is checked now.
        if isUnchecked { firstID = lastID }
        let known = lastID.map { [$0] } ?? []
        if hasGeneratedIDs, !IDOrder.isUniform(known + ids) || !ids.prefix(1).allSatisfy(IDOrder.isGenerated) {
            hasGeneratedIDs = false
            // The steps so far were taken for safe, so all rows are read again.
            if !isProven, lastID != nil { return restart(storing: page) }
        }
        guard IDOrder.isAscending(known + ids) else {
            way = .passes
            (skip, previous) = (0, [])
            return takeInPasses(PullPage(rows: []), storing: page)
        }
        followed += ids.count
        shown += page.rows.count
        asksForOne = page.asked == 1
        if let last = ids.last {
            nextToLastID = ids.dropLast().last ?? lastID
            lastID = last
            let after = page.rows.reversed().prefix { $0.isUnfit }.count
            skip = after
        } else {
            skip += page.rows.count
        }
        isChecking = firstID != nil || isUnchecked && (shown > 1 || asksForOne)
        return commit(Array(page.rows.indices))
    }

    /// Whether the step from the last id to the next page is not proven to lose no row.
    private var isUnchecked: Bool { !isProven && !hasGeneratedIDs && lastID != nil && lastID != checkedID }

    /// Stores a page, and begins with the first row again.
    private mutating func restart(storing page: PullPage) -> PullEffect {
        (lastID, nextToLastID, checkedID, firstID, previous) = (nil, nil, nil, nil, [])
        (followed, shown, skip) = (0, 0, 0)
        return commit(Array(page.rows.indices))
    }

    /// Takes the answer to a check of the order. It continues in passes unless the rows come in the opposite order from
    /// the last known id. For a server that sends one row at a time, the id before it is checked too.
    private mutating func takeCheck(_ page: PullPage?) -> PullEffect {
        let ids = (page?.rows ?? []).filter { !$0.isUnfit }.map(\.id)
        if let first = firstID, ids == [first] {
            firstID = nil
            isChecking = isUnchecked
            return request()
        }
        if firstID != nil {
            (way, skip, previous, isChecking, firstID) = (.passes, 0, [], false, nil)
            return request()
        }
        let asked = asksBefore ? nextToLastID : lastID
        // A different neighbour means a row that was not read.
        let isNextRead = ids.count < 2 || asksBefore || ids[1] == nextToLastID
        let isInOrder = asked != nil && ids.first == asked && IDOrder.isAscending(ids.reversed()) && isNextRead
        if isInOrder, ids.count == 1, nextToLastID != nil, !asksBefore {
            asksBefore = true
            return request()
        }
        (isChecking, asksBefore) = (false, false)
        if isInOrder {
            checkedID = lastID
            return isAtEnd ? finish(nil) : request()
        }
        (way, skip, previous) = (.passes, 0, [])
        return request()
    }

    /// - Parameter first: a page that disproved the order: it is stored, and the passes begin.
    private mutating func takeInPasses(_ page: PullPage, storing first: PullPage? = nil) -> PullEffect {
        if let first {
            return commit(Array(first.rows.indices))
        }
        if page.rows.isEmpty {
            if !foundNew, isWhole { return finish(nil) }
            idlePasses = foundNew ? 0 : idlePasses + 1
            isVaried = !isVaried && seen.count < skip
            (foundNew, skip, previous, known, wholes) = (false, 0, [], 0, 0)
            (lastOrder, order) = (order, 0)
            return request()
        }
        if let end = endOfRepeats(page) { return end }
        let ids = page.rows.map { $0.id }
        skip += page.rows.count
        let fresh = page.rows.indices.filter { !seen.contains(page.rows[$0]) }
        // A row that was only changed since is no reason for another pass.
        let isNew = ids.contains { !seen.contains(id: $0) }
        for row in page.rows { seen.insert(row) }
        for id in ids { order = order &* 31 &+ FNV1a.hash(id.text.utf8) }
        foundNew = foundNew || isNew
        known = isNew ? 0 : known + ids.count
        // A pass has each row once, and a row moved by other users perhaps twice.
        if known > 2 * seen.count + 16 {
            return finish(
                SluiceError(.brokenProtocol, "the server sends the same rows again and again: its pages never end"))
        }
        return commit(fresh)
    }

    /// Returns the end if a server repeats the rows of the page before, ignoring `$skip`; nil for any other page. If it
    /// sends another number of rows than requested, these are all its rows.
    private mutating func endOfRepeats(_ page: PullPage) -> PullEffect? {
        let ids = page.rows.map(\.id)
        defer { previous = ids }
        let isAll =
            skip > 0 && ids.count == seen.count && Set(ids).count == ids.count && ids.allSatisfy(seen.contains(id:))
        let isFull = ids.count == page.asked ?? pageSize
        wholes = isAll && !isFull ? wholes + 1 : 0
        repeats = ids == previous ? repeats + 1 : 0
        // A server that has shown other rows before, or links to a next page, has more.
        let mayBeAll = !isFull && followed <= ids.count && !page.linksOn
        if wholes > 0, mayBeAll { return askForMore() }
        if wholes * ids.count >= Self.fewRows { return finish(Self.ignoresSkip) }
        // The same rows in another order come from a server without a fixed order, which may also repeat a few in the
        // same order.
        let isShort = mayBeAll && (way != .passes || seen.count <= ids.count)
        guard repeats * ids.count >= (isShort ? 1 : Self.fewRows) else { return nil }
        return isShort ? askForMore() : finish(Self.ignoresSkip)
    }

    /// Asks whether the repeated rows are all. A query with an order or limits of its own ends.
    private mutating func askForMore() -> PullEffect {
        if way == .once { return finish(nil) }
        doubt = .count
        return request()
    }

    /// Takes the answer to the question for more rows; nil for a refusal.
    private mutating func takeDoubt(_ page: PullPage?) -> PullEffect {
        let isCount = doubt == .count
        if isCount, page?.total == nil, previous.count <= SameTimePages.mostOthers {
            doubt = .others
            return request()
        }
        let hasOthers = !isCount && (page?.rows ?? []).contains { !previous.contains($0.id) }
        guard hasOthers || (page?.total ?? 0) > previous.count else { return finish(nil) }
        return finish(
            SluiceError(
                .brokenProtocol,
                "the server has more rows than the \(previous.count.grouped) that it sends at once, and ignores $skip: "
                    + "the others cannot be read"))
    }

    /// Whether a pass without new rows proves that there are none. A server without a fixed order shows some rows twice
    /// in a pass, and so misses others.
    private var isWhole: Bool {
        seen.count >= skip || (order == lastOrder && skip >= Self.fewRows) || idlePasses >= Self.mostIdlePasses
    }
}
