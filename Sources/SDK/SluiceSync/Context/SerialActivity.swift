internal import SluiceBase
internal import Synchronization

/// Lets one push, pull or purge, or one call of any other kind, run at a time, in the order in which they came.
package final class SerialActivity: Sendable {
    /// One run, as the code that it calls can recognise it.
    private final class Run: Sendable {}

    private struct State {
        /// Whose turn it is; nil while nobody runs.
        var running: Run?
        /// Those that wait, in order. Each learns whether its turn has come or its task was cancelled.
        var waiting: [(run: Run, turn: CheckedContinuation<Bool, Never>)] = []
    }

    /// The runs that the task is part of: a handler or a filter may call back into the context.
    @TaskLocal private static var ancestors: [Run] = []

    private let state = Mutex(State())

    package init() {}

    /// Runs `body` when those before it are done. A task that is cancelled waits no longer, and does not run `body`.
    ///
    /// - Throws: ``SluiceError`` of code `cancelled`; of code `invalidArgument` inside of a run, which would wait for
    ///   itself for ever.
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

    /// Waits for the turn, which is the caller's until ``end()``.
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

    /// Gives the turn to the next one that waits.
    package func end() {
        let next = state.withLock { state in
            let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            state.running = next?.run
            return next?.turn
        }
        next?.resume(returning: true)
    }
}
