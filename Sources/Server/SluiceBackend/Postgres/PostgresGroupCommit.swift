internal import Foundation
internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// Writes for all requests of the process. Writes that arrive during a transaction are committed together by the next
/// one.
final class PostgresGroupCommit: Sendable {
    /// The most writes in one transaction, and the most waiting ones.
    private static let mostTogether = 64
    private static let longestQueue = 2000
    /// The most tries of a transaction after a conflict with another or a lost connection.
    private static let mostTries = 4
    /// The longest search for the outcome of a commit.
    private static let patience = Duration.seconds(18)

    private struct State {
        /// The waiting writes, in the order of their numbers.
        var waiting: [PostgresWrite] = []
        var next = 0
        var isRunning = false
    }

    private let address: PostgresAddress
    private let worker: PostgresWorker
    private let state = Mutex(State())
    private let committed = CommitAction()
    private let session: PostgresSession
    /// Called with each committed point, or nil if it is unknown, before the commit is reported to anyone.
    private let note: @Sendable (HistoryPoint?) -> Void

    init(
        _ address: PostgresAddress, _ environment: SyncEnvironment, _ tables: PostgresTables,
        note: @escaping @Sendable (HistoryPoint?) -> Void = { _ in }
    ) {
        self.address = address
        self.note = note
        let session = PostgresSession(environment, tables)
        self.session = session
        worker = PostgresWorker(label: "sluice.postgres.writer") {
            let connection = try PostgresConnection(address)
            try session.begin(connection)
            return connection
        }
    }

    func onCommit(_ action: @escaping @Sendable () -> Void) { committed.set(action) }

    func close() async { await worker.close() }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result {
        let result = Mutex<Result?>(nil)
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let deadline = ContinuousClock.now + address.patience
        let limit = Task { [weak self] in
            try await Task.sleep(until: deadline)
            self?.giveUp(number)
        }
        defer { limit.cancel() }
        try await withCheckedThrowingContinuation { (turn: CheckedContinuation<Void, any Error>) in
            let write = PostgresWrite(
                number: number, deadline: deadline,
                run: { connection in
                    let value = try body(connection)
                    result.withLock { $0 = value }
                }, end: { turn.resume(with: $0) })
            let isFull = state.withLock { state in
                guard state.waiting.count < Self.longestQueue else { return true }
                state.waiting.append(write)
                if !state.isRunning {
                    state.isRunning = true
                    Task { await drain() }
                }
                return false
            }
            if isFull {
                turn.resume(throwing: SluiceError(.storeBusy, "too many writes wait for the database; try again"))
            }
        }
        guard let value = result.withLock({ $0 }) else {
            throw SluiceError(.storeInputOutput, "a write ended without a result")
        }
        return value
    }

    /// Refuses a write that is still waiting. A started one continues.
    private func giveUp(_ number: Int) {
        let write = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        write?.end(.failure(PostgresFailure.tooLate.error(address)))
    }

    private func drain() async {
        while true {
            let writes = state.withLock { state in
                let next = Array(state.waiting.prefix(Self.mostTogether))
                state.waiting.removeFirst(next.count)
                if next.isEmpty { state.isRunning = false }
                return next
            }
            if writes.isEmpty { return }
            if await !commit(writes) {
                // One of the writes has ended the transaction for all.
                for write in writes {
                    if ContinuousClock.now < write.deadline {
                        _ = await commit([write])
                    } else {
                        write.end(.failure(PostgresFailure.tooLate.error(address)))
                    }
                }
            }
        }
    }

    /// Runs writes as one transaction and reports the outcome to each; returns false without a report if they have to
    /// run one by one.
    private func commit(_ writes: [PostgresWrite]) async -> Bool {
        var tries = 1
        while true {
            do {
                let outcomes = try await worker.run { try self.transaction(writes, $0) }
                committed()
                for (write, outcome) in zip(writes, outcomes) { write.end(outcome) }
                return true
            } catch let lost as CommitLost {
                switch await outcome(of: lost.attempt) {
                case true?:
                    note(nil)
                    committed()
                    for (write, outcome) in zip(writes, lost.outcomes) { write.end(outcome) }
                    return true
                case false? where tries < Self.mostTries: tries += 1
                case false?: return fail(writes, lost.failure.error(address))
                case nil:
                    return fail(
                        writes,
                        SluiceError(
                            .storeBusy,
                            "the database \(address) was lost while it committed, and what became of it is not known "
                                + "yet; send the request again with the same Repeatability-Request-ID",
                            cause: lost.failure))
                }
            } catch let failure as PostgresFailure {
                let isInTime = writes.contains { ContinuousClock.now < $0.deadline }
                if failure.isTransient, tries < Self.mostTries, isInTime {
                    tries += 1
                    // The conflicting transactions have to end first; random pauses keep the retries apart.
                    try? await Task.sleep(for: .milliseconds(Int64.random(in: 5...25) << Int64(tries)))
                    continue
                }
                // None of the writes has caused the lost connection.
                if writes.count > 1, !failure.isBroken { return false }
                return fail(writes, failure.error(address))
            } catch {
                if writes.count > 1 { return false }
                return fail(writes, error)
            }
        }
    }

    private func fail(_ writes: [PostgresWrite], _ error: any Error) -> Bool {
        for write in writes { write.end(.failure(error)) }
        return true
    }

    private func transaction(
        _ writes: [PostgresWrite], _ connection: PostgresConnection
    ) throws -> [Result<Void, any Error>] {
        let attempt = session.nextAttempt()
        let transaction = try PostgresTransaction.writing(
            connection, session.tables, process: session.process, attempt: attempt, ordered: session.ordered)
        var outcomes: [Result<Void, any Error>] = []
        do {
            for write in writes {
                let changes = connection.changes
                do {
                    try write.run(transaction)
                    outcomes.append(.success(()))
                } catch let failure as PostgresFailure {
                    throw failure
                } catch  where writes.count > 1 && connection.changes == changes {
                    // The transaction was refused before it wrote anything.
                    outcomes.append(.failure(error))
                }
            }
        } catch {
            transaction.rollBack()
            throw error
        }
        do {
            note(try transaction.commit())
        } catch let failure as PostgresFailure where failure.isBroken {
            throw CommitLost(attempt: attempt, outcomes: outcomes, failure: failure)
        } catch {
            transaction.rollBack()
            throw error
        }
        return outcomes
    }

    /// Whether the transaction with that number was committed; nil if this cannot be determined now.
    private func outcome(of attempt: Int64) async -> Bool? {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
            let process = session.process
            let found = try? await worker.run { connection -> Bool in
                // A lost transaction still in progress holds the row: this waits for its end.
                do {
                    let results = try connection.execute(
                        "BEGIN READ WRITE; SET LOCAL lock_timeout = 15000; SELECT attempt FROM sluice_processes "
                            + "WHERE id = \(try connection.literal(process)) FOR UPDATE; COMMIT")
                    return results.contains { $0.count == 1 && $0.integer(0, 0) == attempt }
                } catch {
                    if connection.isOpen { _ = try? connection.execute("ROLLBACK") }
                    throw error
                }
            }
            if let found { return found }
            try? await Task.sleep(for: .milliseconds(250))
        }
        return nil
    }

    /// The error of a connection lost during a commit.
    private struct CommitLost: Error {
        var attempt: Int64
        var outcomes: [Result<Void, any Error>]
        var failure: PostgresFailure
    }
}

/// A write waiting for its transaction.
struct PostgresWrite: Sendable {
    var number: Int
    /// The latest time to begin.
    var deadline: ContinuousClock.Instant
    var run: @Sendable (any StorageConnection) throws -> Void
    var end: @Sendable (Result<Void, any Error>) -> Void
}

/// The process's identity in the database: a name, and the numbers of its transactions.
final class PostgresSession: Sendable {
    /// The unique name of the process.
    let process: String
    /// Whether transactions take the lock that orders them. A test shows the failures without it.
    let ordered: Bool
    @TaskLocal static var isOrdered = true
    /// The tables with their columns, shared by the process's transactions.
    let tables: PostgresTables
    private let environment: SyncEnvironment
    private let attempts = Mutex<Int64>(0)

    init(_ environment: SyncEnvironment, _ tables: PostgresTables) {
        self.tables = tables
        process = UUID().uuidString.lowercased()
        ordered = Self.isOrdered
        self.environment = environment
    }

    func nextAttempt() -> Int64 {
        attempts.withLock { attempts in
            attempts += 1
            return attempts
        }
    }

    /// Creates or checks the catalog through a new connection. Begins a run of the history if the server is another
    /// than before: a promoted replica or a backup may lack the last changes and would assign their numbers again.
    func begin(_ connection: PostgresConnection) throws {
        try PostgresCatalog.prepare(connection)
        // Another name is used, because the record of the process's last transaction is still needed after a lost
        // commit.
        let transaction = try PostgresTransaction.writing(
            connection, tables, process: "begin", attempt: 0, ordered: true)
        do {
            let timeline = "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
            let found = try transaction.run("SELECT timeline, \(timeline) FROM sluice_identity").first
            if let found, found[0] != found[1] {
                try transaction.run("UPDATE sluice_identity SET timeline = \(timeline)")
                // In a new database the backend begins the first run.
                if found[0] != .null { try BackendCatalog.beginRun(chance: environment.random(), transaction) }
            }
            try transaction.run("DELETE FROM sluice_processes WHERE seen < now() - interval '30 days'")
            _ = try transaction.commit()
        } catch {
            transaction.rollBack()
            throw error
        }
    }
}
