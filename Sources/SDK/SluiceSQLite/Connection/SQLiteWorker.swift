internal import Dispatch
internal import SluiceCore
internal import Synchronization

/// A connection on a queue of its own, so that waiting for the disk or a lock blocks no thread of Swift's pool.
package actor SQLiteWorker {
    private nonisolated let executor: SQLiteExecutor
    private var open: (@Sendable () throws -> SQLiteConnection)?
    private var connection: SQLiteConnection?
    /// The open transaction that further writes may join.
    private var shared: SharedTransaction?
    /// The number of writes that were requested and have not begun.
    private nonisolated let coming = Atomic<Int>(0)

    /// The actor's jobs run on its queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A worker that opens its connection when it is first used. `label` names its queue.
    package init(label: String, open: @escaping @Sendable () throws -> SQLiteConnection) {
        executor = SQLiteExecutor(label: label)
        self.open = open
    }

    /// Runs `body` with the connection, alone.
    ///
    /// - Throws: any error of `body`, and ``SluiceError`` of code `storeClosed` after ``close(_:)``.
    package func run<Result: Sendable>(_ body: @Sendable (SQLiteConnection) throws -> Result) throws -> Result {
        commitShared()
        return try body(try connected())
    }

    /// Runs `body` as ``run(_:)`` does, but blocks the calling thread until its turn. Only for callers outside Swift's
    /// thread pool.
    package nonisolated func runHere<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws -> Result
    ) throws -> Result {
        try executor.here { try assumeIsolated { worker in try worker.run(body) } }
    }

    private func connected() throws -> SQLiteConnection {
        guard let connection = try self.connection ?? open?() else {
            throw SluiceError(.storeClosed, "the store is closed; open it again")
        }
        self.connection = connection
        return connection
    }

    // MARK: Transactions

    /// Runs `body` as a transaction, which is committed when this returns.
    ///
    /// Each commit waits for the disk. So the transactions of tasks that write at the same time become parts of one:
    /// each is rolled back alone if its body throws, and none returns before the whole is committed. If that fails,
    /// each runs again alone, so that no write fails because of another.
    ///
    /// - Parameter frame: the steps around a commit.
    package nonisolated func write<Result: Sendable>(
        _ frame: TransactionFrame, _ body: @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        coming.add(1, ordering: .relaxed)
        do {
            return try await part(frame, body)
        } catch is SharedTransaction.Lost {
            return try await alone(frame, body)
        }
    }

    /// Runs `body` as a transaction of its own.
    package func alone<Result: Sendable>(
        _ frame: TransactionFrame, _ body: @Sendable (SQLiteConnection) throws -> Result
    ) throws -> Result {
        commitShared()
        let connection = try connected()
        let transaction = try SharedTransaction(frame, connection)
        do {
            let result = try body(connection)
            try transaction.commit()
            return result
        } catch {
            transaction.giveUp()
            throw error
        }
    }

    /// Runs `body` as a part. The part that commits the shared transaction yields, so that earlier parts go on first.
    private func part<Result: Sendable>(
        _ frame: TransactionFrame, _ body: @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        coming.subtract(1, ordering: .relaxed)
        let connection = try connected()
        guard let shared else {
            let transaction = try SharedTransaction(frame, connection)
            let result: Result
            do {
                result = try body(connection)
                if coming.load(ordering: .relaxed) == 0 {
                    try transaction.commit()
                    return result
                }
            } catch {
                transaction.giveUp()
                throw error
            }
            self.shared = transaction
            try await transaction.committed()
            return result
        }
        let result: Result
        do {
            result = try connection.part { try body(connection) }
        } catch {
            shared.partFailed()
            if !connection.isInTransaction || isLast(shared) {
                commitShared()
                await Task.yield()
            }
            throw error
        }
        if isLast(shared) {
            commitShared()
            await Task.yield()
        }
        try await shared.committed()
        return result
    }

    /// Whether no other write is waiting to join the transaction.
    private func isLast(_ transaction: SharedTransaction) -> Bool {
        coming.load(ordering: .relaxed) == 0 || transaction.isFull
    }

    /// Commits the open shared transaction, if there is one.
    private func commitShared() {
        guard let transaction = shared else { return }
        shared = nil
        transaction.commitForAll()
    }

    /// Closes the connection, after `last` has run with it if it was ever opened. Closing twice is allowed.
    package func close(_ last: @Sendable (SQLiteConnection) throws -> Void = { _ in }) throws {
        // This also releases a connection that was never used.
        open = nil
        commitShared()
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

    /// Runs `body` on the calling thread, in its turn.
    func here<Result>(_ body: () throws -> Result) rethrows -> Result { try queue.sync(execute: body) }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
