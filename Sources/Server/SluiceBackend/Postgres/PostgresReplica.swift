internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// Reads from a streaming replica, where it is as far as the reader has to see.
///
/// How far that is, is compared by points of the history, as the row of `sluice_counter` has them, within the transaction
/// that reads: it then sees at least that. Clients' tokens have such points, and after a failover they still tell one history
/// from another. Positions in the write-ahead log do neither.
final class PostgresReplica: Sendable {
    /// How long a read waits for a replica that is behind, and how often it looks.
    private static let patience = Duration.milliseconds(200)
    private static let pause = Duration.milliseconds(20)
    /// How long after it was lost the replica is tried again.
    private static let recovery = Duration.seconds(1)

    private struct State {
        var isHere = false
        var isClosed = false
        /// What this process has committed; nil where it does not know, so that the primary has to be asked.
        var committed: HistoryPoint?
    }

    private let workers: [PostgresWorker]
    /// The replica has the columns that the primary had: they are known by a mark of its own catalog.
    private let tables = PostgresTables()
    private let next = Atomic<Int>(0)
    private let state = Mutex(State())

    init(_ address: PostgresAddress) {
        workers = (0..<address.readers).map { _ in
            PostgresWorker(label: "sluice.postgres.replica") { try PostgresConnection(address) }
        }
        Task { [weak self] in await self?.connect() }
    }

    /// Notes what this process has committed, before anybody is told of it.
    func note(_ point: HistoryPoint?) { state.withLock { $0.committed = point } }

    func close() async {
        state.withLock { $0.isClosed = true }
        for worker in workers { await worker.close() }
    }

    /// Whether it is worth asking.
    var isHere: Bool { state.withLock { $0.isHere } }

    /// Runs `body` on the replica; nil where the primary has to answer.
    ///
    /// - Parameter latest: what the primary has committed, where the read has to see all of it.
    func read<Result: Sendable>(
        atLeast floor: ReadFloor, latest: HistoryPoint?, _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result? {
        guard let own = latest ?? state.withLock({ $0.committed }) else { return nil }
        let points = [own] + [floor.point].compactMap { $0 }
        let worker = workers[
            Int(UInt(bitPattern: next.wrappingAdd(1, ordering: .relaxed).newValue) % UInt(workers.count))]
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do {
                let outcome = try await worker.run { connection in
                    try Self.transaction(connection, tables, points, floor, body)
                }
                switch outcome {
                case .result(let result): return result
                case .other: return nil
                case .behind: if ContinuousClock.now >= deadline { return nil }
                }
            } catch let failure as PostgresFailure {
                // Whatever it is, the primary answers, or says what is wrong.
                if failure.isBroken { lost() }
                return nil
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    private enum Outcome<Result: Sendable>: Sendable {
        case result(Result)
        /// It has not come as far yet.
        case behind
        /// It is no replica any more, or was one of another history.
        case other
    }

    private static func transaction<Result: Sendable>(
        _ connection: PostgresConnection, _ tables: PostgresTables, _ points: [HistoryPoint], _ floor: ReadFloor,
        _ body: (any StorageConnection) throws -> Result
    ) throws -> Outcome<Result> {
        let transaction = try PostgresTransaction.reading(connection, tables)
        do {
            let outcome: Outcome<Result>
            if try transaction.integer("SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END") == 0 {
                outcome = .other
            } else if try hasReached(points, floor, transaction) {
                outcome = .result(try body(transaction))
            } else {
                outcome = .behind
            }
            try transaction.end()
            return outcome
        } catch {
            transaction.rollBack()
            throw error
        }
    }

    private static func hasReached(
        _ points: [HistoryPoint], _ floor: ReadFloor, _ transaction: PostgresTransaction
    ) throws -> Bool {
        for point in points where try !BackendCatalog.has(point, transaction) { return false }
        guard let (table, time) = floor.change else { return true }
        return try BackendCatalog.changes(of: table, transaction).latest >= time
    }

    private func lost() {
        let begins = state.withLock { state in
            defer { state.isHere = false }
            return state.isHere && !state.isClosed
        }
        if begins { Task { [weak self] in await self?.connect() } }
    }

    /// Connects, so that no request has to wait for that, and tries again until it succeeds.
    private func connect() async {
        while !state.withLock({ $0.isClosed }) {
            let worker = workers[0]
            if (try? await worker.run { try $0.query("SELECT value FROM sluice_counter").count }) != nil {
                return state.withLock { $0.isHere = true }
            }
            try? await Task.sleep(for: Self.recovery)
        }
    }
}
