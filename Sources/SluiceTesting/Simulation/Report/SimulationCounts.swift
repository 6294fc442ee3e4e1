/// How much happened in a simulation.
public struct SimulationCounts: Sendable, Hashable {
    /// Things done by applications, operators and other clients.
    public internal(set) var actions = 0
    /// Requests that were sent.
    public internal(set) var requests = 0
    /// Transactions that were committed.
    public internal(set) var commits = 0
    /// Processes that ended.
    public internal(set) var crashes = 0

    /// All of it.
    public var steps: Int { actions + requests + commits + crashes }

    static func += (left: inout SimulationCounts, right: SimulationCounts) {
        left.actions += right.actions
        left.requests += right.requests
        left.commits += right.commits
        left.crashes += right.crashes
    }
}
