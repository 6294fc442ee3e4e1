internal import Synchronization

/// A value that is read once for all tasks that request it at the same time.
///
/// A cancelled task stops waiting. When no task waits any more the reading is cancelled, and the next request begins a
/// new one.
final class SharedReading<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct State {
        var task: Task<Void, Never>?
        /// The number of the current reading, so that the result of a cancelled one is ignored.
        var number = 0
        var waiting: [Int: Waiter] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    /// Waits for the result of the current reading, or starts `read` if there is none.
    func value(_ read: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isWaiting = state.withLock { state in
                    if Task.isCancelled { return false }
                    state.waiting[waiter] = continuation
                    if state.task == nil { begin(&state, read) }
                    return true
                }
                if !isWaiting { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(waiter)
        }
    }

    private func begin(_ state: inout State, _ read: @escaping @Sendable () async throws -> Value) {
        state.number += 1
        let number = state.number
        state.task = Task(executorPreference: currentTaskExecutor()) {
            do {
                self.end(number, .success(try await read()))
            } catch {
                self.end(number, .failure(error))
            }
        }
    }

    private func end(_ number: Int, _ result: Result<Value, any Error>) {
        let waiters = state.withLock { state -> [Waiter] in
            guard state.number == number else { return [] }
            defer { (state.task, state.waiting) = (nil, [:]) }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    private func cancel(_ waiter: Int) {
        let (cancelled, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            let cancelled = state.waiting.removeValue(forKey: waiter)
            guard cancelled != nil, state.waiting.isEmpty else { return (cancelled, nil) }
            // A result that still arrives is ignored.
            state.number += 1
            defer { state.task = nil }
            return (cancelled, state.task)
        }
        task?.cancel()
        cancelled?.resume(throwing: CancellationError())
    }
}
