internal import CSluice

/// Runs a task on the thread that waits for it: each step of the task outside actors, and callbacks that the task
/// requests on that thread.
///
/// So a blocking call needs no thread of Swift's pool, whose few threads may all be busy. A step costs no more changes
/// of threads than the same call from Swift.
final class CallerExecutor: TaskExecutor, @unchecked Sendable {
    private enum Step {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    /// The executor of the thread that waits for the task.
    @TaskLocal static var current: CallerExecutor?

    private let monitor = Monitor()
    /// Both only with the monitor.
    private var steps: [Step] = []
    private var isOpen = false

    /// Executors that are not in use. None is ever freed: the runtime keeps no reference to an executor.
    private static let idle = IdleLoops()

    /// Runs `body` as a task, and waits for its end.
    ///
    /// - Parameter started: gets a closure that cancels the task.
    static func run<Result: Sendable>(
        started: (@escaping @Sendable () -> Void) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws -> Result
    ) throws -> Result {
        let loop = idle.take()
        defer { idle.give(loop) }
        let outcome = Outcome<Result>()
        loop.monitor.locked { loop.isOpen = true }
        let task = Task(executorPreference: loop) {
            do {
                outcome.result = .success(try await $current.withValue(loop, operation: body))
            } catch {
                outcome.result = .failure(error)
            }
            loop.end()
        }
        started { task.cancel() }
        loop.work()
        guard let result = outcome.result else {
            throw Failure(SLUICE_ERROR_OTHER, "a task ended without a result")
        }
        return try result.get()
    }

    /// Makes the thread of the loop call `body`; false if it no longer waits.
    func perform(_ body: @escaping @Sendable () -> Void) -> Bool { add(.call(body)) }

    /// Takes a step of the task. Steps after the end, such as an actor's turn that began with the task, go to the pool.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !add(.job(job)) { globalConcurrentExecutor.enqueue(job) }
    }

    private func add(_ step: Step) -> Bool {
        monitor.locked {
            guard isOpen else { return false }
            steps.append(step)
            monitor.signal()
            return true
        }
    }

    private func end() {
        monitor.locked {
            isOpen = false
            monitor.signal()
        }
    }

    private func work() {
        monitor.locked {
            while true {
                guard !steps.isEmpty else {
                    guard isOpen else { return }
                    monitor.wait()
                    continue
                }
                let step = steps.removeFirst()
                monitor.unlocked {
                    switch step {
                    case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
                    case .call(let body): body()
                    }
                }
            }
        }
    }
}

/// A task's result for the waiting thread: written before the loop's end, read after it.
private final class Outcome<Value: Sendable>: @unchecked Sendable {
    var result: Result<Value, any Error>?
}

/// Loops that wait for their next call.
private final class IdleLoops: @unchecked Sendable {
    private let monitor = Monitor()
    private var loops: [CallerExecutor] = []

    func take() -> CallerExecutor { monitor.locked { loops.popLast() } ?? CallerExecutor() }

    func give(_ loop: CallerExecutor) { monitor.locked { loops.append(loop) } }
}
