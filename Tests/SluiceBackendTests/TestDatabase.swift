import Foundation
import Synchronization

@testable import SluiceBackend
@testable import SluicePostgres

/// The database of a test: in memory, or a schema of its own on the PostgreSQL server that `.ci/postgres` has started.
enum TestDatabase {
    /// The server's URL; nil where the tests run on SQLite.
    static let server = ProcessInfo.processInfo.environment["SLUICE_TEST_POSTGRES"]
    static var isSQLite: Bool { server == nil }
    private static let administrator = Mutex<PostgresConnection?>(nil)
    private static let count = Mutex(0)

    static func make() throws -> BackendConfiguration.Database {
        guard let server else { return .memory }
        return try postgres(server)
    }

    /// An empty schema, as a database.
    static func postgres(_ server: String, parameters: String = "readers=2") throws -> BackendConfiguration.Database {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let schema = "test_\(ProcessInfo.processInfo.processIdentifier)_\(number)"
        try administrator.withLock { connection in
            if connection == nil { connection = try PostgresConnection(PostgresAddress(server)) }
            try connection?.execute("CREATE SCHEMA \(schema)")
        }
        let separator = server.contains("?") ? "&" : "?"
        return .postgres(
            try PostgresDatabase(
                url: "\(server)\(separator)\(parameters)&options=-csearch_path%3D\(schema)"))
    }
}
