internal import SluiceBase

/// A named pull by change tokens as a pure state machine: each page has the token for the next.
///
/// The server reports changes in commit order, so every change after a token was committed after it, and the token is
/// saved with its page.
struct TokenPullSession: Sendable {
    private enum State { case idle, waiting, committing, finished }

    private let pageSize: Int
    private var state = State.idle
    private var token: String?
    /// Hashes of the tokens so far, since tokens may be long.
    private var visited: Set<UInt64> = []
    private var isLast = false
    /// Whether an answer came without a token: this server, or a proxy before it, does not support change tokens.
    private(set) var lostTrack = false

    /// - Parameters:
    ///   - token: the saved token, nil for a first pull.
    ///   - pageSize: the number of rows to request at once.
    package init(token: String?, pageSize: Int) {
        self.token = token
        self.pageSize = pageSize
        if let token { visited.insert(FNV1a.hash(token.utf8)) }
    }

    /// Whether a request with or for a token is in flight.
    var isAsking: Bool { state == .waiting }

    /// Handles an event and returns the next effect.
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
            // The server reports the end, so no empty answer needs to be requested. The newer token is valid longer.
            isLast = true
        } else if page.rows.isEmpty {
            guard isNew else { return finish(nil) }
            // The newer token is valid longer.
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
