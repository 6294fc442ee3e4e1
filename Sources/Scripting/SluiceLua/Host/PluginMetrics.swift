/// What plugins have done and cost since their host began.
public struct PluginMetrics: Sendable, Hashable {
    /// What one hook of one plugin has done.
    public struct Hook: Sendable, Hashable {
        /// How many calls came to an end, by outcome: `ok`, or the name of a ``PluginFailure/Kind``.
        public var calls: [String: Int] = [:]
        /// How many decisions of each name there were.
        public var decisions: [String: Int] = [:]
        /// The fuel of all calls.
        public var fuel = 0
        /// The time of the thread that all calls have used.
        public var cpuTime: Duration = .zero
        /// The time from begin to end of all calls, waits included.
        public var elapsed: Duration = .zero
        /// Whether the hook is not asked at present, because it failed too often.
        public var isBreakerOpen = false
    }

    /// The hooks, by the plugin's name and the hook's.
    public var hooks: [String: [String: Hook]] = [:]
    /// How many bytes each plugin's machine holds, by the plugin's name.
    public var memory: [String: Int] = [:]
    /// How often the set of plugins was replaced.
    public var reloads = 0
    /// How often a new set was refused.
    public var refusedReloads = 0
    /// The number of the set that serves.
    public var setVersion = 0
    /// How many calls are under way.
    public var callsUnderWay = 0
    /// How many calls were ended because their plugin had been replaced for too long.
    public var abandonedCalls = 0
    /// How many decisions could not be written to the ``DecisionLog``.
    public var lostDecisions = 0

    /// The errors of all plugins, by the name of a ``PluginFailure/Kind``.
    public var errors: [String: Int] {
        var errors: [String: Int] = [:]
        for hook in hooks.values.flatMap(\.values) {
            for (outcome, count) in hook.calls where outcome != "ok" { errors[outcome, default: 0] += count }
        }
        return errors
    }
}
