internal import SluiceCore

/// The steps around the transactions of a connection.
package struct TransactionFrame: Sendable {
    /// Runs before a transaction begins. The returned closure runs at its end, whether it succeeded or not.
    var begin: @Sendable () throws -> @Sendable () -> Void
    /// Runs in the transaction, before the commit. The returned closure runs after a successful commit.
    var beforeCommit: @Sendable (SQLiteConnection) throws -> @Sendable (SQLiteConnection) -> Void

    /// Creates a frame; by default it does nothing.
    package init(
        begin: @escaping @Sendable () throws -> @Sendable () -> Void = { {} },
        beforeCommit: @escaping @Sendable (SQLiteConnection) throws -> @Sendable (SQLiteConnection) -> Void = { _ in
            { _ in }
        }
    ) {
        self.begin = begin
        self.beforeCommit = beforeCommit
    }
}

/// An open transaction of a worker's connection, with the tasks that wait for its commit. It is for the worker's
/// thread.
final class SharedTransaction {
    /// The transaction could not be committed as a whole: its parts run again, each alone.
    struct Lost: Error {}

    /// The largest number of parts, and the time during which new ones may join.
    private static let mostParts = 256
    private static let longest = Duration.milliseconds(20)

    private let frame: TransactionFrame
    private let connection: SQLiteConnection
    private let end: @Sendable () -> Void
    private let begun = ContinuousClock.now
    private var waiting: [CheckedContinuation<Void, any Error>] = []
    /// The outcome, once the transaction is over: a task that begins to wait only then gets it at once. A task may
    /// leave the worker on its way to the wait, if it prefers another executor.
    private var outcome: Result<Void, Lost>?

    /// Begins a transaction.
    init(_ frame: TransactionFrame, _ connection: SQLiteConnection) throws {
        self.frame = frame
        self.connection = connection
        end = try frame.begin()
        do {
            try connection.execute(SQLiteConnection.TransactionKind.immediate.rawValue)
        } catch {
            end()
            throw error
        }
    }

    /// Whether the transaction is to be committed although others wait to join it.
    var isFull: Bool { waiting.count >= Self.mostParts || ContinuousClock.now - begun > Self.longest }

    /// Waits for the commit.
    ///
    /// - Throws: ``Lost``.
    func committed(isolation: isolated (any Actor)? = #isolation) async throws {
        try await withCheckedThrowingContinuation { part in
            switch outcome {
            case nil: waiting.append(part)
            case .success: part.resume()
            case .failure(let lost): part.resume(throwing: lost)
            }
        }
    }

    /// Commits the transaction for its only part.
    func commit() throws {
        let done = try frame.beforeCommit(connection)
        try connection.commit()
        done(connection)
        end()
    }

    /// Rolls the transaction back.
    func giveUp() {
        connection.rollBack()
        connection.catalog.forget()
        end()
    }

    /// Notes that a part was rolled back.
    func partFailed() { connection.catalog.forget() }

    /// Commits the transaction, and resumes the waiting parts: with success, or with ``Lost``.
    func commitForAll() {
        do {
            // Some failures of a part end the whole transaction.
            guard connection.isInTransaction else { throw Lost() }
            try commit()
        } catch {
            giveUp()
            outcome = .failure(Lost())
            for part in waiting { part.resume(throwing: Lost()) }
            return
        }
        outcome = .success(())
        for part in waiting { part.resume() }
    }
}
