internal import Synchronization

/// The lease of a store that lives in one process: whoever comes first has it.
package final class ExclusiveLease: Sendable {
    private struct State {
        var isHeld = false
        /// Grows when the lease is taken away, so that who had it cannot give back another's.
        var generation = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// The lease, or nil if somebody has it.
    package func take() -> StoreLease? {
        let generation = state.withLock { state -> Int? in
            guard !state.isHeld else { return nil }
            state.isHeld = true
            return state.generation
        }
        return generation.map { generation in StoreLease { [self] in giveBack(generation) } }
    }

    /// Takes it away from whoever has it.
    package func breakUp() {
        state.withLock { state in
            state.isHeld = false
            state.generation += 1
        }
    }

    private func giveBack(_ generation: Int) {
        state.withLock { state in if state.generation == generation { state.isHeld = false } }
    }
}
