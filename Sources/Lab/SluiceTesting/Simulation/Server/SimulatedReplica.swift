internal import SluiceCore
internal import Synchronization

/// What a replica may still answer from: the server as it was before its last writes.
struct SimulatedReplica {
    private struct Past {
        let tables: [String: [RecordID: SimulatedRow]]
        let version: Int
        /// The moment of the write by which it became the past.
        let until: Timestamp
    }

    private var pasts: [Past] = []
    private static let most = 3

    /// Remembers the server as it is, before another write.
    mutating func remember(_ state: SimulatedServer.State, at time: Timestamp) {
        pasts = pasts.suffix(Self.most - 1) + [Past(tables: state.tables, version: state.version, until: time)]
    }

    /// The server as it was before one of the writes since that moment; nil if there was none.
    func state(_ state: SimulatedServer.State, since time: Timestamp, choosing luck: SimulationLuck)
        -> SimulatedServer.State?
    {
        let recent = pasts.filter { $0.until > time }
        guard !recent.isEmpty else { return nil }
        let past = recent[luck.below(recent.count)]
        var stale = state
        (stale.tables, stale.version) = (past.tables, past.version)
        return stale
    }

    /// The last write that it has heard of for sure by then.
    func version(since time: Timestamp) -> Int? { pasts.first { $0.until > time }?.version }
}

extension SimulatedServer {
    /// The moment of which every replica has heard: by as much as other things may move a time, and ten seconds at most, as
    /// a device believes what it knows to be old after a while.
    private var heard: Timestamp { Timestamp(ticks: clock.now.ticks - min(quarter, 100_000_000)) }

    func remember(_ state: inout State) {
        if faults.allows(.staleRead) { state.replica.remember(state, at: clock.now) }
    }

    /// What a replica answers a read from that has not heard of the last writes; nil where the server itself answers.
    func stale(_ state: State) -> State? {
        guard faults.strikes(.staleRead) else { return nil }
        return state.replica.state(state, since: heard, choosing: luck)
    }

    /// The last commit that every answer from now on has.
    var commit: Int { state.withLock { $0.replica.version(since: heard) ?? $0.version } }
}
