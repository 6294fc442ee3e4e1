internal import HTTPTypes
public import SluiceCore
internal import SluiceSQLite

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
    let database: BackendDatabase
    private let tables: [String: BackendTable]

    /// Opens the database, and makes the tables that it does not hold yet, with their seeds.
    ///
    /// - Throws: ``SluiceError`` of a store code where the database cannot be used, `invalidArgument`, `invalidTable`
    ///   or `invalidRecord` where the configuration or a seed is wrong.
    public init(_ configuration: BackendConfiguration, environment: SyncEnvironment = .system) async throws {
        try configuration.validate()
        self.configuration = configuration
        self.environment = environment
        let database = BackendDatabase(configuration.database)
        self.database = database
        do {
            tables = try await database.write { connection in
                var tables: [String: BackendTable] = [:]
                for rules in configuration.tables {
                    tables[rules.name] = try BackendTable.open(rules, environment: environment, connection)
                }
                return tables
            }
        } catch {
            try? await database.close()
            throw error
        }
    }

    /// Waits for what is under way and closes the database. Requests after it are answered with 500.
    public func close() async throws { try await database.close() }

    func table(_ name: String) -> BackendTable? { tables[name] }

    /// Answers a request; whatever goes wrong is an answer too.
    package func respond(to request: Request) async -> Response {
        await TableRoutes(backend: self).respond(to: request)
    }
}
