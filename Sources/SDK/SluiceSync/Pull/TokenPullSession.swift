internal import SluiceBase

/// A named pull by change tokens as a pure state machine: each page names where the next goes on.
///
/// The server gives out changes in the order in which they were committed, so nothing comes after a token that belongs
/// before it, and the token is saved with its page.
struct TokenPullSession: Sendable {
    private enum State { case idle, waiting, committing, finished }

    private let pageSize: Int
    private var state = State.idle
    private var token: String?
    /// Hashes of the tokens so far, which may be long.
    private var visited: Set<UInt64> = []
    private var isLast = false
    /// Whether an answer came without a token: this server, or this wire's proxy, follows no changes.
    private(set) var lostTrack = false

    /// - Parameters:
    ///   - token: the saved token, nil for a first pull.
    ///   - pageSize: how many rows to ask for at once.
    package init(token: String?, pageSize: Int) {
        self.token = token
        self.pageSize = pageSize
        if let token { visited.insert(FNV1a.hash(token.utf8)) }
    }

    /// Whether a request with the token, or for one, is out.
    var isAsking: Bool { state == .waiting }

    /// Takes an event and returns what to do next.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch (state, event) {
        case (.idle, .began): return request()
        case (.waiting, .page(let page)): return take(page)
        case (.committing, .committed): return isLast ? finish(nil) : request()
        case (_, .failed(let error)): return finish(error)
        default: return finish(SluiceError(.brokenProtocol, "the pull got an event that does not fit its state"))
        }
    }

    private mutating func finish(_ error: SluiceError?) -> PullEffect {
        state = .finished
        return .finish(error)
    }

    private mutating func request() -> PullEffect {
        state = .waiting
        return .request(PullRequest(position: token.map { .token($0) } ?? .tracked, skip: 0, top: pageSize))
    }

    private mutating func take(_ page: PullPage) -> PullEffect {
        guard let next = page.token else {
            lostTrack = true
            return finish(nil)
        }
        let isNew = next != token
        if page.isLast {
            // The server says so, and an empty answer need not be asked for. The newer token lives longer.
            isLast = true
        } else if page.rows.isEmpty {
            guard isNew else { return finish(nil) }
            // The newer token lives longer.
            isLast = true
        } else if !visited.insert(FNV1a.hash(next.utf8)).inserted {
            return finish(
                SluiceError(.brokenProtocol, "the server's change token comes again: it would never end"))
        }
        token = next
        state = .committing
        return .commit(rows: Array(page.rows.indices), cursor: CursorPosition(token: next))
    }
}
