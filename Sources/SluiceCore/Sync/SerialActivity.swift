/// Lets one push, pull or purge run at a time, in the order in which they came.
actor SerialActivity {
    private var isRunning = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Runs `body` when those before it are done. A task that was cancelled while it waited does not run `body`.
    nonisolated func run<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        await begin()
        do {
            guard !Task.isCancelled else { throw SluiceError(.cancelled, "the task was cancelled") }
            let result = try await body()
            await end()
            return result
        } catch {
            await end()
            throw error
        }
    }

    private func begin() async {
        guard isRunning else {
            isRunning = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func end() {
        if waiting.isEmpty {
            isRunning = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
