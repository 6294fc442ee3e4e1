internal import SluiceCore

/// Reads the hooks of a manifest.
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
        for (one, other) in [(HookKind.toWire, HookKind.fromWire), (HookKind.fromWire, HookKind.toWire)] {
            if hooks[other] == nil, let place = members[one.rawValue] {
                throw place.refusal("\(other.rawValue) is missing; a codec has both")
            }
        }
        try checkPlaces(hooks, members)
        return hooks
    }

    private func hook(_ kind: HookKind, _ place: JSONPlace) throws(SluiceError) -> HookDeclaration {
        let order = ["match", "band", "before", "after", "priority", "on_error"]
        // Both hooks of a codec are for all of its fields, and no order is between codecs.
        let own = kind == .onConflict ? ["equal_edits"] : []
        let members = try place.members((kind.chain == nil || kind.isCodec ? [] : order) + own + ["limits"])
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
        hook.takesEqualEdits = try members["equal_edits"]?.flag() ?? false
        if let limits = members["limits"] { hook.budget = try budget(kind, limits) }
        return hook
    }

    /// Checks that the hooks of one chain have the same place: a plugin is one link of a chain.
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
        for element in try place?.items(upTo: Placement.maximumNames) ?? [] {
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

/// The declaration of one hook in a manifest.
public struct HookDeclaration: Sendable, Hashable {
    /// The requests or records that the hook is for.
    public var match: Match = .all
    /// The place that it asks for, by the plugin's name.
    public var placement: Placement
    /// The effect of a failure.
    public var onError: HookErrorPolicy
    /// Whether `on_conflict` is asked about a change that the server has from another already.
    public var takesEqualEdits = false
    /// The limits of a call.
    public var budget: HookBudget

    /// Creates the declaration of a hook with the defaults.
    public init(_ kind: HookKind, of plugin: String) {
        placement = Placement(plugin)
        onError = kind.errorPolicy
        budget = kind.budget
    }
}

/// The effect of a hook's failure: an error of the script, a kill, or an answer that the hook may not give.
public enum HookErrorPolicy: String, Sendable, Hashable, CaseIterable {
    /// The request is not sent, the write is refused, or the page is not stored and the pull does not advance.
    case failClosed = "fail_closed"
    /// The engine continues as if the hook did not exist.
    case failOpen = "fail_open"
    /// The operation is held with the plugin's name and the reason until someone decides. Nothing is lost.
    case hold
    /// The next handler is called, and after the last one the built-in policy applies.
    case next
    /// The server's record wins.
    case server
    /// The local record is sent again on top of the server's version.
    case client
}

extension HookKind {
    /// The effect of a failure unless the manifest or the policy sets another.
    public var errorPolicy: HookErrorPolicy { errorPolicies[0] }

    /// The allowed effects of a failure; the first is the default.
    public var errorPolicies: [HookErrorPolicy] {
        switch self {
        case .filter, .request, .beforeEnqueue, .beforePush: [.failClosed, .failOpen]
        case .read, .insert, .update, .delete: [.failClosed, .failOpen]
        case .response: [.failOpen, .failClosed]
        case .afterPull, .afterPullPage: [.failClosed, .failOpen]
        case .onConflict: [.hold, .next, .server, .client]
        // Neither `server` nor `client`: they would decide about a change in place of the failed script.
        case .onPushError: [.hold, .next]
        case .onSchedule, .onEvent: [.failOpen]
        case .initialize, .toWire, .fromWire: [.failClosed]
        }
    }
}
