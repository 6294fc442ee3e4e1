internal import SluiceBase

/// A named pull as a pure state machine: finds out by what the server's changes can be followed, and follows them.
///
/// A first pull asks for change tokens along the way. A server that issues some is followed by them; any other by the
/// time of change, and one that does not sort by that has all rows read every time. A token that the server no longer
/// knows begins the pull afresh, once.
///
/// A pull that goes on without tokens asks for one with its first page: a server that has come to issue them is
/// followed by them from then on. The token of that page is one for rows of some time on, and no other request may use
/// it; so the pull begins afresh, and brings all rows once more.
struct NamedPullSession: Sendable {
    private enum Phase: Sendable {
        case finding
        case tokens(TokenPullSession)
        case times(IncrementalPullSession)
        case full(FullPullSession)
    }

    private let query: Query
    private let pageSize: Int
    private let commitLag: Int64
    private var phase: Phase
    /// Whether the pull gave up the cursor it began with, so that the server did not report what left the query
    /// meanwhile.
    private(set) var beganAfresh = false
    /// Why the pull did more than bring what is new.
    package private(set) var reasons: [PullReason] = []
    private var asksForTokens = true
    /// Whether the first page of a pull without tokens is asked for.
    private var isFirstPage = true

    /// - Parameters:
    ///   - cursor: the saved cursor, nil for a first pull.
    ///   - query: the user's query.
    ///   - pageSize: how many rows to ask for at once.
    ///   - commitLag: ticks by which a saved time stays behind the server's clock.
    package init(cursor: CursorPosition?, query: Query, pageSize: Int, commitLag: Int64) {
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

    /// By what the server's changes are followed; nil before it is found out.
    package var grade: PullGrade? {
        switch phase {
        case .finding: nil
        case .tokens: .changeTokens
        case .times(let session): session.grade
        case .full: .full
        }
    }

    /// Whether a reconcile has to follow before all of the query is certain to be here.
    var isDoubtful: Bool { beganAfresh || reasons.contains(.clockWasSet) }

    /// Takes an event and returns what to do next.
    package mutating func handle(_ event: PullEvent) -> PullEffect {
        switch phase {
        case .finding: return find(event)
        case .tokens(var session):
            if case .failed(let error) = event, session.isAsking, Self.refusesToken(error) {
                // Where the tokens of this pull are refused too, the rest of it asks for none.
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

    /// Whether a server that issued no tokens does now.
    private mutating func issuesTokens(_ event: PullEvent) -> Bool {
        guard isFirstPage, case .page(let page) = event else { return false }
        isFirstPage = false
        return page.token != nil
    }

    /// The effect, and if it asks for the first page, for a token as well.
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

    /// Whether the answer is that the token is not, or no longer, of any use.
    private static func refusesToken(_ error: SluiceError) -> Bool {
        error.status == 410 || error.status == 400 || error.status == 501
    }
}
