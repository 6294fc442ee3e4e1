/// Lets one push, pull or purge run at a time, in the order in which they came.
actor SerialActivity {
    /// One run, as whoever it calls can recognise it.
    private final class Run: Sendable {}

    /// The runs that the task is part of: a handler or a filter may call back into the context.
    @TaskLocal private static var ancestors: [Run] = []

    private var isBusy = false
    private var running: Run?
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Runs `body` when those before it are done. A task that was cancelled while it waited does not run `body`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` inside of a run, which would wait for itself for ever.
    nonisolated func run<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        let run = Run()
        try await begin(run)
        do {
            guard !Task.isCancelled else { throw SluiceError(.cancelled, "the task was cancelled") }
            let result = try await Self.$ancestors.withValue(Self.ancestors + [run], operation: body)
            await end()
            return result
        } catch {
            await end()
            throw error
        }
    }

    private func begin(_ run: Run) async throws {
        if let running, Self.ancestors.contains(where: { $0 === running }) {
            throw SluiceError(
                .invalidArgument,
                "a handler or filter cannot push, pull, purge or discard while the push or pull that called it runs")
        }
        if isBusy { await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
        running = run
    }

    private func end() {
        running = nil
        if waiting.isEmpty {
            isBusy = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
