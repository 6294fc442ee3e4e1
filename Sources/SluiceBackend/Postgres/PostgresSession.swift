internal import Foundation
internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// The process as the database knows it: a name, and the numbers of its transactions.
final class PostgresSession: Sendable {
    /// A name that no other process has.
    let process: String
    /// Whether transactions take the lock that puts them in order. A test finds out what comes of it without.
    let ordered: Bool
    @TaskLocal static var isOrdered = true
    /// The tables with their columns, as the process's transactions find them.
    let tables: PostgresTables
    private let environment: SyncEnvironment
    private let attempts = Mutex<Int64>(0)

    init(_ environment: SyncEnvironment, _ tables: PostgresTables) {
        self.tables = tables
        process = UUID().uuidString.lowercased()
        ordered = Self.isOrdered
        self.environment = environment
    }

    func nextAttempt() -> Int64 {
        attempts.withLock { attempts in
            attempts += 1
            return attempts
        }
    }

    /// Makes or checks the catalog through a new connection, and begins a run of the history where the server is another
    /// than before: a replica that was promoted, or a backup, may lack the last changes and would give their numbers out
    /// again.
    func begin(_ connection: PostgresConnection) throws {
        try PostgresCatalog.prepare(connection)
        // Under another name: what the process's last transaction has noted is what is asked for after a commit was lost.
        let transaction = try PostgresTransaction.writing(
            connection, tables, process: "begin", attempt: 0, ordered: true)
        do {
            let timeline = "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
            let found = try transaction.run("SELECT timeline, \(timeline) FROM sluice_identity").first
            if let found, found[0] != found[1] {
                try transaction.run("UPDATE sluice_identity SET timeline = \(timeline)")
                // In a new database the backend begins the first one.
                if found[0] != .null { try BackendCatalog.beginRun(chance: environment.random(), transaction) }
            }
            try transaction.run("DELETE FROM sluice_processes WHERE seen < now() - interval '30 days'")
            _ = try transaction.commit()
        } catch {
            transaction.rollBack()
            throw error
        }
    }
}
