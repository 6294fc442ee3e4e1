import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("SQL that is observed")
struct SQLLiveQueryTests {
    @Test("the result comes first, then each that differs, and commits of other tables run nothing")
    func updates() async throws {
        let fixture = try await SQLFixture()
        let context = try await SyncContext(store: fixture.store)
        let sql =
            "SELECT count(*) AS n, sum(r.points) AS points FROM films f JOIN ratings r ON r.film = f.id WHERE year > ?"
        var results = try context.observe(sql: sql, [1970]).makeAsyncIterator()
        #expect(try await results.next()?.rows == [[3, 24]])
        // A write to another table, and one that changes nothing of the result.
        try await context.table("notes").insert(["id": "n3"])
        try await context.table("films").update(["id": "f1", "title": "Aliens"])
        try await context.table("ratings").insert(["id": "r4", "film": "f2", "points": 1])
        #expect(try await results.next()?.rows == [[4, 25]])
        try await context.table("ratings").delete(id: "r4")
        #expect(try await results.next()?.rows == [[3, 24]])
        var named = try context.observe(sql: "SELECT :x AS x", ["x": "y"]).makeAsyncIterator()
        #expect(try await named.next()?.objects == [["x": "y"]])
    }

    @Test("what is wrong with a statement is thrown, and the next call reads again")
    func failures() async throws {
        let fixture = try await SQLFixture()
        let context = try await SyncContext(store: fixture.store)
        var results = try context.observe(sql: "DELETE FROM films").makeAsyncIterator()
        for _ in 0..<2 { await #expect(throws: SluiceError.self) { _ = try await results.next() } }
        let memory = try await SyncContext(store: MemoryStore())
        #expect(throws: SluiceError.self) { _ = try memory.observe(sql: "SELECT 1") }
    }
}
