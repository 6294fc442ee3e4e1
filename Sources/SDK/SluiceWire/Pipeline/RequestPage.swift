internal import SluiceBase
internal import Synchronization

/// Requests that pass the chain together.
package struct RequestPage: Sendable {
    package var requests: [SyncRequest]
    /// The group of the requests, which are sent together or not at all; nil where each stands for itself.
    package let group: Group?

    /// A group of changes.
    package struct Group: Sendable, Hashable {
        package let name: String
        /// The number of its requests. A filter may have kept some of them back.
        package let count: Int

        package init(name: String, count: Int) { (self.name, self.count) = (name, count) }
    }

    package init(_ requests: [SyncRequest], group: Group? = nil) {
        self.requests = requests
        self.group = group
    }

    /// Whether all requests that belong together are there.
    package var isWhole: Bool { group.map { $0.count == requests.count } ?? true }

    /// Returns a page with some of the requests.
    func taking(_ indices: [Int]) -> RequestPage { RequestPage(indices.map { requests[$0] }, group: group) }

    /// The answers to a page, in the order of its requests.
    package typealias Answers = [Result<SyncResponse, any Error>]
    /// The rest of the chain.
    package typealias Next = @Sendable (RequestPage) async -> Answers
}

/// A filter that takes a page at once: it waits or repeats once for all of its requests.
package protocol PageFilter: RequestFilter {
    /// Passes a page on, or answers it. There is an answer for each request.
    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers
}

extension PageFilter {
    package var takesPages: Bool { true }

    /// Passes a page of one request.
    package func handle(_ request: SyncRequest, next: SluiceWire.RequestFilter.Next) async throws -> SyncResponse {
        try await withoutActuallyEscaping(next) { next in
            try await handle(RequestPage([request])) { page in
                var answers: RequestPage.Answers = []
                for request in page.requests {
                    do { answers.append(.success(try await next(request))) } catch { answers.append(.failure(error)) }
                }
                return answers
            }[0].get()
        }
    }
}

/// A transport that sends the requests of a page together.
package protocol PageTransport: Transport {
    func send(_ page: RequestPage) async -> RequestPage.Answers
}

extension PageTransport {
    /// Sends a page of one request.
    package func send(_ request: SyncRequest) async throws -> SyncResponse {
        try await send(RequestPage([request]))[0].get()
    }
}

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
