import Foundation
import HTTPTypes
import SluiceCore
import SluiceSQLite
import Testing

@testable import SluiceBackend

@Suite("Storage") struct BackendStorageTests {
    /// A path in a directory of its own.
    private func path() throws -> String {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory.appendingPathComponent("backend.db").path
    }

    /// The number that a record's version stands for.
    private func number(_ record: JSON) -> Int {
        Data(base64Encoded: record["version"]?.string ?? "")?.reduce(0) { $0 << 8 | Int($1) } ?? 0
    }

    @Test("A hundred inserts at once get different times and versions, in one order", arguments: [true, false])
    func parallelInserts(inMemory: Bool) async throws {
        let fixture = try await BackendFixture(
            .init("t"), database: inMemory ? .memory : .sqlite(path: try path()))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask { #expect(await fixture.send(.post, "/tables/t", #"{"id":"\#(index)"}"#).status == 201) }
            }
        }
        let rows = try await fixture.backend.served.database.read { connection in
            try fixture.backend.served.table("t")?.records(matching: TableQuery("t"), connection) ?? []
        }.sorted { number($0) < number($1) }
        let times = rows.compactMap { $0["updatedAt"]?.string }
        #expect(times.count == 100)
        #expect(Set(times).count == 100)
        #expect(times == times.sorted())
        // The clock stands still, so the times go on in ticks.
        #expect(times.first == "2024-05-06T07:08:09.1234567Z")
        #expect(times.last == "2024-05-06T07:08:09.1234666Z")
        try await fixture.backend.close()
    }

    @Test(
        "A filter on updatedAt compares with the stored time, not with the one on the wire",
        .enabled(if: TestDatabase.isSQLite, "PostgreSQL keeps microseconds"))
    func fullPrecision() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#)
        let filter = "/tables/t?$filter=updatedAt"
        #expect(await fixture.send(.get, "\(filter) gt datetimeoffset'2024-05-06T07:08:09.123Z'").ids == ["a"])
        #expect(await fixture.send(.get, "\(filter) gt datetimeoffset'2024-05-06T07:08:09.1234567Z'").ids == [])
        #expect(await fixture.send(.get, "\(filter) eq datetimeoffset'2024-05-06T07:08:09.1234567Z'").ids == ["a"])
    }

    @Test("What was written is there after the database is opened again, and is not seeded twice")
    func reopening() async throws {
        let path = try path()
        let seed = BackendConfiguration.Seed.records([["id": "a", "n": 1], ["id": "b", "n": 2]])
        let first = try await BackendFixture(.init("t", seed: seed), database: .sqlite(path: path))
        _ = await first.send(.delete, "/tables/t/b")
        let changed = await first.send(.patch, "/tables/t/a", #"{"n":5}"#)
        try await first.backend.close()
        let second = try await BackendFixture(
            .init("t", seed: seed, columns: [.init("late", .string)]), database: .sqlite(path: path))
        var kept = changed.json
        kept["late"] = .null
        #expect(await second.send(.get, "/tables/t").json == JSON([kept]))
        let next = await second.send(.patch, "/tables/t/a", #"{"late":"x"}"#)
        #expect(number(next.json) == number(changed.json) + 1)
        #expect(next.json["n"] == 5)
        try await second.backend.close()
        #expect(await second.send(.get, "/tables/t").status == 503)
    }

    @Test("A property that becomes a column is shown once, with its value", arguments: ["2.0.0", "3.0.0", nil])
    func learntColumn(_ version: String?) async throws {
        let path = try path()
        let first = try await BackendFixture(.init("t"), database: .sqlite(path: path))
        _ = await first.send(.post, "/tables/t", #"{"id":"a","zed":"E"}"#)
        _ = await first.send(.post, "/tables/t", #"{"id":"b"}"#)
        try await first.backend.close()
        let second = try await BackendFixture(
            .init("t", columns: [.init("zed", .string)]), database: .sqlite(path: path))
        for query in ["", "?$filter=id eq 'a'", "?$orderby=id desc"] {
            // A name that stands twice in an object is no JSON here.
            let answer = await second.send(.get, "/tables/t\(query)", version: version).json
            let rows = answer["items"]?.elements ?? answer.elements ?? []
            #expect(rows.first { $0["id"] == "a" }?["zed"] == "E", "\(answer)")
        }
        try await second.backend.close()
    }

    @Test("A file that is no database of this kind is refused and left as it is")
    func foreignFile() async throws {
        let path = try path()
        let text = Data(String(repeating: "not a database ", count: 100).utf8)
        try text.write(to: URL(fileURLWithPath: path))
        await #expect(throws: SluiceError.self) {
            _ = try await BackendFixture(.init("t"), database: .sqlite(path: path))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
    }

    @Test("The order of pulls is the index's", .enabled(if: TestDatabase.isSQLite)) func orderIsIndexed() async throws {
        let fixture = try await BackendFixture.movies()
        let plan = try await fixture.backend.served.database.read { connection in
            try connection.run(
                "EXPLAIN QUERY PLAN SELECT * FROM movies WHERE sluice_ticks(\"updatedAt\") > ? "
                    + "ORDER BY sluice_ticks(\"updatedAt\"), \"id\" LIMIT 10", [.integer(0)]
            ).flatMap { $0 }.map { "\($0)" }.joined()
        }
        #expect(plan.contains("USING INDEX movies(updatedAt)"), "\(plan)")
        #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
    }

    @Test(
        "A seed that cannot be is refused with the record's name",
        arguments: [
            (#"[{"id":"a"},{"id":"a"}]"#, "twice"), (#"[1]"#, "object"), (#"[{"id":5}]"#, "text"),
            (#"[{"id":"a/b"}]"#, "id"), (#"{"other":[]}"#, "neither"), ("[", "not JSON"),
        ])
    func badSeed(text: String, reason: String) async throws {
        let path = try path()
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + ".json"))
        let error = await #expect(throws: SluiceError.self) {
            _ = try await BackendFixture(
                .init("t", seed: .file(path: path + ".json")), database: .sqlite(path: path))
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }

    @Test("Columns are found by the kinds of the seed's values") func inference() throws {
        let rows =
            try JSON(
                parsing: """
                    [{"id":"a","s":"x","i":1,"r":1,"b":true,"j":[1],"mixed":1,"none":null,"_extra":1,"version":"v"},
                     {"id":"b","r":1.5,"mixed":"x","j":{},"late":"y"}]
                    """
            ).elements ?? []
        let columns = SchemaInference.columns(of: rows, table: "t").map { "\($0.name):\($0.type.rawValue)" }
        #expect(columns == ["s:string", "i:integer", "r:real", "b:boolean", "j:json", "late:string"])
    }
}
