public import SluiceCore

/// Reads what a manifest says of its hooks.
struct HooksReader {
    let plugin: String

    func hooks(_ place: JSONPlace) throws(SluiceError) -> [HookKind: HookDeclaration] {
        let members = try place.members(HookKind.allCases.map(\.rawValue))
        guard !members.isEmpty else { throw place.expected("at least one hook") }
        var hooks: [HookKind: HookDeclaration] = [:]
        for kind in HookKind.allCases {
            guard let place = members[kind.rawValue] else { continue }
            hooks[kind] = try hook(kind, place)
        }
        if hooks[.afterPull] != nil, let page = members[HookKind.afterPullPage.rawValue] {
            throw page.refusal("after_pull is there too; a plugin has one of the two")
        }
        try checkPlaces(hooks, members)
        return hooks
    }

    private func hook(_ kind: HookKind, _ place: JSONPlace) throws(SluiceError) -> HookDeclaration {
        let order = ["match", "band", "before", "after", "priority", "on_error"]
        let members = try place.members((kind.chain == nil ? [] : order) + ["limits"])
        var hook = HookDeclaration(kind, of: plugin)
        if let match = members["match"] { hook.match = try Match(match, allowed: kind.conditions) }
        if let band = members["band"] {
            let name = try band.choice(of: FilterBand.allCases.map(\.rawValue))
            hook.placement.band = FilterBand(rawValue: name) ?? .default
        }
        hook.placement.before = try names(members["before"])
        hook.placement.after = try names(members["after"])
        hook.placement.priority = try members["priority"]?.integer(in: -1_000_000...1_000_000) ?? 0
        if let onError = members["on_error"] {
            let name = try onError.choice(of: kind.errorPolicies.map(\.rawValue))
            hook.onError = HookErrorPolicy(rawValue: name) ?? hook.onError
        }
        if let limits = members["limits"] { hook.budget = try budget(kind, limits) }
        return hook
    }

    /// A plugin is one link of a chain, so its hooks of one chain stand in one place.
    private func checkPlaces(
        _ hooks: [HookKind: HookDeclaration], _ members: [String: JSONPlace]
    ) throws(SluiceError) {
        for chain in HookChain.allCases {
            let declared = chain.hooks.filter { hooks[$0] != nil }
            for (first, other) in zip(declared, declared.dropFirst())
            where hooks[first]?.placement != hooks[other]?.placement {
                throw members[other.rawValue]?.refusal(
                    "expected band, before, after and priority of \(first.rawValue): both stand in one place")
                    ?? SluiceError(.invalidArgument, "\(plugin): two places in one chain")
            }
        }
    }

    private func names(_ place: JSONPlace?) throws(SluiceError) -> [String] {
        var names: [String] = []
        for element in try place?.elements(upTo: Placement.maximumNames) ?? [] {
            names.append(try element.text(upTo: 128))
        }
        return names
    }

    private func budget(_ kind: HookKind, _ place: JSONPlace) throws(SluiceError) -> HookBudget {
        let members = try place.members(HookLimit.names(of: kind))
        var budget = kind.budget
        for limit in HookLimit.allCases {
            guard let place = members[limit.rawValue] else { continue }
            if let reason = limit.lower(&budget, to: place.value) { throw place.expected(reason) }
        }
        return budget
    }
}

/// What a manifest says of one hook.
public struct HookDeclaration: Sendable, Hashable {
    /// What it is for.
    public var match: Match = .all
    /// Where it wants to stand, by the plugin's name.
    public var placement: Placement
    /// What becomes of its failure.
    public var onError: HookErrorPolicy
    /// What a call may cost.
    public var budget: HookBudget

    /// A hook of the plugin of that name, of which nothing is said.
    public init(_ kind: HookKind, of plugin: String) {
        placement = Placement(plugin)
        onError = kind.errorPolicy
        budget = kind.budget
    }
}

/// What becomes of a failure of a hook: an error of the script, a kill, or an answer that it may not give.
public enum HookErrorPolicy: String, Sendable, Hashable, CaseIterable {
    /// The request is not sent, the write refused, the page not stored and the pull's place not moved.
    case failClosed = "fail_closed"
    /// Things go on as if the hook had not been there.
    case failOpen = "fail_open"
    /// The operation is held with the plugin's name and the reason, until someone decides. Nothing is lost.
    case hold
    /// The next handler is asked, and after the last the policy that is built in.
    case next
    /// The server's record stands.
    case server
    /// The local record is sent again on top of the server's version.
    case client
}

extension HookKind {
    /// What becomes of a failure where nothing else is said.
    public var errorPolicy: HookErrorPolicy { errorPolicies[0] }

    /// What may be said of it; the first is the default.
    public var errorPolicies: [HookErrorPolicy] {
        switch self {
        case .filter, .request, .beforeEnqueue, .beforePush: [.failClosed, .failOpen]
        case .read, .insert, .update, .delete: [.failClosed, .failOpen]
        case .response: [.failOpen, .failClosed]
        case .afterPull, .afterPullPage: [.failClosed, .failOpen]
        case .onConflict: [.hold, .next, .server, .client]
        // The server's record, or another send, would be a decision on a change that the script was to make.
        case .onPushError: [.hold, .next]
        case .onSchedule, .onEvent: [.failOpen]
        case .initialize: [.failClosed]
        }
    }
}
