public import SluiceCore
public import SluiceLua

/// The chains of a deployment in their order: which plugins a call passes, and why each stands where it does.
public struct OrderReport: ToolReport {
    /// A plugin in a chain.
    public struct Link: Sendable, Hashable {
        /// Its place, from 1.
        public var place: Int
        /// The plugin, or what stands beside the plugins.
        public var name: String
        /// Its hooks in the chain.
        public var hooks: [String]
        /// Why it stands there.
        public var why: String
        /// Whether it is asked about the table and method; nil where that depends on more than those.
        public var isAsked: Bool?
        /// Whether it runs without effect.
        public var isShadow: Bool
    }

    /// The chains with a plugin in them.
    public let chains: [(chain: HookChain, links: [Link])]
    /// An order was found: else there is no report.
    public let isGood = true
    private let title: String

    /// Resolves the chains of a policy.
    ///
    /// - Parameters:
    ///   - table: the table that is asked about; nil for any.
    ///   - method: the HTTP method; nil for any.
    ///   - beside: filters in Swift that stand in the chain of requests.
    /// - Throws: ``SluiceError`` of code `invalidArgument` where the places contradict each other.
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

    /// All that a call with that method may be.
    private static func subjects(_ table: String?, _ method: String?, _ host: String?) -> [MatchSubject] {
        let method = method?.uppercased()
        let kinds: [RequestContext.Action] =
            switch method {
            case "GET", "HEAD": [.read, .lookup, .custom]
            case "POST": [.insert, .undelete, .custom]
            case "PATCH", "PUT": [.update, .custom]
            case "DELETE": [.delete, .custom]
            default: RequestContext.Action.allCases
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

    /// The same for a program.
    public var json: JSON {
        JSON(
            members: chains.map { chain, links in
                (
                    chain.rawValue,
                    JSON(
                        links.map { link in
                            [
                                "place": JSON(link.place), "name": JSON(link.name),
                                "hooks": JSON(link.hooks.map { JSON($0) }), "why": JSON(link.why),
                                "asked": link.isAsked.map { JSON($0) } ?? .null, "shadow": JSON(link.isShadow),
                            ]
                        })
                )
            })
    }
}
