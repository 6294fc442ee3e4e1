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
