internal import HTTPTypes
internal import SluiceBase
internal import Synchronization

/// A filter with a place in the chain and a match. Requests that do not match skip it.
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
    /// The requested place.
    public let placement: Placement
    /// The matches; the filter is used for requests that one of them matches.
    public let matches: [Match]

    /// A filter for the requests of a match.
    public init(_ filter: any Filter, placement: Placement, match: Match = .all) {
        self.init(filter, placement: placement, anyOf: [match])
    }

    /// A filter for the requests of any of the matches.
    public init(_ filter: any Filter, placement: Placement, anyOf matches: [Match]) {
        self.filter = filter
        self.placement = placement
        self.matches = matches
    }

    /// Whether the filter is used for such a request.
    public func isFor(_ subject: MatchSubject) -> Bool { matches.contains { $0.matches(subject) } }

    /// Runs the filter, or skips it.
    public func handle(_ request: Request, next: Next) async throws -> Response {
        guard isFor(MatchSubject(request)) else { return try await next(request) }
        return try await filter.handle(request, next: next)
    }

    /// Checks that the matches have no conditions that are unknown before a request is sent: they would never hold.
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

/// Placed filters in their order, as one link of a chain. One lookup skips all filters that do not match a request.
package struct PlacedRun: Sendable {
    private let filters: [PlacedFilter]
    private let index: MatchIndex

    /// The filters, the outermost first.
    package init(_ filters: [PlacedFilter]) {
        self.filters = filters
        index = MatchIndex(filters.map(\.matches))
    }

    /// Sends a request through the matching filters, and then to `next`.
    package func send(_ request: Request, next: Next) async throws -> Response {
        try await send(request, after: -1, next: next)
    }

    private func send(_ request: Request, after last: Int, next: Next) async throws -> Response {
        guard let place = index.link(for: request, after: last) else { return try await next(request) }
        return try await FilterChain.pass(request, .filter, "filter \(filters[place].placement.name)") {
            try await filters[place].filter.handle(request) { try await send($0, after: place, next: next) }
        }
    }
}

/// Finds the links of a chain for a request, and remembers them by the values that the matches depend on. A deployment
/// has few tables and methods, and repeats them often.
final class MatchIndex: Sendable {
    /// The number of kinds of requests that are remembered. At the limit the memory is cleared.
    private static let maximumKinds = 512

    private struct Kind: Hashable {
        var table: String?
        var method: String?
        var action: RequestContext.Action?
        var authority: String?
    }

    private let matches: [[Match]]
    /// The matches without their samples, because there are too many records to remember.
    private let unsampled: [[Match]]
    private let isSampled: [Bool]
    private let asksTable: Bool
    private let asksMethod: Bool
    private let asksAction: Bool
    private let asksHost: Bool
    private let remembered = Mutex<[Kind: [Int]]>([:])

    /// An index over the matches of each link; one of them has to hold.
    init(_ matches: [[Match]]) {
        self.matches = matches
        unsampled = matches.map { $0.map(\.ofAllRecords) }
        isSampled = matches.map { $0.contains { $0.conditions.contains(.sample) } }
        let conditions: Set<MatchCondition> = matches.joined().reduce(into: []) { $0.formUnion($1.conditions) }
        asksTable = matches.joined().contains(where: \.looksAtTables)
        asksMethod = conditions.contains(.methods)
        asksAction = conditions.contains(.kinds)
        asksHost = conditions.contains(.hosts)
    }

    /// Returns the first link after `last` for the request.
    func link(for request: Request, after last: Int) -> Int? {
        var kind = Kind()
        if asksTable { kind.table = request.context.table }
        if asksMethod { kind.method = request.head.method.rawValue }
        if asksAction { kind.action = request.context.action }
        if asksHost { kind.authority = request.head.authority }
        for link in remembered.withLock({ $0[kind] }) ?? remember(kind, request) where link > last {
            guard isSampled[link] else { return link }
            let subject = MatchSubject(request)
            if matches[link].contains(where: { $0.matches(subject) }) { return link }
        }
        return nil
    }

    private func remember(_ kind: Kind, _ request: Request) -> [Int] {
        let subject = MatchSubject(request)
        let links = unsampled.indices.filter { unsampled[$0].contains { $0.matches(subject) } }
        remembered.withLock { kinds in
            if kinds.count >= Self.maximumKinds { kinds.removeAll() }
            kinds[kind] = links
        }
        return links
    }
}
