internal import SluiceBase

/// A named pull as a pure state machine: it detects how the server's changes can be followed, and follows them.
///
/// A first pull also requests change tokens. If the server issues them, they are followed; otherwise the time of
/// change. If the server does not sort by that, every pull reads all rows. If the server no longer knows a token, the
/// pull restarts, once.
///
/// A pull without tokens requests one with its first page: if the server has begun to issue them, they are followed
/// from then on. The token of that page is valid only for its request, which begins at some time. So the pull restarts,
/// and brings all rows again.
struct NamedPullSession: Sendable {
    private enum Phase: Sendable {
        case finding
        case tokens(TokenPullSession)
        case times(IncrementalPullSession)
        case full(FullPullSession)
    }

    private let query: TableQuery
    private let pageSize: Int
    private let commitLag: Int64
    private var phase: Phase
    /// Whether the pull gave up its initial cursor, so that the server did not report the rows that have left the
    /// query.
    private(set) var beganAfresh = false
    /// The reasons why the pull did more than fetch new rows.
    package private(set) var reasons: [PullResult.Reason] = []
    private var asksForTokens = true
    /// Whether the first page of a pull without tokens is still to come.
    private var isFirstPage = true

    /// - Parameters:
    ///   - cursor: the saved cursor, nil for a first pull.
    ///   - query: the user's query.
    ///   - pageSize: the number of rows to request at once.
    ///   - commitLag: ticks by which a saved time stays behind the server's clock.
    package init(cursor: CursorPosition?, query: TableQuery, pageSize: Int, commitLag: Int64) {
        self.query = query
        self.pageSize = pageSize
        self.commitLag = commitLag
        switch cursor?.grade {
        case nil: phase = .finding
        case .changeTokens: phase = .tokens(TokenPullSession(token: cursor?.token, pageSize: pageSize))
        case .keyset, .timestamps:
            phase = .times(IncrementalPullSession(cursor: cursor, pageSize: pageSize, commitLag: commitLag))
        case .full: phase = .full(FullPullSession(query: query, pageSize: pageSize, isNamed: true))
        }
    }

    /// The method by which the server's changes are followed; nil until it is detected.
    package var grade: PullResult.Grade? {
        switch phase {
        case .finding: nil
        case .tokens: .changeTokens
        case .times(let session): session.grade
        case .full: .full
        }
    }

    /// Whether a reconcile has to follow before the query is certainly complete.
    var isDoubtful: Bool {
        if case .times(let session) = phase, session.isDoubtful { return true }
        return beganAfresh || reasons.contains(.clockWasSet)
    }

    /// Whether the next pull has to start from the beginning.
    var startsOver: Bool { if case .times(let session) = phase { session.startsOver } else { false } }

    /// Handles an event and returns the next effect.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch phase {
        case .finding: return find(event)
        case .tokens(var session):
            if case .failed(let error) = event, session.isAsking, Self.refusesToken(error) {
                // If the tokens of this pull are refused too, the rest of it requests none.
                asksForTokens = !beganAfresh
                return beginAfresh()
            }
            let effect = session.handle(event)
            phase = .tokens(session)
            guard session.lostTrack else { return effect }
            asksForTokens = false
            return beginAfresh()
        case .times(var session):
            if session.isUnsorted, case .committed = event {
                if session.hasNoOrder { reasons.append(.noFixedOrder) }
                if session.misreadsTimes { reasons.append(.timesMisread) }
                if session.refusesSkip { reasons.append(.skipRefused) }
                var full = FullPullSession(query: query, pageSize: pageSize, isNamed: true)
                let effect = full.handle(.began)
                phase = .full(full)
                return effect
            }
            if issuesTokens(event) { return beginAfresh() }
            let effect = session.handle(event)
            phase = .times(session)
            if session.wentBack, !reasons.contains(.clockWasSet) { reasons.append(.clockWasSet) }
            return tracked(effect)
        case .full(var session):
            if issuesTokens(event) { return beginAfresh() }
            let effect = session.handle(event)
            phase = .full(session)
            return tracked(effect)
        }
    }

    /// Whether the server has begun to issue tokens.
    private mutating func issuesTokens(_ event: PullEvent) -> Bool {
        guard isFirstPage, case .page(let page) = event else { return false }
        isFirstPage = false
        return page.token != nil
    }

    /// Returns the effect; a request for the first page also requests a token.
    private func tracked(_ effect: PullEffect) -> PullEffect {
        guard isFirstPage, case .request(var request) = effect else { return effect }
        request.tracks = true
        return .request(request)
    }

    private mutating func find(_ event: PullEvent) -> PullEffect {
        switch event {
        case .began:
            return .request(PullRequest(position: asksForTokens ? .tracked : .start, skip: 0, top: pageSize))
        case .page(let page) where page.token != nil && asksForTokens:
            var session = TokenPullSession(token: nil, pageSize: pageSize)
            _ = session.handle(.began)
            let effect = session.handle(event)
            phase = .tokens(session)
            return effect
        default:
            isFirstPage = false
            var session = IncrementalPullSession(cursor: nil, pageSize: pageSize, commitLag: commitLag)
            _ = session.handle(.began)
            let effect = session.handle(event)
            phase = .times(session)
            return effect
        }
    }

    private mutating func beginAfresh() -> PullEffect {
        beganAfresh = true
        phase = .finding
        return find(.began)
    }

    /// Whether the server rejects the token as unknown or expired.
    private static func refusesToken(_ error: SluiceError) -> Bool {
        error.status == 410 || error.status == 400 || error.status == 501
    }
}
