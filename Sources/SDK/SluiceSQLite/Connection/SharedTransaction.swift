internal import SluiceCore

/// What is done around the transactions of a connection.
package struct TransactionFrame: Sendable {
    /// Before one begins; what it returns ends it, come what may.
    var begin: @Sendable () throws -> @Sendable () -> Void
    /// In the transaction, before it is committed; what it returns is done when that has succeeded.
    var beforeCommit: @Sendable (SQLiteConnection) throws -> @Sendable (SQLiteConnection) -> Void

    /// A frame; by default nothing is done.
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

/// An open transaction of a worker's connection, and who waits for its commit. It is for the worker's thread.
final class SharedTransaction {
    /// The transaction could not be committed as a whole: its parts run again, each alone.
    struct Lost: Error {}

    /// How many parts one has at the most, and for how long it takes up new ones.
    private static let mostParts = 256
    private static let longest = Duration.milliseconds(20)

    private let frame: TransactionFrame
    private let connection: SQLiteConnection
    private let end: @Sendable () -> Void
    private let begun = ContinuousClock.now
    private var waiting: [CheckedContinuation<Void, any Error>] = []
    /// What came of it, once it is over: who comes to wait only then is told at once. A task may leave the worker on its way
    /// to the wait, where it prefers another executor.
    private var outcome: Result<Void, Lost>?

    /// Begins one.
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

    /// Whether it is to be committed although others wait to join it.
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

    /// Commits it for the one part that it has.
    func commit() throws {
        let done = try frame.beforeCommit(connection)
        try connection.commit()
        done(connection)
        end()
    }

    /// Takes it back.
    func giveUp() {
        connection.rollBack()
        connection.catalog.forget()
        end()
    }

    /// Notes that a part was taken back.
    func partFailed() { connection.catalog.forget() }

    /// Commits it, and tells those who wait for it: that it is done, or that it is ``Lost``.
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
