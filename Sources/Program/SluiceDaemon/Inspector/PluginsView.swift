internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

/// The serving plugins: their order, their calls and cost, and their latest decisions.
struct PluginsView: Sendable {
    private static let mostDecisions = 100

    private let session: ClientSession

    init(_ endpoint: InspectedEndpoint) { session = endpoint.session }

    /// Returns the plugins of a chain, in the order of their calls.
    func order(_ chain: HookChain) throws -> [PluginPlan] { try ordered(chain).map(\.link) }

    private func ordered(_ chain: HookChain) throws -> [Ordered<PluginPlan>] {
        let plans = session.plugins?.plans ?? []
        let links = plans.compactMap { plan in
            plan.placed(in: chain).map { Placed(plan, placement: $0.placement, specificity: $0.specificity) }
        }
        return try ChainOrder.resolve(links, known: Set(plans.map(\.name)).union(hidden.known))
    }

    /// The names of all plugins in the policy's file, disabled ones included, and the hidden fields.
    private var hidden: (known: Set<String>, fields: Set<PropertyName>) {
        guard let path = session.settings.plugins?.policy, let policy = try? PluginPolicy(file: path) else {
            return ([], [])
        }
        return (Set(policy.plans.map(\.name)), Set((policy.decisionLog?.hidden ?? []).map { PropertyName($0) }))
    }

    /// Returns the plugins' decisions since they were loaded, oldest first. Fields that the policy hides are hidden
    /// here too.
    func decisions() async throws -> [PluginDecision] {
        let decisions = await session.plugins?.decisions ?? []
        return DecisionFile(decisions).hiding(hidden.fields).decisions
    }

    func plan(_ name: String) throws -> PluginPlan {
        guard let plan = session.plugins?.plans.first(where: { $0.name == name }) else {
            throw SluiceError(.invalidArgument, "no plugin \(name) serves")
        }
        return plan
    }

    /// A plugin's scripts.
    func source(of name: String) throws -> JSON {
        let bundle = try plan(name).bundle
        return [
            "plugin": JSON(name),
            "sources": JSON(
                bundle.sources.map {
                    ["path": JSON($0.path), "text": JSON(String(decoding: $0.text, as: UTF8.self))] as JSON
                }),
        ]
    }

    func plugins() async throws -> JSON {
        guard let plugins = session.plugins else { return ["plugins": .array, "chains": .array, "decisions": .array] }
        let figures = await plugins.metrics
        var chains = JSON.array
        for chain in HookChain.allCases {
            let links = try ordered(chain)
            guard !links.isEmpty else { continue }
            chains.append([
                "chain": JSON(chain.rawValue),
                "links": JSON(links.map { ["plugin": JSON($0.name), "why": JSON($0.why)] as JSON }),
            ])
        }
        let decisions = try await decisions()
        return [
            "version": JSON(figures.setVersion), "plugins": JSON(plugins.plans.map { json($0, figures) }),
            "chains": chains,
            "decisions": JSON(decisions.suffix(Self.mostDecisions).reversed().map(Self.json)),
        ]
    }

    private func json(_ plan: PluginPlan, _ figures: PluginMetrics) -> JSON {
        let hooks = plan.hooks.values.sorted { $0.kind.rawValue < $1.kind.rawValue }.map { hook -> JSON in
            let done = figures.hooks[plan.name]?[hook.kind.rawValue]
            let calls = done?.calls.values.reduce(0, +) ?? 0
            let (fuel, elapsed) = (done?.fuel ?? 0, done?.elapsed ?? .zero)
            return [
                "hook": JSON(hook.kind.rawValue), "calls": JSON(calls),
                "errors": JSON(printing: done?.calls.filter { $0.key != "ok" } ?? [:]),
                "decisions": JSON(printing: done?.decisions ?? [:]),
                "fuel": JSON(calls == 0 ? 0 : fuel / calls), "budget": JSON(hook.budget.fuel),
                "milliseconds": JSON(calls == 0 ? 0 : Double(elapsed.wholeNanoseconds) / 1e6 / Double(calls)),
                "isOpen": JSON(done?.isBreakerOpen ?? false),
            ]
        }
        return [
            "name": JSON(plan.name), "version": JSON(plan.manifest.version.description),
            "mode": JSON(plan.mode.rawValue),
            "folder": JSON(plan.bundle.location), "memory": JSON(figures.memory[plan.name] ?? 0),
            "memoryLimit": JSON(plan.memoryBytes), "hooks": JSON(hooks),
        ]
    }

    private static func json(_ decision: PluginDecision) -> JSON {
        var json: JSON = [
            "sequence": JSON(decision.sequence), "at": JSON(decision.at.description),
            "plugin": JSON(decision.plugin), "hook": JSON(decision.hook.rawValue),
            "decision": JSON(decision.decision), "fuel": JSON(decision.fuel), "shadow": JSON(decision.isShadow),
            "recorded": JSON(decision.input != nil),
        ]
        json["table"] = decision.table.map { JSON($0) }
        json["record"] = decision.recordID.map { JSON($0) }
        json["reason"] = (decision.reason ?? decision.failure?.description).map { JSON($0) }
        return json
    }
}
