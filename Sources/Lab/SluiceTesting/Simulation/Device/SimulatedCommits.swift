internal import Synchronization

/// The transactions of a device's store in the order in which they happened. Their callers may go on in another order,
/// so each is noted at its end, inside, and handed on with those before it.
final class SimulatedCommits: Sendable {
    private struct State {
        var tickets = 0
        var ended: [(ticket: Int, transaction: SimulatedTransaction)] = []
    }

    private let state = Mutex(State())

    /// A number for a transaction that is about to begin.
    func begin() -> Int {
        state.withLock {
            $0.tickets += 1
            return $0.tickets
        }
    }

    /// The transaction has done all that it does, and is about to be committed.
    func end(_ ticket: Int, _ transaction: SimulatedTransaction) {
        state.withLock { $0.ended.append((ticket, transaction)) }
    }

    /// It was not committed.
    func drop(_ ticket: Int) { state.withLock { $0.ended.removeAll { $0.ticket == ticket } } }

    /// What was committed up to this transaction and has not been handed on.
    func take(through ticket: Int) -> [SimulatedTransaction] {
        state.withLock { state in
            guard let index = state.ended.firstIndex(where: { $0.ticket == ticket }) else { return [] }
            defer { state.ended.removeFirst(index + 1) }
            return state.ended[...index].map(\.transaction)
        }
    }
}
