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

/// A user on a device: each token belongs to one.
struct SimulatedAccount: Hashable, Sendable {
    let user: Int
    let device: Int

    /// Returns the user's name. Users 0 and 1 have the same letters, composed for the one and decomposed for the other.
    static func name(of user: Int) -> String { "\(user % 2 == 0 ? "ren\u{e9}e" : "rene\u{301}e") \(user / 2)" }

    /// Returns the user of that name; nil for an unknown name.
    static func user(named name: String) -> Int? {
        let number = name.split(separator: " ").last.flatMap { Int($0) }
        return number.map { 2 * $0 + (name.unicodeScalars.contains("\u{301}") ? 1 : 0) }
    }
}

/// The tokens that identify users to the server: each account has one valid token at a time.
final class SimulationTokens: Sendable {
    /// The prefix of every token, so that a leaked token is found.
    static let mark = "secret-"

    private let generations = Mutex<[SimulatedAccount: Int]>([:])

    /// Returns the account's valid token.
    func current(_ account: SimulatedAccount) -> String {
        "\(Self.mark)\(account.user).\(account.device).\(generations.withLock { $0[account] ?? 0 })"
    }

    /// Invalidates the account's token.
    func expire(_ account: SimulatedAccount) { generations.withLock { $0[account, default: 0] += 1 } }

    /// Returns the user of a token; nil for an invalid one.
    func user(of token: String) -> Int? {
        guard token.hasPrefix(Self.mark) else { return nil }
        let parts = token.dropFirst(Self.mark.count).split(separator: ".").compactMap { Int($0) }
        guard parts.count == 3 else { return nil }
        return current(SimulatedAccount(user: parts[0], device: parts[1])) == token ? parts[0] : nil
    }
}
