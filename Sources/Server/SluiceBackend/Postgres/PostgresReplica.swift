internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// Reads from a streaming replica while it is recent enough for the reader.
///
/// The replica's state is compared by the point of the history in `sluice_counter`, within the reading transaction,
/// which then sees at least that point. Points are also in clients' tokens, and they distinguish the histories before
/// and after a failover. Positions in the write-ahead log offer neither.
final class PostgresReplica: Sendable {
    /// The longest wait of a read for a lagging replica, and the interval of its checks.
    private static let patience = Duration.milliseconds(200)
    private static let pause = Duration.milliseconds(20)
    /// The pause before a lost replica is tried again.
    private static let recovery = Duration.seconds(1)

    private struct State {
        var isHere = false
        var isClosed = false
        /// The latest point committed by this process; nil if unknown, so that the primary has to be asked.
        var committed: HistoryPoint?
    }

    private let workers: [PostgresWorker]
    /// The replica's tables, known by the mark of its own catalog, because its columns may lag behind the primary's.
    private let tables = PostgresTables()
    private let next = Atomic<Int>(0)
    private let state = Mutex(State())

    init(_ address: PostgresAddress) {
        workers = (0..<address.readers).map { _ in
            PostgresWorker(label: "sluice.postgres.replica") { try PostgresConnection(address) }
        }
        Task { [weak self] in await self?.connect() }
    }

    /// Records this process's commit before it is reported to anyone.
    func note(_ point: HistoryPoint?) { state.withLock { $0.committed = point } }

    func close() async {
        state.withLock { $0.isClosed = true }
        for worker in workers { await worker.close() }
    }

    /// Whether the replica is connected.
    var isHere: Bool { state.withLock { $0.isHere } }

    /// Runs `body` on the replica; nil if the primary has to answer.
    ///
    /// - Parameter latest: the primary's latest point, if the read needs the latest state.
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
                // After any failure the primary answers, or reports the error.
                if failure.isBroken { lost() }
                return nil
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    private enum Outcome<Result: Sendable>: Sendable {
        case result(Result)
        /// The replica lags behind the required point.
        case behind
        /// The server is no longer a replica, or belongs to another history.
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

    /// Connects in the background, so that no request waits for it, and retries until it succeeds.
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
