import CSQLite
import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("A connection")
struct SQLiteConnectionTests {
    @Test("values come back as they were bound, NUL and empty ones too")
    func values() throws {
        let connection = try SQLiteConnection(path: ":memory:")
        let statement = try connection.statement("SELECT ?, ?, ?, ?, ?, ?, typeof(?3), typeof(?6)")
        try statement.bind(1, Int64.min)
        try statement.bind(2, 0.1)
        try statement.bind(3, "")
        try statement.bind(4, "a\u{0}b 🎬")
        try statement.bindNull(5)
        try statement.bind(6, blob: [])
        #expect(try statement.step())
        #expect(statement.int(0) == .min)
        #expect(statement.double(1) == 0.1)
        #expect(statement.text(2) == "")
        #expect(statement.text(3) == "a\u{0}b 🎬")
        #expect(statement.isNull(4) && statement.text(4) == nil)
        #expect(statement.blob(5) == [])
        #expect(statement.text(6) == "text" && statement.text(7) == "blob")
        #expect(try !statement.step())
    }

    @Test("a statement is prepared once")
    func cache() throws {
        let connection = try SQLiteConnection(path: ":memory:")
        let first = try connection.statement("SELECT 1")
        #expect(try connection.statement("SELECT 1") === first)
        for index in 0..<300 { _ = try connection.statement("SELECT \(index)") }
        // Forgotten by the cache, but still whole for who holds it.
        first.reset()
        #expect(try first.step())
    }

    @Test("a transaction that throws leaves nothing")
    func rollback() throws {
        struct Stop: Error {}
        let connection = try SQLiteConnection(path: ":memory:")
        try connection.execute("CREATE TABLE t (a)")
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.execute("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(!connection.isInTransaction)
        let count = try connection.statement("SELECT count(*) FROM t")
        #expect(try count.step() && count.int(0) == 0)
    }

    @Test("double quotes never make a text of a misspelt column")
    func doubleQuotes() throws {
        let connection = try SQLiteConnection(path: ":memory:")
        let error = #expect(throws: SluiceError.self) { try connection.statement("SELECT \"nothing\"") }
        #expect((error?.cause as? SQLiteFailure)?.code == Int32(CSQLITE_ERROR))
    }

    @Test("a path that looks like a URI is a path")
    func uri() throws {
        let error = #expect(throws: SluiceError.self) {
            try SQLiteConnection(path: "file:/nowhere/at all?mode=memory")
        }
        #expect(error?.code == .storeInputOutput)
    }

    @Test(
        "result codes are told apart",
        arguments: [
            (CSQLITE_NOTADB, SluiceError.Code.storeNotADatabase), (CSQLITE_BUSY, .storeBusy),
            (CSQLITE_FULL, .storeFull),
            (CSQLITE_BUSY | 2 << 8, .storeBusy), (CSQLITE_IOERR | 3 << 8, .storeInputOutput),
            (CSQLITE_CORRUPT, .storeCorrupt), (CSQLITE_READONLY, .storeInputOutput), (CSQLITE_ERROR, .storeSchema),
        ])
    func codes(code: Int, expected: SluiceError.Code) {
        let error = SQLiteFailure(code: Int32(code), reason: "why").error(path: "some.db")
        #expect(error.code == expected)
        #expect(error.description.contains("some.db") && error.description.contains("why"))
    }

    @Test("a worker closes its connection and says so")
    func worker() async throws {
        let worker = SQLiteWorker(label: "test") { try SQLiteConnection(path: ":memory:") }
        let version = try await worker.run { connection in
            let statement = try connection.statement("SELECT sqlite_version()")
            _ = try statement.step()
            return statement.text(0)
        }
        #expect(version == SQLiteLibrary.system.version)
        try await worker.close()
        try await worker.close()
        let error = await #expect(throws: SluiceError.self) { try await worker.run { _ in } }
        #expect(error?.code == .storeClosed)
    }
}
