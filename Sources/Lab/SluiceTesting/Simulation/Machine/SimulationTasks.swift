internal import Synchronization

/// The unfinished tasks of all devices.
final class SimulationTasks: Sendable {
    private struct State {
        var started = 0
        var tasks: [Int: (device: Int, task: Task<Void, Never>?)] = [:]
    }

    private let state = Mutex(State())
    private let executor: SimulationExecutor

    init(_ executor: SimulationExecutor) { self.executor = executor }

    /// Begins a task; it runs when the executor runs next.
    @discardableResult
    func start(on device: Int, _ body: @escaping @Sendable () async -> Void) -> Int {
        let number = state.withLock { state in
            state.started += 1
            state.tasks[state.started] = (device, nil)
            return state.started
        }
        let task = Task(executorPreference: executor) {
            await body()
            self.state.withLock { $0.tasks[number] = nil }
        }
        state.withLock { $0.tasks[number]?.task = task }
        return number
    }

    func isRunning(_ number: Int) -> Bool { state.withLock { $0.tasks[number] != nil } }

    /// Whether a task of the device is unfinished.
    func isBusy(_ device: Int) -> Bool { state.withLock { $0.tasks.values.contains { $0.device == device } } }

    /// Cancels the tasks of a device.
    func cancel(of device: Int) {
        let tasks = state.withLock { $0.tasks.sorted { $0.key < $1.key }.filter { $0.value.device == device } }
        for (_, entry) in tasks { entry.task?.cancel() }
    }

    var count: Int { state.withLock { $0.tasks.count } }
}
