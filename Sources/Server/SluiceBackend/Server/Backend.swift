internal import HTTPTypes
public import Logging
internal import SluiceConfiguration
public import SluiceCore
internal import SluicePostgres

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
    public var configuration: BackendConfiguration { served.configuration }
    let served: ServedTables
    /// What is served as OData; nil where nothing is.
    let odata: ODataService?
    /// How many records were stamped anew because the database turned out, when it was opened, to be another than the
    /// one that was served last: a backup that was restored. Nil where it was the same.
    public var restoredRecords: Int? { served.restoredRecords }

    /// Opens the database, makes the tables that it does not hold yet, with their seeds, and removes what has expired.
    ///
    /// - Parameters:
    ///   - configuration: the database and the tables' rules.
    ///   - hooks: code of the server's own around the requests of a table, by the table's name.
    ///   - operations: code of the server's own that OData clients call by its name.
    ///   - environment: clock and ids.
    ///   - logger: gets each failure with its cause, such as an SQLSTATE and the database's words.
    /// - Throws: ``SluiceError`` of a store code where the database cannot be used, `invalidArgument`, `invalidTable`
    ///   or `invalidRecord` where the configuration, a seed or the secret for tokens is wrong or missing.
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

    /// Waits for what is under way and closes the database. Requests after it are answered with 503.
    public func close() async throws { try await served.database.close() }

    /// Answers a request; whatever goes wrong is an answer too.
    package func respond(to request: Request) async -> Response { await respond(to: request, by: nil) }

    /// Answers a request that was let in.
    func respond(to request: Request, by allowance: Allowance?) async -> Response {
        var answer = await withoutContent(request, by: allowance)
        if let odata, request.head.isOData { odata.crossOrigin.allow(request.head, &answer.head.headerFields) }
        return answer
    }

    /// The answer to a request whose method the paths know.
    func routed(_ request: Request, by allowance: Allowance?) async -> Response {
        if let odata, request.head.isOData {
            return await ODataRoutes(served: served, service: odata, allowance: allowance).respond(to: request)
        }
        return await TableRoutes(served: served, allowance: allowance).respond(to: request)
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
        let mark = served.database.markFile?.read()
        return try await served.database.write { [served] connection in
            try BackendTable.stampAnew(served.all, mark, now: served.environment.now(), connection)
        }
    }
}

extension BackendConfiguration.Database {
    /// The storage that keeps the records there.
    fileprivate func storage(replica: PostgresDatabase?, _ environment: SyncEnvironment) -> any Storage {
        switch self {
        case .memory: SQLiteStorage(path: ":memory:")
        case .sqlite(let path): SQLiteStorage(path: path)
        case .postgres(let database): PostgresStorage(database.address, replica: replica?.address, environment)
        }
    }
}

/// Requests that every path answers alike, whatever is there.
extension Backend {
    /// The methods of requests on which the paths of this server differ.
    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    /// The answer to a request: to `HEAD` that to `GET` without its content, to `OPTIONS` the methods.
    func withoutContent(_ request: Request, by allowance: Allowance?) async -> Response {
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
            return Response(head)
        default: return await routed(request, by: allowance)
        }
    }

    /// Refuses a request that does not name its server once (RFC 9112, section 3.2): links are made of that name.
    static func checkHost(_ head: HTTPRequest) throws(Refusal) {
        let others = HTTPField.Name("Host").map { head.headerFields[values: $0] } ?? []
        guard let authority = head.authority, !authority.isEmpty, others.isEmpty else {
            throw Refusal(.badRequest, "a request names its server in one field Host")
        }
    }
}

extension Backend {
    /// Removes what has expired by the tables' rules (``BackendConfiguration/Table/recordsExpire``,
    /// ``BackendConfiguration/Table/tombstonesExpire``). It happens by itself when a backend is opened and at intervals
    /// while one is served.
    ///
    /// - Returns: how many records became tombstones or were removed.
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

    /// The wait between two sweeps: an hour, or less where something expires sooner; nil where nothing does.
    var expiryInterval: Duration? {
        let intervals = configuration.tables.flatMap { [$0.recordsExpire, $0.tombstonesExpire].compactMap { $0 } }
        return intervals.min().map { max(.seconds(1), min($0, .seconds(3600))) }
    }

    /// Sweeps at intervals until the task is cancelled. `failed` gets what goes wrong; the next sweep tries again.
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

/// The statements that adopt a table of the operator's or release it, carried out or only planned.
public struct Adoption: Sendable, Hashable {
    /// The statements, in their order. They are carried out as one transaction.
    public var statements: [String]
    /// How many records the table has; nil where nothing was done.
    public var records: Int?
}

extension Backend {
    /// Makes an existing table of a PostgreSQL database one that can be served: the configuration names it with its key
    /// column (``BackendConfiguration/Table/key``) and its columns. Nothing of the table is changed but that it gets
    /// triggers, which keep a copy with versions, times and tombstones beside it.
    ///
    /// - Parameters:
    ///   - name: the table.
    ///   - configuration: the database, and the table's rules.
    ///   - isDryRun: whether only the statements are given back.
    /// - Throws: ``SluiceError`` of code `invalidTable` where the table cannot be adopted, with the reason, and of the store
    ///   codes.
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

    /// Takes everything away again that ``adopt(_:of:isDryRun:environment:)`` brought. The table stays, with its rows as
    /// they are; versions, tombstones and properties without a column are gone.
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

    /// Runs `body` in a transaction that writes, or, where nothing is to be done, in one that reads and without the
    /// backend's own tables.
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
