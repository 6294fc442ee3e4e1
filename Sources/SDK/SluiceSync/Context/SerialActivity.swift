internal import SluiceBase
internal import Synchronization

/// Runs one push, pull, purge or other call at a time, in the order of arrival.
package final class SerialActivity: Sendable {
    /// The identity of one run, by which a nested call recognises it.
    private final class Run: Sendable {}

    private struct State {
        /// The run that has its turn; nil while nothing runs.
        var running: Run?
        /// The waiting runs, in order. Each learns whether its turn has come or its task was cancelled.
        var waiting: [(run: Run, turn: CheckedContinuation<Bool, Never>)] = []
    }

    /// The runs that the task is part of. A handler or a filter may call back into the context.
    @TaskLocal private static var ancestors: [Run] = []

    private let state = Mutex(State())

    package init() {}

    /// Runs `body` after the earlier runs. A cancelled task stops waiting and does not run `body`.
    ///
    /// - Throws: ``SluiceError`` of code `cancelled`; of code `invalidArgument` inside of a run, because a nested run
    ///   would wait for itself without end.
    func run<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        let run = Run()
        let isCalledBack = state.withLock { state in
            state.running.map { running in Self.ancestors.contains { $0 === running } } ?? false
        }
        guard !isCalledBack else {
            throw SluiceError(
                .invalidArgument,
                "a handler or filter cannot push, pull, purge or discard while the push or pull that called it runs")
        }
        guard await begin(run) else { throw SluiceError(.cancelled, "the task was cancelled") }
        defer { end() }
        guard !Task.isCancelled else { throw SluiceError(.cancelled, "the task was cancelled") }
        return try await Self.$ancestors.withValue(Self.ancestors + [run], operation: body)
    }

    /// Waits for the turn and keeps it until ``end()``.
    ///
    /// - Throws: ``SluiceError`` of code `cancelled` if the task was cancelled before the turn came.
    package func begin() async throws {
        guard await begin(Run()) else { throw SluiceError(.cancelled, "the task was cancelled") }
    }

    /// Waits for the turn; false if the task was cancelled before it came.
    private func begin(_ run: Run) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    guard state.running != nil else {
                        state.running = run
                        return true
                    }
                    state.waiting.append((run, turn))
                    return nil
                }
                if let answer { turn.resume(returning: answer) }
            }
        } onCancel: {
            let turn = state.withLock { state in
                state.waiting.firstIndex { $0.run === run }.map { state.waiting.remove(at: $0).turn }
            }
            turn?.resume(returning: false)
        }
    }

    /// Gives the turn to the next waiting run.
    package func end() {
        let next = state.withLock { state in
            let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            state.running = next?.run
            return next?.turn
        }
        next?.resume(returning: true)
    }
}
