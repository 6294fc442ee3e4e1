internal import HTTPTypes
public import Logging
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
