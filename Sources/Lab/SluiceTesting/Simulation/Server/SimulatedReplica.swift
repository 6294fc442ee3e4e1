internal import SluiceCore
internal import Synchronization

/// The past states that a replica may still answer from: the server before its last writes.
struct SimulatedReplica {
    private struct Past {
        let tables: [String: [RecordID: SimulatedRow]]
        let version: Int
        /// The time of the write that ended this state.
        let until: Timestamp
    }

    private var pasts: [Past] = []
    private static let most = 3

    /// Stores the present state before the next write.
    mutating func remember(_ state: SimulatedServer.State, at time: Timestamp) {
        pasts = pasts.suffix(Self.most - 1) + [Past(tables: state.tables, version: state.version, until: time)]
    }

    /// Returns the state before one of the writes since that time; nil if there was no write.
    func state(_ state: SimulatedServer.State, since time: Timestamp, choosing random: SimulationRandom)
        -> SimulatedServer.State?
    {
        let recent = pasts.filter { $0.until > time }
        guard !recent.isEmpty else { return nil }
        let past = recent[random.below(recent.count)]
        var stale = state
        (stale.tables, stale.version) = (past.tables, past.version)
        return stale
    }

    /// Returns the last version that every replica has received by that time.
    func version(since time: Timestamp) -> Int? { pasts.first { $0.until > time }?.version }
}

extension SimulatedServer {
    /// The time up to which every replica is current. It lags by a quarter of the commit lag, as other times do, but at
    /// most ten seconds, because a device trusts its own knowledge only for a while.
    private var heard: Timestamp { Timestamp(ticks: clock.now.ticks - min(quarter, 100_000_000)) }

    func remember(_ state: inout State) {
        if faults.allows(.staleRead) { state.replica.remember(state, at: clock.now) }
    }

    /// Returns the state of a replica that has not received the last writes; nil where the server itself answers.
    func stale(_ state: State) -> State? {
        guard faults.strikes(.staleRead) else { return nil }
        return state.replica.state(state, since: heard, choosing: random)
    }

    /// The last commit that every later answer includes.
    var commit: Int { state.withLock { $0.replica.version(since: heard) ?? $0.version } }
}
