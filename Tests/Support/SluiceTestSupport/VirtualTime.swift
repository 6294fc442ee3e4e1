package import SluiceCore
internal import Synchronization

/// Time that passes only when a test says so.
package final class VirtualTime: Sendable {
    private struct State {
        var now = Timestamp(ticks: 17_000_000_000_000_000)
        var steady = Timestamp(ticks: 0)
        var sleepers: [Int: (until: Timestamp, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var nextID = 0
    }
    private let state = Mutex(State())

    package init() {}

    package var now: Timestamp { state.withLock { $0.now } }

    /// The time that has passed, whatever the clock was set to.
    package var steady: Timestamp { state.withLock { $0.steady } }

    /// How often somebody has gone to sleep.
    package var sleeps: Int { state.withLock { $0.nextID } }

    /// How long each sleeper still sleeps, shortest first.
    package var pauses: [Duration] {
        state.withLock { state in state.sleepers.values.map { state.now.duration(to: $0.until) }.sorted() }
    }

    package func sleep(_ duration: Duration) async throws {
        try Task.checkCancellation()
        if duration <= .zero { return }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        state.sleepers[id] = (state.now.advanced(by: duration), continuation)
                    }
                }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id)?.continuation.resume(throwing: CancellationError()) }
        }
    }

    /// Lets time pass and wakes those whose pause is over.
    package func pass(_ duration: Duration) {
        state.withLock { state in
            state.now = state.now.advanced(by: duration)
            state.steady = state.steady.advanced(by: duration)
            for (id, sleeper) in state.sleepers where sleeper.until <= state.now {
                state.sleepers[id] = nil
                sleeper.continuation.resume()
            }
        }
    }

    /// Sets the clock to another time; pauses last as long as before.
    package func set(_ time: Timestamp) {
        state.withLock { state in
            for (id, sleeper) in state.sleepers {
                state.sleepers[id]?.until = time.advanced(by: state.now.duration(to: sleeper.until))
            }
            state.now = time
        }
    }

    /// Waits until somebody sleeps, and says for how long.
    package func pause() async -> Duration {
        while true {
            if let pause = pauses.first { return pause }
            await Task.yield()
        }
    }

    package func environment(random: @escaping @Sendable () -> Double = { 1 }) -> SyncEnvironment {
        let ids = UUIDv7Source()
        return SyncEnvironment(
            now: { self.now }, steady: { self.steady }, makeID: { ids.next(at: self.now) },
            sleep: { try await self.sleep($0) }, random: random)
    }
}
