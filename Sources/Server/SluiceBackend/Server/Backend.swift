internal import HTTPTypes
public import Logging
internal import SluiceConfiguration
public import SluiceCore
internal import SluicePostgres

/// The embedded backend: tables in a database, served to the clients of every generation of the tables protocol.
///
/// A backend is opened once; its records outlast its listeners (``BackendServer``).
///
/// ```swift
/// let backend = try await Backend(BackendConfiguration(tables: [.init("todos")]))
/// try await backend.serve(port: 8080)
/// ```
public final class Backend: Sendable {
    /// The configuration of the backend.
    public var configuration: BackendConfiguration { served.configuration }
    let served: ServedTables
    /// The OData service; nil if there is none.
    let odata: ODataService?
    /// The number of records with a new time after a restored backup was detected at the opening: the database was
    /// another than the last served one. Nil if it was the same.
    public var restoredRecords: Int? { served.restoredRecords }

    /// Opens the database, creates its missing tables with their seeds, and removes expired records.
    ///
    /// - Parameters:
    ///   - configuration: the database and the tables' rules.
    ///   - hooks: the server's own code around the requests of a table, by the table's name.
    ///   - operations: the server's own code that OData clients call by name.
    ///   - environment: the source of times and ids.
    ///   - logger: gets each failure with its cause, such as an SQLSTATE and the database's message.
    /// - Throws: ``SluiceError`` of a store code if the database cannot be used; `invalidArgument`, `invalidTable` or
    ///   `invalidRecord` if the configuration, a seed or the secret for tokens is wrong or missing.
    public init(
        _ configuration: BackendConfiguration, hooks: [String: any TableHooks] = [:],
        operations: [ODataOperation] = [], environment: SyncEnvironment = .system, logger: Logger? = nil
    ) async throws {
        let logger = logger ?? Logger(label: "sluice.backend") { _ in SwiftLogNoOpLogHandler() }
        try configuration.validate()
        guard configuration.plugins == nil else {
            throw SluiceError(
                .invalidArgument, "the configuration names plugins, which sluice serve runs and this program does not")
        }
        try Self.check(hooks, configuration)
        let database = configuration.database.storage(replica: configuration.replica, environment)
        do {
            served = try await ServedTables(
                configuration, database, hooks: hooks, environment: environment, logger: logger)
            let secret = try await database.secret()
            odata = try configuration.odata.map { [served] (rules) throws(SluiceError) in
                try ODataService(rules, served.all, operations, secret: secret)
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

    /// Waits for the requests in progress and closes the database. Later requests are answered with 503.
    public func close() async throws { try await served.database.close() }

    /// Answers a request; every failure becomes an answer too.
    package func respond(to request: SyncRequest) async -> SyncResponse { await respond(to: request, by: nil) }

    /// Answers an admitted request.
    func respond(to request: SyncRequest, by allowance: Allowance?) async -> SyncResponse {
        var answer = await withoutContent(request, by: allowance)
        if let odata, request.head.isOData { odata.crossOrigin.allow(request.head, &answer.head.headerFields) }
        return answer
    }

    /// Answers a request of a method that differs by path.
    func routed(_ request: SyncRequest, by allowance: Allowance?) async -> SyncResponse {
        if let odata, request.head.isOData {
            return await ODataRoutes(served: served, service: odata, allowance: allowance).respond(to: request)
        }
        return await TableRoutes(served: served, allowance: allowance).respond(to: request)
    }
}

extension Backend {
    /// Tells the backend that its database was restored from a backup. A backend detects this itself by the mark file
    /// beside the database, unless the mark was restored together with the database.
    ///
    /// All records get a new time, so that clients read them again by time. Server-assigned ids continue after all that
    /// may have been assigned. Versions stay.
    ///
    /// - Returns: the number of records with a new time.
    /// - Throws: ``SluiceError`` of a store code.
    @discardableResult
    public func restored() async throws -> Int {
        let mark = served.database.markFile?.read()
        return try await served.database.write { [served] connection in
            try BackendTable.stampAnew(served.all, mark, now: served.environment.now(), connection)
        }
    }
}

extension BackendConfiguration.Database {
    /// Opens the storage of the records.
    fileprivate func storage(replica: PostgresDatabase?, _ environment: SyncEnvironment) -> any Storage {
        switch self {
        case .memory: SQLiteStorage(path: ":memory:")
        case .sqlite(let path): SQLiteStorage(path: path)
        case .postgres(let database): PostgresStorage(database.address, replica: replica?.address, environment)
        }
    }
}

/// The requests that every path answers in the same way.
extension Backend {
    /// The methods that this server's paths handle themselves.
    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    /// Answers a request: `HEAD` as `GET` without its content, `OPTIONS` with the methods.
    func withoutContent(_ request: SyncRequest, by allowance: Allowance?) async -> SyncResponse {
        switch request.head.method {
        case .head:
            var read = request
            read.head.method = .get
            var answer = await routed(read, by: allowance)
            answer.head.headerFields[.contentLength] = String(answer.body.bytes.count)
            answer.body = .empty
            return answer
        case .options:
            var head = HTTPResponse(status: .noContent)
            head.headerFields[.allow] = Self.methods
            return SyncResponse(head)
        default: return await routed(request, by: allowance)
        }
    }

    /// Refuses a request without exactly one `Host` (RFC 9112, section 3.2), because links contain that name.
    static func checkHost(_ head: HTTPRequest) throws(Refusal) {
        let others = HTTPField.Name("Host").map { head.headerFields[values: $0] } ?? []
        guard let authority = head.authority, !authority.isEmpty, others.isEmpty else {
            throw Refusal(.badRequest, "a request names its server in one field Host")
        }
    }
}

extension Backend {
    /// Removes expired records by the tables' rules (``BackendConfiguration/Table/recordsExpire``,
    /// ``BackendConfiguration/Table/tombstonesExpire``). It also runs when a backend is opened, and at intervals while
    /// one is served.
    ///
    /// - Returns: the number of records that became tombstones or were removed.
    /// - Throws: ``SluiceError`` of a store code.
    @discardableResult
    public func expire() async throws -> Int {
        var total = 0
        for table in served.all where table.rules.expires {
            var count = 0
            repeat {
                try Task.checkCancellation()
                count = try await served.database.write { [served] in
                    try table.expire(now: served.environment.now(), $0)
                }
                total += count
            } while count >= BackendTable.expiryBatch
        }
        return total
    }

    /// The time between two sweeps: an hour, or less for shorter expiry; nil if nothing expires.
    var expiryInterval: Duration? {
        let intervals = configuration.tables.flatMap { [$0.recordsExpire, $0.tombstonesExpire].compactMap { $0 } }
        return intervals.min().map { max(.seconds(1), min($0, .seconds(3600))) }
    }

    /// Sweeps at intervals until the task is cancelled. `failed` gets the errors; the next sweep tries again.
    func sweep(_ failed: @Sendable (any Error) -> Void) async {
        guard let interval = expiryInterval else { return }
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: interval)
                try await expire()
            } catch is CancellationError {
                return
            } catch {
                failed(error)
            }
        }
    }
}

extension BackendConfiguration.Table {
    fileprivate var expires: Bool { recordsExpire != nil || tombstonesExpire != nil }
}

/// The statements that adopt or release an operator's table, executed or only planned.
public struct Adoption: Sendable, Hashable {
    /// The statements, in their order. They are executed as one transaction.
    public var statements: [String]
    /// The number of the table's records; nil if nothing was done.
    public var records: Int?
}

extension Backend {
    /// Prepares an existing table of a PostgreSQL database for serving. The configuration names the table's key column
    /// (``BackendConfiguration/Table/key``) and its columns. The table only gets triggers; they maintain a copy of it
    /// with versions, times and tombstones.
    ///
    /// - Parameters:
    ///   - name: the table.
    ///   - configuration: the database, and the table's rules.
    ///   - isDryRun: whether the statements are only returned.
    ///   - environment: clock and ids.
    /// - Throws: ``SluiceError`` of code `invalidTable` with the reason if the table cannot be adopted, and of the
    ///   store codes.
    public static func adopt(
        _ name: String, of configuration: BackendConfiguration, isDryRun: Bool = false,
        environment: SyncEnvironment = .system
    ) async throws -> Adoption {
        try configuration.validate()
        guard let rules = configuration.tables.first(where: { $0.name == name }) else {
            throw SluiceError(.invalidTable, "the configuration has no such table", table: name)
        }
        return try await onPostgres(configuration, isDryRun, environment) { connection, catalog in
            let check = AdoptionCheck(connection: connection, rules: rules)
            let table = try check.table()
            let statements = AdoptionSQL(table, try check.copied(), home: try check.home()).adopting
            guard let catalog else { return Adoption(statements: statements) }
            if try catalog.integer("SELECT count(*) FROM sluice_runs") == 0 {
                try BackendCatalog.beginRun(chance: environment.random(), catalog)
            }
            for statement in statements { try connection.execute(statement) }
            let count = try catalog.integer("SELECT count(*) FROM \(AdoptedTable.quoted(table.copy))")
            return Adoption(statements: statements, records: Int(clamping: count))
        }
    }

    /// Undoes ``adopt(_:of:isDryRun:environment:)``. The table and its rows stay; versions, tombstones and properties
    /// without a column are lost.
    public static func undoAdoption(
        _ name: String, of configuration: BackendConfiguration, isDryRun: Bool = false,
        environment: SyncEnvironment = .system
    ) async throws -> Adoption {
        try await onPostgres(configuration, isDryRun, environment) { connection, catalog in
            let transaction = catalog ?? PostgresTransaction.looking(connection)
            let isThere = try connection.query("SELECT to_regclass('sluice_tables') IS NOT NULL").text(0, 0) == "t"
            guard isThere, let table = try AdoptedTable.find(name, transaction) else {
                throw SluiceError(.invalidTable, "the table is not an adopted one", table: name)
            }
            guard let home = try connection.query("SELECT current_schema()").text(0, 0) else {
                throw SluiceError(.storeSchema, "the database's user has no schema in its search_path")
            }
            let statements = AdoptionSQL(table, TableSchema(name, columns: []), home: home).undoing
            guard catalog != nil else { return Adoption(statements: statements) }
            let count = try transaction.integer(
                "SELECT count(*) FROM \(AdoptedTable.quoted(table.copy)) WHERE NOT deleted")
            for statement in statements { try connection.execute(statement) }
            return Adoption(statements: statements, records: Int(clamping: count))
        }
    }

    /// Runs `body` in a writing transaction, or, for a dry run, in a reading one without the backend's own tables.
    private static func onPostgres(
        _ configuration: BackendConfiguration, _ isDryRun: Bool, _ environment: SyncEnvironment,
        _ body: @escaping @Sendable (PostgresConnection, (any StorageConnection)?) throws -> Adoption
    ) async throws -> Adoption {
        guard case .postgres(let database) = configuration.database else {
            throw SluiceError(.invalidArgument, "tables are adopted in PostgreSQL databases alone")
        }
        guard isDryRun else {
            let storage = PostgresStorage(database.address, environment)
            do {
                let adoption = try await storage.write { try body(PostgresRecords.postgres($0).connection, $0) }
                try await storage.close()
                return adoption
            } catch {
                try? await storage.close()
                throw error
            }
        }
        let address = database.address
        let worker = PostgresWorker(label: "sluice.postgres.adopt") { try PostgresConnection(address) }
        do {
            let adoption = try await worker.run { connection in
                try connection.execute("BEGIN READ ONLY")
                return try body(connection, nil)
            }
            await worker.close()
            return adoption
        } catch let failure as PostgresFailure {
            await worker.close()
            throw failure.error(address)
        } catch {
            await worker.close()
            throw error
        }
    }
}
