internal import SluiceBase
internal import Synchronization

/// The way of a page through a filter that sees one request.
///
/// The first request's `next` passes the second one to the filter, and so on. The `next` of the last passes all that
/// came so far on as one page, and each gets its answer on the way back. So the filter sees every request and answer, and
/// the page stays together. A request that the filter sends once more goes alone.
final class NestedPage: Sendable {
    private struct State {
        var begun = 0
        /// The requests that came to the filter's end, with their places.
        var came: [(place: Int, request: SyncRequest)] = []
        var isSent = false
        /// The answers that came back to the filter, by place, and those that the filter gave.
        var received: [Int: Result<SyncResponse, any Error>] = [:]
        var answers: [Int: Result<SyncResponse, any Error>] = [:]
    }

    private let page: RequestPage
    private let filter: any RequestFilter
    private let next: RequestPage.Next
    private let state = Mutex(State())

    init(_ page: RequestPage, _ filter: any RequestFilter, _ next: @escaping RequestPage.Next) {
        self.page = page
        self.filter = filter
        self.next = next
    }

    /// Passes the page, and returns the answers.
    func answers() async -> RequestPage.Answers {
        await follow()
        return page.requests.indices.map { place in
            state.withLock { $0.answers[place] } ?? .failure(CancellationError())
        }
    }

    /// Passes the requests that have not begun yet; after the last, sends the page.
    private func follow() async {
        while let place = begin() {
            let request = page.requests[place]
            let answer = await FilterChain.caught {
                try await FilterChain.pass(request, .filter, "filter \(type(of: filter))") {
                    try await filter.handle(request) { try await self.send($0, at: place) }
                }
            }
            state.withLock { $0.answers[place] = answer }
        }
    }

    private func begin() -> Int? {
        state.withLock { state in
            guard state.begun < page.requests.count else { return nil }
            state.begun += 1
            return state.begun - 1
        }
    }

    /// Sends the request with the others, or alone if the page was sent before.
    private func send(_ request: SyncRequest, at place: Int) async throws -> SyncResponse {
        let isFirst = state.withLock { state in
            if state.isSent || state.came.contains(where: { $0.place == place }) { return false }
            state.came.append((place, request))
            return true
        }
        guard isFirst else { return try await next(RequestPage([request], group: page.group))[0].get() }
        await follow()
        let came = state.withLock { state in
            defer { state.isSent = true }
            return state.isSent ? [] : state.came
        }
        if !came.isEmpty {
            let answers = await next(RequestPage(came.map(\.request), group: page.group))
            state.withLock { state in
                for (index, one) in came.enumerated() { state.received[one.place] = answers[index] }
            }
        }
        return try (state.withLock { $0.received[place] } ?? .failure(CancellationError())).get()
    }
}
