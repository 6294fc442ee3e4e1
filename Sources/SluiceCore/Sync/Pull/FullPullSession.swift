/// A pull without a name as a pure state machine: all rows of the query, once, and nothing remembered.
///
/// Where the query has no order of its own the pages follow the id, so that rows which come, go or change meanwhile
/// move no other row from one page to another. A query with an order, `$skip` or `$top` is paged by `$skip`.
package struct FullPullSession: Sendable {
    private enum State { case idle, waiting, committing, finished }

    private let pageSize: Int
    private let followsID: Bool
    private var state = State.idle
    private var lastID: String?
    private var skip: Int
    private var remaining: Int?

    package init(query: Query, pageSize: Int) {
        self.pageSize = pageSize
        followsID = query.order.isEmpty && query.skip == 0 && query.top == nil
        skip = query.skip
        remaining = query.top
    }

    /// Takes an event and says what to do next.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch (state, event) {
        case (.idle, .began), (.committing, .committed): return request()
        case (.waiting, .page(let page)): return take(page)
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
        return .request(
            PullRequest(
                position: lastID.map { .behindID($0) } ?? .start, skip: followsID ? 0 : skip,
                top: min(pageSize, remaining ?? pageSize)))
    }

    private mutating func take(_ page: PullPage) -> PullEffect {
        guard let last = page.rows.last else { return finish(nil) }
        if followsID {
            if lastID.map({ ExactText($0) == ExactText(last.id) }) ?? false {
                return finish(
                    SluiceError(.brokenProtocol, "the server sends the same rows again: it ignores the filter on id"))
            }
            lastID = last.id
        }
        let rows = page.rows.prefix(remaining ?? page.rows.count)
        skip += rows.count
        remaining = remaining.map { $0 - rows.count }
        state = .committing
        return .commit(rows: Array(rows.indices), cursor: nil)
    }
}
