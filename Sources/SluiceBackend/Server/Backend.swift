internal import HTTPTypes
internal import SluiceConfiguration
public import SluiceCore

/// The embedded backend: tables in a database, served to the clients of every generation of the tables protocol.
///
/// A backend is opened once; listeners come and go (``BackendServer``), and the records stay.
///
/// ```swift
/// let backend = try await Backend(BackendConfiguration(tables: [.init("todos")]))
/// try await backend.serve(port: 8080)
/// ```
public final class Backend: Sendable {
    /// What it serves.
    public let configuration: BackendConfiguration
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
    /// What is served as OData; nil where nothing is.
    let odata: ODataService?
    /// How many records were stamped anew because the database turned out, when it was opened, to be another than the
    /// one that was served last: a backup that was restored. Nil where it was the same.
    public let restoredRecords: Int?

    /// Opens the database, makes the tables that it does not hold yet, with their seeds, and removes what has expired.
    ///
    /// - Parameters:
    ///   - configuration: the database and the tables' rules.
    ///   - hooks: code of the server's own around the requests of a table, by the table's name.
    ///   - operations: code of the server's own that OData clients call by its name.
    ///   - environment: clock and ids.
    /// - Throws: ``SluiceError`` of a store code where the database cannot be used, `invalidArgument`, `invalidTable`
    ///   or `invalidRecord` where the configuration, a seed or the secret for tokens is wrong or missing.
    public init(
        _ configuration: BackendConfiguration, hooks: [String: any TableHooks] = [:],
        operations: [ODataOperation] = [], environment: SyncEnvironment = .system
    ) async throws {
        try configuration.validate()
        guard configuration.plugins == nil else {
            throw SluiceError(
                .invalidArgument, "the configuration names plugins, which sluice serve runs and this program does not")
        }
        try Self.check(hooks, configuration)
        self.configuration = configuration
        self.environment = environment
        self.hooks = hooks
        limiter = configuration.rateLimit.map { RateLimiter($0, now: environment.now) }
        if let rules = configuration.authentication {
            authenticator = try await Authenticator(rules, now: environment.now)
        } else {
            authenticator = nil
        }
        let database = configuration.database.storage(replica: configuration.replica, environment)
        self.database = database
        signals = CommitSignals { [weak database] table in
            try? await database?.read { try BackendCatalog.changes(of: table, $0).latest }
        }
        database.onCommit { [signals] in signals.committed() }
        do {
            let mark = database.markFile?.read()
            (tables, restoredRecords) = try await database.write { connection -> ([String: BackendTable], Int?) in
                let isRestored = try database.markFile != nil && BackendCatalog.isRestored(mark, connection)
                try BackendCatalog.beginRun(chance: environment.random(), connection)
                var tables: [String: BackendTable] = [:]
                for rules in configuration.tables {
                    tables[rules.name] = try BackendTable.open(rules, environment: environment, connection)
                }
                guard isRestored else { return (tables, nil) }
                let count = try Self.stampAnew(tables.values, mark, environment.now(), connection)
                return (tables, count)
            }
            try await database.requireMark()
        } catch {
            try? await database.close()
            throw error
        }
        do {
            let tables = configuration.tables.compactMap { [tables] in tables[$0.name] }
            let secret = try await database.secret()
            odata = try configuration.odata.map { (rules) throws(SluiceError) in
                try ODataService(rules, tables, operations, secret: secret)
            }
            try await expire()
        } catch {
            try? await database.close()
            throw error
        }
    }

    private static func check(
        _ hooks: [String: any TableHooks], _ configuration: BackendConfiguration
    ) throws(SluiceError) {
        let names = configuration.tables.map(\.name)
        for name in hooks.keys.sorted() where !names.contains(name) {
            let hint = NearestKey.suggestion(for: name, among: names) ?? ""
            throw SluiceError(.invalidTable, "there are hooks for a table that is not configured\(hint)", table: name)
        }
    }

    /// Waits for what is under way and closes the database. Requests after it are answered with 503.
    public func close() async throws { try await database.close() }

    /// The tables, in the order of the configuration.
    var allTables: [BackendTable] { configuration.tables.compactMap { tables[$0.name] } }

    /// When the table changed last; nil for a table that there is not.
    func newestChange(of name: String) async -> Timestamp? {
        guard table(name) != nil else { return nil }
        return try? await database.read { try BackendCatalog.changes(of: name, $0).latest }
    }

    func table(_ name: String) -> BackendTable? { tables[name] }

    /// Answers a request; whatever goes wrong is an answer too.
    package func respond(to request: Request) async -> Response { await respond(to: request, by: nil) }

    /// Answers a request that was let in.
    func respond(to request: Request, by allowance: Allowance?) async -> Response {
        if let odata, request.head.isOData {
            return await ODataRoutes(backend: self, service: odata, allowance: allowance).respond(to: request)
        }
        return await TableRoutes(backend: self, allowance: allowance).respond(to: request)
    }
}

extension Backend {
    /// Tells the backend that its database was put back from a backup. A backend notices that by itself where the mark
    /// beside the database is another's; it cannot where mark and database were put back together.
    ///
    /// All records get a new time, so that clients which read by time read them again, and ids that only the server
    /// makes go on after all that may have been given out. Versions stay.
    ///
    /// - Returns: how many records were stamped anew.
    /// - Throws: ``SluiceError`` of a store code.
    @discardableResult
    public func restored() async throws -> Int {
        let mark = database.markFile?.read()
        return try await database.write { [allTables, environment] connection in
            try Self.stampAnew(allTables, mark, environment.now(), connection)
        }
    }

    static func stampAnew(
        _ tables: some Sequence<BackendTable>, _ mark: LastCommit?, _ now: Timestamp,
        _ connection: any StorageConnection
    ) throws -> Int {
        try BackendCatalog.skipLostNumbers(mark, connection)
        let floor = max(now, mark?.latest ?? now)
        return try tables.reduce(0) { try $0 + $1.stampAnew(after: floor, connection) }
    }
}
