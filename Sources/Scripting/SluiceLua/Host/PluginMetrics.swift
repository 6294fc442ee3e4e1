/// The counts and costs of all plugins since their host began.
public struct PluginMetrics: Sendable, Hashable {
    /// The counts and costs of one hook of one plugin.
    public struct Hook: Sendable, Hashable {
        /// The number of finished calls, by outcome: `ok`, or the name of a ``PluginFailure/Kind``.
        public var calls: [String: Int] = [:]
        /// The number of decisions, by name.
        public var decisions: [String: Int] = [:]
        /// The fuel of all calls.
        public var fuel = 0
        /// The CPU time of all calls.
        public var cpuTime: Duration = .zero
        /// The time of all calls from beginning to end, waits included.
        public var elapsed: Duration = .zero
        /// Whether the hook is currently not called, because it failed too often.
        public var isBreakerOpen = false
    }

    /// The hooks, by the plugin's name and the hook's.
    public var hooks: [String: [String: Hook]] = [:]
    /// The memory of each plugin's machine in bytes, by the plugin's name.
    public var memory: [String: Int] = [:]
    /// The number of times that the set of plugins was replaced.
    public var reloads = 0
    /// The number of times that a new set was refused.
    public var refusedReloads = 0
    /// The number of the current set.
    public var setVersion = 0
    /// The number of calls under way.
    public var callsUnderWay = 0
    /// The number of calls ended because their plugin had been replaced too long ago.
    public var abandonedCalls = 0
    /// The number of decisions that could not be written to the ``DecisionLog``.
    public var lostDecisions = 0

    /// The number of failures of all plugins, by the name of a ``PluginFailure/Kind``.
    public var errors: [String: Int] {
        var errors: [String: Int] = [:]
        for hook in hooks.values.flatMap(\.values) {
            for (outcome, count) in hook.calls where outcome != "ok" { errors[outcome, default: 0] += count }
        }
        return errors
    }
}
