internal import Dispatch
internal import SluiceCore

/// A connection on a queue of its own, so that waiting for the server blocks no thread of Swift's pool. A lost
/// connection is reopened at the next use.
package actor PostgresWorker {
    private nonisolated let executor: PostgresExecutor
    private let open: @Sendable () throws -> PostgresConnection
    private var connection: PostgresConnection?
    private var isClosed = false

    /// The executor that runs the actor's jobs on the queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a worker that opens its connection at the first use. `label` names its queue.
    package init(label: String, open: @escaping @Sendable () throws -> PostgresConnection) {
        executor = PostgresExecutor(label: label)
        self.open = open
    }

    /// Runs `body` with exclusive use of the connection.
    ///
    /// - Parameter deadline: the latest time to begin; nil for no limit.
    /// - Throws: the error of `body`, ``PostgresFailure`` without an SQLSTATE after the deadline, and ``SluiceError``
    ///   of code `storeClosed` after ``close()``.
    package func run<Result: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, _ body: @Sendable (PostgresConnection) throws -> Result
    ) throws -> Result {
        if let deadline, ContinuousClock.now >= deadline { throw PostgresFailure.tooLate }
        guard !isClosed else { throw SluiceError(.storeClosed, "the storage is closed; open it again") }
        let connection = try self.connection.flatMap { $0.isOpen ? $0 : nil } ?? open()
        self.connection = connection
        return try body(connection)
    }

    /// Closes the connection.
    package func close() {
        isClosed = true
        connection?.close()
        connection = nil
    }
}

/// Runs an actor's jobs on a serial dispatch queue.
private final class PostgresExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
