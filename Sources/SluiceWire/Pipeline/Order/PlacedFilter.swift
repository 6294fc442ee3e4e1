internal import SluiceBase

/// A filter with a place in the chain and a match: it is not entered by requests that it is not for.
///
/// Give it to a client like any other filter, in any order:
///
/// ```swift
/// let trace = PlacedFilter(
///     RequestLog(), placement: Placement("trace", band: .observe), match: try Match(tables: ["todo*"]))
/// let client = SluiceClient(endpoint: endpoint, transport: transport, filters: [trace, Tenant(name: "north")])
/// ```
public struct PlacedFilter: Filter {
    /// The filter.
    public let filter: any Filter
    /// Where it wants to stand.
    public let placement: Placement
    /// What it is for: requests that one of these matches.
    public let matches: [Match]

    /// A filter for what the match names.
    public init(_ filter: any Filter, placement: Placement, match: Match = .all) {
        self.init(filter, placement: placement, anyOf: [match])
    }

    /// A filter for what one of the matches names.
    public init(_ filter: any Filter, placement: Placement, anyOf matches: [Match]) {
        self.filter = filter
        self.placement = placement
        self.matches = matches
    }

    /// Whether the filter is for such a request.
    public func isFor(_ subject: MatchSubject) -> Bool { matches.contains { $0.matches(subject) } }

    /// Enters the filter, or passes it by.
    public func handle(_ request: Request, next: Next) async throws -> Response {
        guard isFor(MatchSubject(request)) else { return try await next(request) }
        return try await filter.handle(request, next: next)
    }

    /// Checks that the matches ask for nothing that is not known before a request is sent: they would never hold.
    func check() throws(SluiceError) {
        for match in matches {
            if match.conditions.contains(.deployment) {
                throw refusal("asks for labels of the deployment, which bound(to:) has to tell it")
            }
            guard match.conditions.isDisjoint(with: [.status, .fieldsChanged]) else {
                throw refusal("asks for a status or for fields, which are not known before a request is sent")
            }
        }
    }

    private func refusal(_ reason: String) -> SluiceError {
        SluiceError(.invalidArgument, "the match of the filter \(placement.name) \(reason)")
    }
}

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
