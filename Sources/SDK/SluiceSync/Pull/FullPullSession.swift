internal import SluiceBase

/// A pull without a name as a pure state machine: all rows of the query, once, and nothing remembered.
///
/// Where the query has no order of its own the pages follow the id, so that rows which come, go or change meanwhile
/// move no other row from one page to another. A server that does not sort by id is paged by `$skip`, again and again
/// until a pass finds nothing new. Ids that ascend may do so by chance, and a server may sort them in one order and
/// compare them by another, as one that sorts without regard to case. So where that is not known it is asked for the ids
/// up to the last one, in the opposite order: that one has to come first, and next the one that was read before it. It is
/// asked before each page that begins after an id, as rows may be lost there; of ids that a generator made, which all
/// orders sort alike, at the end alone. A pass that shows fewer different rows than it has gone past misses some, and is
/// made again. A query with an order, `$skip` or `$top` is paged by `$skip`, once.
struct FullPullSession: Sendable {
    private enum State { case idle, waiting, committing, finished }
    private enum Way { case id, passes, once }

    private static let ignoresSkip = SluiceError(
        .brokenProtocol,
        "the server sends the same rows again and again: it ignores the filter and $skip, so those after them cannot be "
            + "read")
    /// The number of passes in a row without a new row that end a pull from a server that shows some rows twice in a pass.
    private static let mostIdlePasses = 16
    /// The number of rows that do not come again in the same order by chance.
    private static let fewRows = 16

    private let pageSize: Int
    private let isNamed: Bool
    private var way: Way
    private var state = State.idle
    private var lastID: RecordID?
    /// The id that was read before the last one.
    private var nextToLastID: RecordID?
    private var skip: Int
    private var remaining: Int?
    /// What was taken so far; only where there may be another pass.
    private var seen = RowVersions()
    /// The order of the rows of this pass and of the one before, as hashes.
    private var (order, lastOrder): (UInt64, UInt64?) = (0, nil)
    private var idlePasses = 0
    /// Whether this pass has pages of another size than the one before, which has shown rows twice: a server whose order
    /// changes with each request by a rule would else show the same rows once more.
    private var isVaried = false
    private var foundNew = false
    private var previous: [RecordID] = []
    /// The number of pages one after the other that were the one before them once more.
    private var repeats = 0
    /// The number of pages one after the other that had all that this pass has seen, and fewer rows than were asked for.
    private var wholes = 0
    /// The number of known rows in a row.
    private var known = 0
    /// Whether it is known that the server looks at the order, and compares ids by it.
    private var isProven: Bool
    private var isChecking = false
    /// The id up to which the order was asked for.
    private var checkedID: RecordID?
    /// Whether the question is about the id before the last one, where a server gives one row at a time.
    private var asksBefore = false
    /// Whether the last page was asked for one row alone.
    private var asksForOne = false
    /// The number of rows that came by their ids.
    private var followed = 0
    /// Whether there are no rows after the last id.
    private var isAtEnd = false

    /// - Parameters:
    ///   - sorts: whether the server sorts as it is asked to; nil if that is not known.
    ///   - isNamed: whether it is a part of a named pull, whose pages follow the time by default.
    package init(query: Query, pageSize: Int, sorts: Bool? = nil, isNamed: Bool = false) {
        self.pageSize = pageSize
        self.isNamed = isNamed
        isProven = sorts == true
        let isWhole = query.order.isEmpty && query.skip == 0 && query.top == nil
        way = !isWhole ? .once : sorts == false ? .passes : .id
        skip = query.skip
        remaining = query.top
    }

    /// Takes an event and returns what to do next.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch (state, event) {
        case (.idle, .began), (.committing, .committed): return request()
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
        if isChecking, let id = asksBefore ? nextToLastID : lastID {
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
            // One row has no order, but where one alone was asked for there may be more.
            if isProven || followed < (asksForOne ? 1 : 2) || checkedID == lastID { return finish(nil) }
            isChecking = true
            isAtEnd = true
            return request()
        }
        // Rows that have no id of their own stand in no order, and are left behind by counting them.
        let ids = page.rows.filter { !$0.isUnfit }.map(\.id)
        let all = page.rows.map(\.id)
        if ids.isEmpty, let end = endOfRepeats(page) { return end }
        previous = all
        guard IDOrder.isAscending((lastID.map { [$0] } ?? []) + ids) else {
            way = .passes
            (skip, previous) = (0, [])
            return takeInPasses(PullPage(rows: []), storing: page)
        }
        followed += ids.count
        asksForOne = page.asked == 1
        if let last = ids.last {
            nextToLastID = ids.dropLast().last ?? lastID
            lastID = last
            let after = page.rows.reversed().prefix { $0.isUnfit }.count
            skip = after
        } else {
            skip += page.rows.count
        }
        isChecking =
            !isProven && followed > 1 && lastID.map { $0 != checkedID && !IDOrder.isGenerated($0) } ?? false
        return commit(Array(page.rows.indices))
    }

    /// Goes on in passes unless the rows come in the opposite order, and from the last id on that is known. Of a server that
    /// gives one row at a time the id before it is asked about too.
    private mutating func takeCheck(_ page: PullPage?) -> PullEffect {
        let ids = (page?.rows ?? []).filter { !$0.isUnfit }.map(\.id)
        let asked = asksBefore ? nextToLastID : lastID
        // Another one next to it was not read.
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

    /// - Parameter first: a page that showed that the server sorts otherwise: it is stored, and the passes begin.
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
        // A row that has only changed since it was read is no reason for another pass.
        let isNew = ids.contains { !seen.contains(id: $0) }
        for row in page.rows { seen.insert(row) }
        for id in ids { order = order &* 31 &+ FNV1a.hash(id.text.utf8) }
        foundNew = foundNew || isNew
        known = isNew ? 0 : known + ids.count
        // A pass has each row once, and some twice that were moved by others while it ran.
        if known > 2 * seen.count + 16 {
            return finish(
                SluiceError(.brokenProtocol, "the server sends the same rows again and again: its pages never end"))
        }
        return commit(fresh)
    }

    /// The end where a server gives the rows of the page before once more, whatever it is to leave out; nil for any other
    /// page. Where it gives another number of rows than it is asked for, those are all that it has.
    private mutating func endOfRepeats(_ page: PullPage) -> PullEffect? {
        let ids = page.rows.map(\.id)
        defer { previous = ids }
        let isAll =
            skip > 0 && ids.count == seen.count && Set(ids).count == ids.count && ids.allSatisfy(seen.contains(id:))
        let isFull = ids.count == page.asked ?? pageSize
        wholes = isAll && !isFull ? wholes + 1 : 0
        repeats = ids == previous ? repeats + 1 : 0
        // A server that has shown others before has more, and so has one that links to more.
        let mayBeAll = !isFull && followed <= ids.count && !page.linksOn
        if wholes > 0, mayBeAll { return finish(nil) }
        if wholes * ids.count >= Self.fewRows { return finish(Self.ignoresSkip) }
        // The same rows in another order are those of a server whose order is another one each time, and so may be few in
        // the same order.
        let isShort = mayBeAll && (way != .passes || seen.count <= ids.count)
        guard repeats * ids.count >= (isShort ? 1 : Self.fewRows) else { return nil }
        return finish(isShort ? nil : Self.ignoresSkip)
    }

    /// Whether a pass that found nothing new proves that there is nothing else. A server whose order is another one
    /// with each request shows some rows twice in a pass, and so others not at all.
    private var isWhole: Bool {
        seen.count >= skip || (order == lastOrder && skip >= Self.fewRows) || idlePasses >= Self.mostIdlePasses
    }
}
