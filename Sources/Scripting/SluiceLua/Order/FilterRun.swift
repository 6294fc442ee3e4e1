internal import SluiceCore

/// Filters in their order, as one link of a client's chain. An error of one names its place.
struct FilterRun: Sendable {
    private let filters: [Ordered<any Filter>]

    /// The filters, the outermost first.
    init(_ filters: [Ordered<any Filter>]) { self.filters = filters }

    /// Sends a request through the filters, and then to `next`.
    func send(_ request: Request, next: Next) async throws -> Response { try await send(request, from: 0, next) }

    private func send(_ request: Request, from index: Int, _ next: Next) async throws -> Response {
        guard filters.indices.contains(index) else { return try await next(request) }
        let filter = filters[index]
        return try await FilterChain.pass(request, .filter, "filter \(filter.name)") {
            try await filter.link.handle(request) { try await send($0, from: index + 1, next) }
        }
    }
}
