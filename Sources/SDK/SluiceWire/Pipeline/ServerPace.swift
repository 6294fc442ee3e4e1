internal import HTTPTypes
package import SluiceBase
internal import Synchronization

/// The pace of requests that one server's answers ask for, and the number of repeats still allowed.
///
/// A client's filtered copies share it on purpose, because they use the same server.
package final class ServerPace: Sendable {
    /// The pause that the server asked for, and the time of its answer by the steady clock.
    package struct Pause: Sendable, Hashable {
        package var length: Duration
        package var since: Timestamp

        fileprivate var end: Timestamp { since.advanced(by: length) }
    }
    private struct State {
        var pause: Pause?
        var repeats: Double
        /// The longest pause that is kept; at first that of a schedule without another bound.
        var longest = Duration.seconds(3600)
    }
    private let state: Mutex<State>
    private let budget: Double

    init(budget: Int) {
        self.budget = Double(max(0, budget))
        state = Mutex(State(repeats: self.budget))
    }

    /// The pause that an answer asked for and that lasts the longest; nil once it is over. A good answer does not end it:
    /// a server that refuses writes may answer reads.
    package func asked(_ environment: SyncEnvironment) -> Pause? {
        let now = environment.steady()
        return state.withLock { $0.pause.flatMap { $0.end > now ? $0 : nil } }
    }

    /// Bounds the pauses that are kept from now on: one of a year would hide each later pause that is to be kept.
    package func bound(by longest: Duration) { state.withLock { $0.longest = longest } }

    /// Notes an answer, and returns the pause it asks for.
    func note(_ response: SyncResponse, _ environment: SyncEnvironment) -> Duration? {
        let isRefused = response.status == 429 || response.status >= 500
        let pause = RetryAfter.duration(response.head.headerFields, now: environment.now())
        let now = environment.steady()
        state.withLock { state in
            let asked = pause.map { Pause(length: min($0, state.longest), since: now) }
            if isRefused, let asked, asked.end > state.pause?.end ?? asked.since { state.pause = asked }
            if !isRefused { state.repeats = min(budget, state.repeats + 0.1) }
        }
        return pause
    }

    /// Takes a repeat out of the budget; returns false if there is none left.
    func takeRepeat() -> Bool {
        state.withLock { state in
            guard state.repeats >= 1 else { return false }
            state.repeats -= 1
            return true
        }
    }
}
