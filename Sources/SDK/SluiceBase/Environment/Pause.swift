internal import Synchronization

/// Waits as `Task.sleep(for:)` does, but releases its memory when the task is cancelled.
///
/// `Task.sleep` keeps its memory until its time is over, cancelled or not. A deadline is nearly always cancelled, so a
/// client with a deadline of 100 s for each request would keep that of all requests of the last 100 s.
package enum Pause {
    private static let alarms = Alarms()
    /// A wait so long that it makes no difference, and overflows no clock.
    private static let longest = Duration.seconds(365 * 86_400)

    /// Waits, or returns soon if the duration is not above zero.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    package static func wait(for duration: Duration) async throws {
        try Task.checkCancellation()
        if duration <= .zero { return await Task.yield() }
        try await alarms.wait(until: .now + min(duration, longest))
    }
}

/// All waiting tasks, and the few tasks that sleep for all of them.
private final class Alarms: Sendable {
    private typealias Instant = ContinuousClock.Instant

    private struct State {
        var lastID = 0
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        /// The waits in the order of their times. Some of them are over.
        var times: [(due: Instant, id: Int)] = []
        /// The wake-up times of the sleeping tasks, the soonest last.
        var wakings: [Instant] = []

        /// Removes and returns the waiting tasks whose time has come.
        mutating func takeDue(at now: Instant) -> [CheckedContinuation<Void, any Error>] {
            let count = times.firstIndex { $0.due > now } ?? times.count
            let due = times.prefix(count).compactMap { waiting.removeValue(forKey: $0.id) }
            times.removeFirst(count)
            return due
        }

        /// Adds a waiting task at its position in the order.
        mutating func add(_ id: Int, _ due: Instant, _ continuation: CheckedContinuation<Void, any Error>) {
            waiting[id] = continuation
            var (low, high) = (0, times.count)
            while low < high {
                let middle = (low + high) / 2
                if times[middle].due <= due { low = middle + 1 } else { high = middle }
            }
            times.insert((due, id), at: low)
        }

        mutating func forgetEnded() {
            if times.count > 2 * waiting.count + 64 { times.removeAll { waiting[$0.id] == nil } }
        }

        /// Returns the wake-up time of another sleeping task that is needed; nil where one wakes in time, or nothing
        /// waits.
        mutating func nextWaking() -> Instant? {
            times.removeFirst(times.prefix { waiting[$0.id] == nil }.count)
            guard let due = times.first?.due, wakings.last.map({ due < $0 }) ?? true else { return nil }
            wakings.append(due)
            return due
        }
    }

    private let state = Mutex(State())

    func wait(until due: ContinuousClock.Instant) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waking = state.withLock { state in
                    state.add(id, due, continuation)
                    return state.nextWaking()
                }
                if let waking { sleep(until: waking) }
                // If the task was cancelled before, its wait was not found.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        let continuation = state.withLock { state in
            let continuation = state.waiting.removeValue(forKey: id)
            state.forgetEnded()
            return continuation
        }
        continuation?.resume(throwing: CancellationError())
    }

    private func sleep(until waking: ContinuousClock.Instant) {
        Task.detached { [self] in
            try? await Task.sleep(until: waking, clock: .continuous)
            wake(waking)
        }
    }

    private func wake(_ waking: ContinuousClock.Instant) {
        let (due, next) = state.withLock { state in
            state.wakings.removeAll { $0 == waking }
            return (state.takeDue(at: .now), state.nextWaking())
        }
        for continuation in due { continuation.resume() }
        if let next { sleep(until: next) }
    }
}
