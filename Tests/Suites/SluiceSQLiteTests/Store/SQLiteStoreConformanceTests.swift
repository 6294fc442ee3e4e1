import SluiceSQLite
import SluiceTesting
import Testing

@Suite("The SQLite store conforms")
struct SQLiteStoreConformanceTests {
    @Test("in a file", arguments: LocalStoreConformance.checks)
    func file(check: LocalStoreConformance.Check) async throws {
        let folder = try TemporaryFolder()
        try await check.run {
            try SQLiteStore(path: folder.file("store.db"), options: .init(durability: .normal))
        }
        withExtendedLifetime(folder) {}
    }

    @Test("in a file that is opened anew", arguments: LocalStoreConformance.reopenChecks)
    func reopened(check: LocalStoreConformance.ReopenCheck) async throws {
        let folder = try TemporaryFolder()
        try await check.run { try SQLiteStore(path: folder.file("store.db"), options: .init(durability: .normal)) }
        withExtendedLifetime(folder) {}
    }

    @Test("in memory", arguments: LocalStoreConformance.checks)
    func memory(check: LocalStoreConformance.Check) async throws {
        try await check.run { try SQLiteStore(path: ":memory:") }
    }
}
