internal import HTTPTypes
internal import Synchronization

/// Which links of a chain a request is for, remembered by what the matches ask: a deployment has few tables and
/// methods, and asks of them again and again.
final class MatchIndex: Sendable {
    /// How many kinds of requests are remembered. Beyond it the memory is cleared, so that it has a bound.
    private static let maximumKinds = 512

    private struct Kind: Hashable {
        var table: String?
        var method: String?
        var action: RequestContext.Action?
        var authority: String?
    }

    private let matches: [[Match]]
    /// The same without their samples: records are too many to remember.
    private let unsampled: [[Match]]
    private let isSampled: [Bool]
    private let asksTable: Bool
    private let asksMethod: Bool
    private let asksAction: Bool
    private let asksHost: Bool
    private let remembered = Mutex<[Kind: [Int]]>([:])

    /// The matches of each link, of which one has to hold.
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

    /// The first link after `last` that the request is for.
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
