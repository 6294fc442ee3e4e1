internal import SluiceCore

/// The open database and its tables, with what every request to them needs: who may come, the hooks, the limits.
final class ServedTables: Sendable {
    let configuration: BackendConfiguration
    let environment: SyncEnvironment
    let database: any Storage
    /// Finds out whom requests come from; nil where no request has a user.
    let authenticator: Authenticator?
    /// The hooks, by table.
    let hooks: [String: any TableHooks]
    private let tables: [String: BackendTable]
    /// Tells streams of changes that their table has changed.
    let signals: CommitSignals
    /// Counts the requests of each client; nil where there is no limit.
    let limiter: RateLimiter?
    /// See ``Backend/restoredRecords``.
    let restoredRecords: Int?

    /// Makes the tables that the database does not hold yet, with their seeds. Where it fails the database stays open.
    ///
    /// - Throws: ``SluiceError``, as ``Backend`` says.
    init(
        _ configuration: BackendConfiguration, _ database: any Storage, hooks: [String: any TableHooks],
        environment: SyncEnvironment
    ) async throws {
        self.configuration = configuration
        self.environment = environment
        self.database = database
        self.hooks = hooks
        limiter = configuration.rateLimit.map { RateLimiter($0, now: environment.now) }
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
        (tables, restoredRecords) = try await database.write { connection -> ([String: BackendTable], Int?) in
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
        try await database.requireMark()
    }

    /// The tables, in the order of the configuration.
    var all: [BackendTable] { configuration.tables.compactMap { tables[$0.name] } }

    func table(_ name: String) -> BackendTable? { tables[name] }

    /// When the table changed last; nil for a table that there is not.
    func newestChange(of name: String) async -> Timestamp? {
        guard table(name) != nil else { return nil }
        return try? await database.read { try BackendCatalog.changes(of: name, $0).latest }
    }
}
