public import SluiceCore
public import SluiceLua

/// The chains of a deployment in calling order, with the reason for each link's place.
public struct OrderReport: ToolReport {
    /// A link of a chain.
    public struct Link: Sendable, Hashable, Encodable {
        /// Its place, from 1.
        public var place: Int
        /// The name of the plugin, or of another link.
        public var name: String
        /// Its hooks in the chain.
        public var hooks: [String]
        /// The reason for its place.
        public var why: String
        /// Whether it is called for the table and method; nil if that depends on more than these.
        public var isAsked: Bool?
        /// Whether it runs as a shadow, without effect.
        public var isShadow: Bool

        private enum CodingKeys: String, CodingKey {
            case place, name, hooks, why, isAsked = "asked", isShadow = "shadow"
        }
    }

    /// The chains with at least one plugin.
    public let chains: [(chain: HookChain, links: [Link])]
    /// Always true: without an order there is no report.
    public let isGood = true
    private let title: String

    /// Resolves the chains of a policy.
    ///
    /// - Parameters:
    ///   - table: the table of the call; nil for any.
    ///   - method: the HTTP method; nil for any.
    ///   - beside: filters in Swift in the chain of requests.
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the places contradict each other.
    public init(
        _ policy: PluginPolicy, table: String? = nil, method: String? = nil, host: String? = nil,
        beside: [Placement] = []
    ) throws(SluiceError) {
        let subjects = Self.subjects(table, method, host)
        var chains: [(HookChain, [Link])] = []
        for chain in HookChain.allCases {
            let others = chain == .http ? beside.map { Placed<PluginPlan?>(nil, placement: $0) } : []
            let ordered = try policy.order(chain, beside: others)
            if !ordered.contains(where: { $0.link != nil }) { continue }
            let links = ordered.enumerated().map { index, link in
                let plan = link.link
                return Link(
                    place: index + 1, name: link.name, hooks: plan?.hooks(in: chain).map(\.kind.rawValue) ?? [],
                    why: link.why,
                    isAsked: plan.map { Self.isAsked($0, in: chain, subjects) } ?? true,
                    isShadow: plan?.mode == .shadow)
            }
            chains.append((chain, links))
        }
        self.chains = chains
        let words = [method, table.map { "table \($0)" }, host].compactMap { $0 }.joined(separator: ", ")
        title = words.isEmpty ? "" : " for \(words)"
    }

    /// Returns all kinds of calls that have the method.
    private static func subjects(_ table: String?, _ method: String?, _ host: String?) -> [MatchSubject] {
        let method = method?.uppercased()
        let kinds: [SyncRequest.Context.Action] =
            switch method {
            case "GET", "HEAD": [.read, .lookup, .custom]
            case "POST": [.insert, .undelete, .custom]
            case "PATCH", "PUT": [.update, .custom]
            case "DELETE": [.delete, .custom]
            default: SyncRequest.Context.Action.allCases
            }
        return kinds.map { MatchSubject(table: table, method: method, kind: $0, authority: host) }
    }

    private static func isAsked(_ plan: PluginPlan, in chain: HookChain, _ subjects: [MatchSubject]) -> Bool? {
        if let table = subjects.first?.table, plan.hooks(in: chain).allSatisfy({ !$0.only.isFor(table: table) }) {
            return false
        }
        return isAsked(plan.matches(in: chain), subjects)
    }

    private static func isAsked(_ matches: [Match], _ subjects: [MatchSubject]) -> Bool? {
        if matches.contains(where: { match in subjects.contains { match.matches($0) } }) { return true }
        guard let subject = subjects.first else { return nil }
        var known: Set<MatchCondition> = [.kinds, .deployment]
        if subject.table != nil { known.insert(.tables) }
        if subject.method != nil { known.insert(.methods) }
        if subject.authority != nil { known.insert(.hosts) }
        return matches.allSatisfy { $0.conditions.isSubset(of: known) } ? false : nil
    }

    /// A block for each chain.
    public var lines: [String] {
        if chains.isEmpty { return ["no plugin runs"] }
        return chains.flatMap { chain, links in
            ["\(chain.rawValue)\(title)"]
                + links.map { link in
                    let hooks = link.hooks.isEmpty ? "" : " (\(link.hooks.joined(separator: ", ")))"
                    let asked =
                        switch link.isAsked {
                        case true?: ""
                        case false?: ", not asked"
                        case nil: ", asked where its match holds"
                        }
                    let shadow = link.isShadow ? ", in shadow" : ""
                    return "  \(link.place). \(link.name)\(hooks): \(link.why)\(asked)\(shadow)"
                }
        }
    }

    /// The report as JSON.
    public var json: JSON { JSON(members: chains.map { ($0.rawValue, JSON(printing: $1)) }) }
}
