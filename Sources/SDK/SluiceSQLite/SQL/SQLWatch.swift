internal import CSQLite
internal import SluiceCore
internal import Synchronization

/// Ends a statement when its time is over or its task is cancelled. Any thread may cancel it.
final class SQLWatch: Sendable {
    private let limit: Duration
    private let end = Mutex<ContinuousClock.Instant?>(nil)
    private let isCancelled = Atomic<Bool>(false)
    /// The number of steps of SQLite's virtual machine between two checks of the clock: a few microseconds.
    private static let steps: Int32 = 1000

    init(limit: Duration) { self.limit = limit }

    /// Ends the statement at the next check.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Runs `body`, and interrupts its statements once there is a reason.
    func guarding<Result>(_ connection: SQLiteConnection, _ body: () throws -> Result) throws -> Result {
        // A clock has room for a limited number of seconds; these are thirty years.
        let limit = min(limit, .seconds(1_000_000_000))
        end.withLock { $0 = ContinuousClock.now.advanced(by: limit) }
        let api = connection.api
        api.pointee.progress_handler(
            connection.handle, Self.steps, mayEnd, Unmanaged.passUnretained(self).toOpaque())
        defer { api.pointee.progress_handler(connection.handle, 0, nil, nil) }
        return try withExtendedLifetime(self) { try body() }
    }

    /// The reason for ending the statement; nil while it may go on.
    var reason: SluiceError? {
        if isCancelled.load(ordering: .relaxed) {
            return SluiceError(.cancelled, "the statement's task was cancelled")
        }
        guard let end = end.withLock({ $0 }), ContinuousClock.now >= end else { return nil }
        return SluiceError(.limitReached, "the statement ran longer than the time limit of \(limit)")
    }
}

/// A result other than zero interrupts the statement.
private func mayEnd(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<SQLWatch>.fromOpaque(context).takeUnretainedValue().reason == nil ? 0 : 1
}
