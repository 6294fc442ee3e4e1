internal import Synchronization

/// Lets streams read a few at a time. One commit wakes all streams of a table, and together they would take every place
/// that there is before the database.
final class StreamTurns: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Those before it have had their turn.
        var first = 0
    }

    private let state: Mutex<State>

    /// Turns for so many at a time.
    init(_ count: Int) { state = Mutex(State(free: count)) }

    /// Runs `body` when it is its turn.
    func take<Result: Sendable>(_ body: @Sendable () async -> Result) async -> Result {
        await withCheckedContinuation { turn in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(turn)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { turn.resume() }
        }
        defer { pass() }
        return await body()
    }

    /// Gives the turn to who has waited longest.
    private func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.first < state.waiting.count else {
                (state.waiting, state.first) = ([], 0)
                state.free += 1
                return nil
            }
            defer { state.first += 1 }
            return state.waiting[state.first]
        }
        next?.resume()
    }
}
