import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("Reading with SQL")
struct SQLReadingTests {
    @Test("joins tables, whatever kind of store it is", arguments: SQLFixture.Place.allCases)
    func join(place: SQLFixture.Place) async throws {
        let fixture = try await SQLFixture(place)
        let result = try await fixture.store.sql(
            """
            SELECT f.title, count(*) AS n, max(r.points) AS best FROM films f JOIN ratings r ON r.film = f.id
            WHERE f.year > ? GROUP BY f.id ORDER BY f.title
            """, [1970])
        #expect(result.columns == ["title", "n", "best"])
        #expect(result.rows == [["Alien", 2, 9], ["Brazil", 1, 8]])
        #expect(result.objects[0].description == #"{"title":"Alien","n":2,"best":9}"#)
        // The store's own reads and writes go on, and see their tables and not the views.
        try await fixture.store.write { try $0.put(["id": "f3", "title": "Cube", "other": 1], in: "films") }
        #expect(try await fixture.store.read { try $0.record("f3", in: "films") }?["other"] == 1)
        let films = try await fixture.store.sql("SELECT count(*) FROM films")
        #expect(films.rows == [[3]])
        try await fixture.store.close()
    }

    @Test("values come as their columns' types say", arguments: SQLFixture.Place.allCases)
    func types(place: SQLFixture.Place) async throws {
        let fixture = try await SQLFixture(place)
        let result = try await fixture.store.sql("SELECT * FROM films ORDER BY id")
        #expect(result.columns == ["id", "title", "year", "stars", "seen", "seenAt", "cast", "_extra"])
        #expect(
            result.rows[0] == [
                "f1", "Alien", 1979, 4.5, true, "2026-01-02T03:04:05.000Z", ["Weaver", ["n": 1]], ["note": "loud"],
            ])
        #expect(result.rows[1] == ["f2", "Brazil", 1985, 4, false, .null, .null, .null])
        // Through another name, a subquery and an expression.
        let other = try await fixture.store.sql(
            "SELECT f.seen AS a, (SELECT seen FROM films WHERE id = 'f2') AS b, NOT f.seen AS c FROM films f LIMIT 1")
        #expect(other.rows.first?.first == true && other.rows.first?.last == 0)
        let plain = try await fixture.store.sql("SELECT 1, 2.5, 'a', NULL, x'00ff', 9e999, -0.5")
        #expect(plain.rows == [[1, 2.5, "a", .null, "00ff", .null, -0.5]])
    }

    @Test("a table that is not declared has its id and its record")
    func undeclared() async throws {
        let fixture = try await SQLFixture()
        let all = try await fixture.store.sql("SELECT * FROM notes ORDER BY id")
        #expect(all.columns == ["id", "record"])
        #expect(all.rows == [["n1", ["text": "milk", "tags": ["a", "b"]]], ["n2", .null]])
        let inside = try await fixture.store.sql(
            "SELECT json_extract(record, '$.text') AS text, t.value FROM notes, json_each(record, '$.tags') t")
        #expect(inside.rows == [["milk", "a"], ["milk", "b"]])
        // Once it is declared, it has columns.
        try await fixture.store.define([TableSchema("notes", columns: [.init("text", .string)])])
        #expect(try await fixture.store.sql("SELECT text FROM notes WHERE id = 'n1'").rows == [["milk"]])
    }

    @Test("values are bound in order or by name")
    func bindings() async throws {
        let fixture = try await SQLFixture()
        let store = fixture.store
        let values: [JSON] = [.null, true, 5, 1.5, "a'b", [1, "x"], ["k": .null]]
        let result = try await store.sql("SELECT ?, ?, ?, ?, ?, ?, ?", values)
        #expect(result.rows == [[.null, 1, 5, 1.5, "a'b", #"[1,"x"]"#, #"{"k":null}"#]])
        let named = try await store.sql(
            "SELECT title FROM films WHERE year BETWEEN :from AND @to AND :from > 0", ["from": 1980, "to": 1990])
        #expect(named.rows == [["Brazil"]])
        let text = "SELECT :a, :b"
        for wrong in [["a": 1], ["a": 1, "b": 2, "c": 3], [:]] as [[String: JSON]] {
            let error = await #expect(throws: SluiceError.self) { try await store.sql(text, wrong) }
            #expect(error?.code == .invalidArgument)
        }
        let unnamed = await #expect(throws: SluiceError.self) { try await store.sql("SELECT ?", ["a": 1]) }
        #expect(unnamed?.code == .invalidArgument)
        let count = await #expect(throws: SluiceError.self) { try await store.sql("SELECT ?, ?", [1]) }
        #expect(count?.message == "the statement has 2 parameters, and 1 value came with it")
        try await store.close()
    }

    @Test("columns of one name stay apart in objects")
    func names() async throws {
        let fixture = try await SQLFixture()
        let store = fixture.store
        let result = try await store.sql(
            "SELECT f.id, r.id, r.id FROM films f JOIN ratings r ON r.film = f.id WHERE r.id = 'r3';  -- end\n")
        #expect(result.columns == ["id", "id", "id"])
        #expect(result.objects.map(\.description) == [#"{"id":"f2","id:1":"r3","id:2":"r3"}"#])
        try await fixture.store.close()
    }

    @Test("a write beside a long statement does not wait for it, and the statement sees one state")
    func parallel() async throws {
        let fixture = try await SQLFixture()
        let store = fixture.store
        let reading = Task { try await store.sql(SQLFixture.endless, options: .init(timeLimit: .seconds(300))) }
        try await Task.sleep(for: .milliseconds(100))
        try await store.write { try $0.put(["id": "f9", "title": "new"], in: "films") }
        #expect(try await store.read { try $0.record("f9", in: "films") } != nil)
        // It was still under way: it would have ended with its time limit.
        reading.cancel()
        let error = await #expect(throws: SluiceError.self) { try await reading.value }
        #expect(error?.code == .cancelled)
        #expect(try await store.sql("SELECT count(*) FROM films").rows == [[3]])
    }
}
