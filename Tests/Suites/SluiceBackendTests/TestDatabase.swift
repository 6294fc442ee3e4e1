import Foundation
import Synchronization

@testable import SluiceBackend
@testable import SluicePostgres

/// The database of a test: in memory, or a schema of its own on the PostgreSQL server that `.ci/postgres` has started.
enum TestDatabase {
    private static let environment = ProcessInfo.processInfo.environment
    /// The URL of the server, or of the pooler before it; nil where the tests run on SQLite.
    static let server = environment["SLUICE_TEST_POSTGRES"]
    /// The server's own URL where a pooler is before it.
    private static let direct = environment["SLUICE_TEST_ADMINISTRATOR"]
    static var isSQLite: Bool { server == nil }
    static var isPooled: Bool { direct != nil }
    /// How many backends, as so many processes, answer a test's requests in turn.
    static let backends = Int(environment["SLUICE_TEST_BACKENDS"] ?? "") ?? 1
    private static let administrator = Mutex<PostgresConnection?>(nil)
    private static let count = Mutex(0)

    static func make() throws -> BackendConfiguration.Database {
        guard let server else { return .memory }
        return try postgres(server)
    }

    /// An empty schema, as a database. It is that of a role of the same name, since a pooler keeps no other setting of a
    /// connection.
    static func postgres(_ server: String, parameters: String = "readers=2") throws -> BackendConfiguration.Database {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let name = "test_\(ProcessInfo.processInfo.processIdentifier)_\(number)"
        try administrator.withLock { connection in
            if connection == nil { connection = try PostgresConnection(PostgresAddress(direct ?? server)) }
            try connection?.execute(
                "CREATE ROLE \(name) LOGIN; ALTER ROLE \(name) SET search_path = \(name); "
                    + "CREATE SCHEMA \(name) AUTHORIZATION \(name)")
        }
        let url = server.replacing("://sluice@", with: "://\(name)@")
        return .postgres(
            try PostgresDatabase(url: "\(url)?\(parameters)\(isPooled ? "&pooler=transaction" : "")"))
    }
}
