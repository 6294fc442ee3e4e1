internal import Foundation
internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// Writes for all requests of the process: what comes in while a transaction is under way is committed together by the
/// next one.
final class PostgresWriter: Sendable {
    /// How many writes one transaction takes, and how many may wait.
    private static let mostTogether = 64
    private static let longestQueue = 2000
    /// How often a transaction is tried again where another was in its way or the connection was lost.
    private static let mostTries = 4
    /// For how long it is tried to find out what became of a commit.
    private static let patience = Duration.seconds(18)

    private struct State {
        /// Those that wait, in the order of their numbers.
        var waiting: [PostgresWrite] = []
        var next = 0
        var isRunning = false
    }

    private let address: PostgresAddress
    private let worker: PostgresWorker
    private let state = Mutex(State())
    private let committed = CommitAction()
    private let session: PostgresSession
    /// Is told what was committed, or nil where that is not known, before anybody else is.
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

    /// Refuses a write that waits still. One that has begun goes on.
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
                // One of them ended the transaction for all.
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

    /// Runs writes as one transaction and tells each what came of it; false, and nothing said, where they have to be run
    /// one by one.
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
                    // Others that were in the way have to end first; each waits for another length of time.
                    try? await Task.sleep(for: .milliseconds(Int64.random(in: 5...25) << Int64(tries)))
                    continue
                }
                // A lost connection is the fault of none of them.
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
                    // It was refused before it wrote anything.
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

    /// Whether the transaction with that number is in the database; nil where that cannot be found out now.
    private func outcome(of attempt: Int64) async -> Bool? {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
            let process = session.process
            let found = try? await worker.run { connection -> Bool in
                // Where the lost transaction is still under way, it holds the row: this waits for its end.
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

    /// The connection was lost during a commit.
    private struct CommitLost: Error {
        var attempt: Int64
        var outcomes: [Result<Void, any Error>]
        var failure: PostgresFailure
    }
}

/// A write that waits for its transaction.
struct PostgresWrite: Sendable {
    var number: Int
    /// Until when it has to have begun.
    var deadline: ContinuousClock.Instant
    var run: @Sendable (any StorageConnection) throws -> Void
    var end: @Sendable (Result<Void, any Error>) -> Void
}

/// The process as the database knows it: a name, and the numbers of its transactions.
final class PostgresSession: Sendable {
    /// A name that no other process has.
    let process: String
    /// Whether transactions take the lock that puts them in order. A test finds out what comes of it without.
    let ordered: Bool
    @TaskLocal static var isOrdered = true
    /// The tables with their columns, as the process's transactions find them.
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

    /// Makes or checks the catalog through a new connection, and begins a run of the history where the server is another
    /// than before: a replica that was promoted, or a backup, may lack the last changes and would give their numbers out
    /// again.
    func begin(_ connection: PostgresConnection) throws {
        try PostgresCatalog.prepare(connection)
        // Under another name: what the process's last transaction has noted is what is asked for after a commit was lost.
        let transaction = try PostgresTransaction.writing(
            connection, tables, process: "begin", attempt: 0, ordered: true)
        do {
            let timeline = "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
            let found = try transaction.run("SELECT timeline, \(timeline) FROM sluice_identity").first
            if let found, found[0] != found[1] {
                try transaction.run("UPDATE sluice_identity SET timeline = \(timeline)")
                // In a new database the backend begins the first one.
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
