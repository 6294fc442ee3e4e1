internal import Synchronization

/// The transactions of a device's store in the order of their commits. Their callers may continue in another order, so
/// each transaction is noted at its end, inside, and passed on together with the earlier ones.
final class SimulatedCommits: Sendable {
    private struct State {
        var tickets = 0
        var ended: [(ticket: Int, transaction: SimulatedTransaction)] = []
    }

    private let state = Mutex(State())

    /// Returns a number for a transaction that is about to begin.
    func begin() -> Int {
        state.withLock {
            $0.tickets += 1
            return $0.tickets
        }
    }

    /// Notes that the transaction has finished its work and is about to be committed.
    func end(_ ticket: Int, _ transaction: SimulatedTransaction) {
        state.withLock { $0.ended.append((ticket, transaction)) }
    }

    /// Removes a transaction that was not committed.
    func drop(_ ticket: Int) { state.withLock { $0.ended.removeAll { $0.ticket == ticket } } }

    /// Returns the transactions up to this one that were not passed on yet.
    func take(through ticket: Int) -> [SimulatedTransaction] {
        state.withLock { state in
            guard let index = state.ended.firstIndex(where: { $0.ticket == ticket }) else { return [] }
            defer { state.ended.removeFirst(index + 1) }
            return state.ended[...index].map(\.transaction)
        }
    }
}
