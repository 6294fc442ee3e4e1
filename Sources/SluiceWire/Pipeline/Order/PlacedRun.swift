internal import SluiceBase

/// Placed filters in their order, as one link of a chain: those that a request is not for are passed by at the cost of
/// one look, however many they are.
package struct PlacedRun: Sendable {
    private let filters: [PlacedFilter]
    private let index: MatchIndex

    /// The filters, the outermost first.
    package init(_ filters: [PlacedFilter]) {
        self.filters = filters
        index = MatchIndex(filters.map(\.matches))
    }

    /// Sends a request through those that it is for, and then to `next`.
    package func send(_ request: Request, next: Next) async throws -> Response {
        try await send(request, after: -1, next: next)
    }

    private func send(_ request: Request, after last: Int, next: Next) async throws -> Response {
        guard let place = index.link(for: request, after: last) else { return try await next(request) }
        do {
            return try await filters[place].filter.handle(request) { try await send($0, after: place, next: next) }
        } catch let error {
            throw FilterChain.named(error, .filter, "filter \(filters[place].placement.name) failed", request.context)
        }
    }
}
