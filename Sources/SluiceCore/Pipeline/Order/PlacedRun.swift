/// Placed filters that stand next to each other, as one link: those that a request is not for cost a look at their
/// matches and nothing more.
struct PlacedRun: Sendable {
    let filters: [PlacedFilter]
    let next: Next

    /// Sends a request through those from `first` on.
    func send(_ request: Request, from first: Int = 0) async throws -> Response {
        guard let index = firstMatch(of: request, from: first) else { return try await next(request) }
        do {
            return try await filters[index].filter.handle(request) { try await send($0, from: index + 1) }
        } catch let error {
            throw FilterChain.named(error, .filter, "filter \(filters[index].placement.name) failed", request.context)
        }
    }

    private func firstMatch(of request: Request, from first: Int) -> Int? {
        guard first < filters.count else { return nil }
        let subject = MatchSubject(request)
        return filters[first...].firstIndex { $0.isFor(subject) }
    }
}
