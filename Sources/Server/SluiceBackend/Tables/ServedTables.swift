internal import HTTPTypes
internal import Logging
internal import SluiceCore
internal import Synchronization

/// The open database and its tables, with the services for every request: authentication, hooks and limits.
final class ServedTables: Sendable {
    let configuration: BackendConfiguration
    let environment: SyncEnvironment
    /// Gets each failure with its cause, which is hidden from clients.
    let logger: Logger
    let database: any Storage
    /// Authenticates the users of requests; nil if no request has a user.
    let authenticator: Authenticator?
    /// The hooks, by table.
    let hooks: [String: any TableHooks]
    private let tables: Mutex<[String: BackendTable]>
    /// Notifies change streams of their table's changes.
    let signals: CommitSignals
    /// Limits the concurrent reads of change streams.
    let turns = StreamTurns(4)
    /// Counts the requests of each client; nil if there is no limit.
    let limiter: RateLimiter?
    /// See ``Backend/restoredRecords``.
    let restoredRecords: Int?

    /// Creates the missing tables with their seeds. After a failure the database stays open.
    ///
    /// - Throws: ``SluiceError`` as ``Backend``'s initializer.
    init(
        _ configuration: BackendConfiguration, _ database: any Storage, hooks: [String: any TableHooks],
        environment: SyncEnvironment, logger: Logger
    ) async throws {
        self.logger = logger
        self.configuration = configuration
        self.environment = environment
        self.database = database
        self.hooks = hooks
        limiter = configuration.rateLimit.map { RateLimiter($0, now: environment.steady) }
        if let rules = configuration.authentication {
            authenticator = try await Authenticator(rules, now: environment.now)
        } else {
            authenticator = nil
        }
        signals = CommitSignals { [weak database] table in
            try? await database?.read { try BackendCatalog.changes(of: table, $0).latest }
        }
        database.onCommit { [signals] in signals.committed() }
        let mark = database.markFile?.read()
        let (tables, restored) = try await database.write { connection -> ([String: BackendTable], Int?) in
            let isRestored = try database.markFile != nil && BackendCatalog.isRestored(mark, connection)
            try BackendCatalog.beginRun(chance: environment.random(), connection)
            var tables: [String: BackendTable] = [:]
            for rules in configuration.tables {
                tables[rules.name] = try BackendTable.open(rules, environment: environment, connection)
            }
            guard isRestored else { return (tables, nil) }
            let count = try BackendTable.stampAnew(tables.values, mark, now: environment.now(), connection)
            return (tables, count)
        }
        self.tables = Mutex(tables)
        restoredRecords = restored
        if !missingColumns.isEmpty { Task { [weak self] in await self?.addMissingColumns() } }
        try await database.requireMark()
    }

    /// The tables, in the order of the configuration.
    var all: [BackendTable] {
        let tables = tables.withLock { $0 }
        return configuration.tables.compactMap { tables[$0.name] }
    }

    func table(_ name: String) -> BackendTable? { tables.withLock { $0[name] } }

    /// The declared columns missing in the database, by table.
    var missingColumns: [String: [PropertyName]] {
        tables.withLock { $0.mapValues(\.missing) }.filter { !$0.value.isEmpty }
    }

    /// Adds the missing declared columns, as soon as their tables are not in use.
    private func addMissingColumns() async {
        for (table, columns) in missingColumns {
            logger.warning(
                "a table is in use by another transaction; columns are added when it ends",
                metadata: ["table": "\(table)", "columns": "\(columns.map(\.text).joined(separator: ", "))"])
        }
        while !missingColumns.isEmpty, (try? await Task.sleep(for: .seconds(1))) != nil {
            for rules in configuration.tables where missingColumns[rules.name] != nil {
                do {
                    let table = try await database.write { [environment] connection in
                        try BackendTable.open(rules, environment: environment, connection)
                    }
                    tables.withLock { $0[rules.name] = table }
                } catch let error as SluiceError where error.code == .storeClosed {
                    return
                } catch {
                    logger.warning("columns not added", error: error, metadata: ["table": "\(rules.name)"])
                }
            }
        }
    }

    /// Returns the client's refusal for a failure. The log gets the cause, such as an SQLSTATE with the database's
    /// message.
    func refusal(of error: any Error, _ head: HTTPRequest) -> Refusal {
        if let refusal = error as? Refusal { return refusal.hiding(head) }
        let known = error as? SluiceError
        let refusal = known.map { Refusal($0) } ?? Refusal(.internalServerError, "the request failed")
        if refusal.status.code >= 500, !(error is CancellationError) {
            logger.error(
                "a request failed: \(known?.message ?? "\(error)")",
                metadata: [
                    "method": "\(head.method.rawValue)", "path": "\((head.path ?? "").prefix { $0 != "?" })",
                    "status": "\(refusal.status.code)", "code": "\(known?.code.description ?? "none")",
                    "cause": "\(known?.cause.map { "\($0)" } ?? "none")",
                ])
        }
        return refusal.hiding(head)
    }

    /// Returns the time of the table's latest change; nil for a missing table.
    func newestChange(of name: String) async -> Timestamp? {
        guard table(name) != nil else { return nil }
        return try? await database.read { try BackendCatalog.changes(of: name, $0).latest }
    }
}

/// Limits the number of streams that read at a time. One commit wakes all streams of a table, and together they would
/// fill the queue of the database.
final class StreamTurns: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// The index of the next waiting caller; all before it have had their turn.
        var first = 0
    }

    private let state: Mutex<State>

    /// Creates turns for a number of concurrent callers.
    init(_ count: Int) { state = Mutex(State(free: count)) }

    /// Runs `body` when it is its turn.
    func take<Result: Sendable>(_ body: @Sendable () async -> Result) async -> Result {
        await withCheckedContinuation { turn in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(turn)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { turn.resume() }
        }
        defer { pass() }
        return await body()
    }

    /// Passes the turn to the caller that has waited longest.
    private func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.first < state.waiting.count else {
                (state.waiting, state.first) = ([], 0)
                state.free += 1
                return nil
            }
            defer { state.first += 1 }
            return state.waiting[state.first]
        }
        next?.resume()
    }
}
