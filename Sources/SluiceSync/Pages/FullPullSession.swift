internal import SluiceBase

/// A pull without a name as a pure state machine: all rows of the query, once, and nothing remembered.
///
/// Where the query has no order of its own the pages follow the id, so that rows which come, go or change meanwhile
/// move no other row from one page to another. A server that does not sort by id is paged by `$skip`, again and again
/// until a pass finds nothing new. Ids that ascend may do so by chance, so where it is not known whether the server
/// looks at the order, it is asked at the end for the last two ids in the opposite one. A pass that shows fewer
/// different rows than it has gone past misses some, and is made again. A query with an order, `$skip` or `$top` is
/// paged by `$skip`, once.
struct FullPullSession: Sendable {
    private enum State { case idle, waiting, committing, finished }
    private enum Way { case id, passes, once }

    private static let ignoresSkip = SluiceError(
        .brokenProtocol, "the server sends the same rows again: it ignores the filter and $skip")
    /// How many passes in a row that bring nothing new are believed, of a server that shows some rows twice in a pass.
    private static let mostIdlePasses = 16

    private let pageSize: Int
    private let isNamed: Bool
    private var way: Way
    private var state = State.idle
    private var lastID: RecordID?
    private var skip: Int
    private var remaining: Int?
    /// What was taken so far; only where there may be another pass.
    private var seen = RowVersions()
    /// The order of the rows of this pass and of the one before, as hashes.
    private var (order, lastOrder): (UInt64, UInt64?) = (0, nil)
    private var idlePasses = 0
    private var foundNew = false
    private var previous: [RecordID] = []
    /// How many rows came one after the other that were all known.
    private var known = 0
    /// Whether it is known that the server looks at the order.
    private var isProven: Bool
    private var isChecking = false
    /// How many rows came by their ids.
    private var followed = 0

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
        if isChecking { return .request(PullRequest(position: .lastIDs, skip: 0, top: 2)) }
        return .request(
            PullRequest(
                position: way == .id && (isNamed || lastID != nil) ? .behindID(lastID) : .start, skip: skip,
                top: min(pageSize, remaining ?? pageSize)))
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
            let rows = page.rows.prefix(remaining ?? page.rows.count)
            skip += rows.count
            remaining = remaining.map { $0 - rows.count }
            return commit(Array(rows.indices))
        }
    }

    private mutating func takeByID(_ page: PullPage) -> PullEffect {
        if page.rows.isEmpty {
            // One row has no order.
            if isProven || followed < 2 { return finish(nil) }
            isChecking = true
            return request()
        }
        // Rows that have no id of their own stand in no order, and are left behind by counting them.
        let ids = page.rows.filter { !$0.isUnfit }.map(\.id)
        let all = page.rows.map(\.id)
        if ids.isEmpty, all == previous { return finish(Self.ignoresSkip) }
        previous = all
        guard IDOrder.isAscending((lastID.map { [$0] } ?? []) + ids) else {
            way = .passes
            (skip, previous) = (0, [])
            return takeInPasses(PullPage(rows: []), storing: page)
        }
        followed += ids.count
        if let last = ids.last {
            lastID = last
            let after = page.rows.reversed().prefix { $0.isUnfit }.count
            skip = after
        } else {
            skip += page.rows.count
        }
        return commit(Array(page.rows.indices))
    }

    /// Goes on in passes unless the rows come in the opposite order, and from the last id on that is known.
    private mutating func takeCheck(_ page: PullPage?) -> PullEffect {
        isChecking = false
        let ids = (page?.rows ?? []).filter { !$0.isUnfit }.map(\.id)
        if let first = ids.first, let last = lastID, IDOrder.isAscending(ids.reversed()),
            first == last || IDOrder.isAscending([last, first])
        {
            return finish(nil)
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
            (foundNew, skip, previous, known) = (false, 0, [], 0)
            (lastOrder, order) = (order, 0)
            return request()
        }
        let ids = page.rows.map { $0.id }
        if ids == previous { return finish(Self.ignoresSkip) }
        previous = ids
        skip += page.rows.count
        let fresh = page.rows.indices.filter { !seen.contains(page.rows[$0]) }
        for row in page.rows { seen.insert(row) }
        for id in ids { order = order &* 31 &+ FNV1a.hash(id.text.utf8) }
        foundNew = foundNew || !fresh.isEmpty
        known = fresh.isEmpty ? known + ids.count : 0
        // A pass has each row once, and some twice that were moved by others while it ran.
        if known > 2 * seen.count + 16 {
            return finish(
                SluiceError(.brokenProtocol, "the server sends the same rows again and again: its pages never end"))
        }
        return commit(fresh)
    }

    /// Whether a pass that found nothing new proves that there is nothing else. A server whose order is another one
    /// with each request shows some rows twice in a pass, and so others not at all.
    private var isWhole: Bool {
        seen.count >= skip || order == lastOrder || idlePasses >= Self.mostIdlePasses
    }
}
