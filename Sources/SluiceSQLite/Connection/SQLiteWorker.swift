internal import Dispatch
internal import SluiceCore

/// A connection on a queue of its own, so that waiting for the disk or a lock blocks no thread of Swift's pool.
package actor SQLiteWorker {
    private nonisolated let executor: SQLiteExecutor
    private var open: (@Sendable () throws -> SQLiteConnection)?
    private var connection: SQLiteConnection?

    /// The actor's jobs run on its queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A worker that opens its connection when it is first used. `label` names its queue.
    package init(label: String, open: @escaping @Sendable () throws -> SQLiteConnection) {
        executor = SQLiteExecutor(label: label)
        self.open = open
    }

    /// Runs `body` with the connection, alone.
    ///
    /// - Throws: what `body` throws, and ``SluiceError`` of code `storeClosed` after ``close(_:)``.
    package func run<Result: Sendable>(_ body: @Sendable (SQLiteConnection) throws -> Result) throws -> Result {
        guard let connection = try self.connection ?? open?() else {
            throw SluiceError(.storeClosed, "the store is closed; open it anew")
        }
        self.connection = connection
        return try body(connection)
    }

    /// Closes the connection, after `last` has run with it if it was ever opened. Closing twice is allowed.
    package func close(_ last: @Sendable (SQLiteConnection) throws -> Void = { _ in }) throws {
        // With it goes a connection that nobody has used.
        open = nil
        guard let connection else { return }
        self.connection = nil
        try last(connection)
    }
}

/// Runs an actor's jobs on a serial dispatch queue.
private final class SQLiteExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
