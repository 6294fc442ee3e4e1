/// A pull without a name as a pure state machine: all rows of the query, once, and nothing remembered.
///
/// Where the query has no order of its own the pages follow the id, so that rows which come, go or change meanwhile
/// move no other row from one page to another. A server that does not sort by id is paged by `$skip`, again and again
/// until a pass finds nothing new. Ids that ascend may do so by chance, so where it is not known whether the server
/// looks at the order, it is asked at the end for the last two ids in the opposite one. A query with an order, `$skip`
/// or `$top` is paged by `$skip`, once.
package struct FullPullSession: Sendable {
    private enum State { case idle, waiting, committing, finished }
    private enum Way { case id, passes, once }

    private struct StateOfRow: Hashable {
        var id: ExactText
        var version: String?
    }

    private let pageSize: Int
    private var way: Way
    private var state = State.idle
    private var lastID: String?
    private var skip: Int
    private var remaining: Int?
    /// What was taken so far; only where there may be another pass.
    private var seen: Set<StateOfRow> = []
    private var foundNew = false
    private var previous: [ExactText] = []
    /// How many rows came one after the other that were all known.
    private var known = 0
    /// Whether it is known that the server looks at the order.
    private var isProven: Bool
    private var isChecking = false
    /// How many rows came by their ids.
    private var followed = 0

    /// - Parameter sorts: whether the server sorts as it is asked to; nil if that is not known.
    package init(query: Query, pageSize: Int, sorts: Bool? = nil) {
        self.pageSize = pageSize
        isProven = sorts == true
        let isWhole = query.order.isEmpty && query.skip == 0 && query.top == nil
        way = !isWhole ? .once : sorts == false ? .passes : .id
        skip = query.skip
        remaining = query.top
    }

    /// Takes an event and says what to do next.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch (state, event) {
        case (.idle, .began), (.committing, .committed): return request()
        case (.waiting, .page(let page)): return isChecking ? takeCheck(page) : take(page)
        case (.waiting, .failed(let error)) where isChecking && error.mayRefuseQuestion: return takeCheck(nil)
        case (_, .failed(let error)): return finish(error)
        default: return finish(SluiceError(.brokenProtocol, "the pull was told something out of turn"))
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
                position: way == .id ? lastID.map { .behindID($0) } ?? .start : .start, skip: skip,
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
        guard IDOrder.isAscending((lastID.map { [$0] } ?? []) + ids) else {
            way = .passes
            skip = 0
            return takeInPasses(PullPage(rows: []), storing: page)
        }
        followed += ids.count
        if let last = ids.last {
            lastID = last
            let behind = page.rows.reversed().prefix { $0.isUnfit }.count
            skip = behind
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
            ExactText(first) == ExactText(last) || IDOrder.isAscending([last, first])
        {
            return finish(nil)
        }
        (way, skip) = (.passes, 0)
        return request()
    }

    /// - Parameter first: a page that showed that the server sorts otherwise: it is stored, and the passes begin.
    private mutating func takeInPasses(_ page: PullPage, storing first: PullPage? = nil) -> PullEffect {
        if let first {
            return commit(Array(first.rows.indices))
        }
        if page.rows.isEmpty {
            guard foundNew else { return finish(nil) }
            (foundNew, skip, previous, known) = (false, 0, [], 0)
            return request()
        }
        let ids = page.rows.map { ExactText($0.id) }
        if ids == previous {
            return finish(
                SluiceError(.brokenProtocol, "the server sends the same rows again: it ignores the filter and $skip"))
        }
        previous = ids
        skip += page.rows.count
        let states = page.rows.indices.map { StateOfRow(id: ids[$0], version: page.rows[$0].version) }
        let fresh = states.indices.filter { !seen.contains(states[$0]) }
        seen.formUnion(states)
        foundNew = foundNew || !fresh.isEmpty
        known = fresh.isEmpty ? known + states.count : 0
        // A pass has each row once, and some twice that were moved by others while it ran.
        if known > 2 * seen.count + 16 {
            return finish(
                SluiceError(.brokenProtocol, "the server sends the same rows again and again: its pages never end"))
        }
        return commit(fresh)
    }
}
