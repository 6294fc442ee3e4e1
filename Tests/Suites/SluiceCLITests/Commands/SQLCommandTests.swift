import Foundation
import Sluice
import Testing

@Suite struct SQLCommandTests {
    /// A store with a declared table and one that is not declared.
    private func fill(_ store: String, encryption: StoreEncryption? = nil) async throws {
        let store = try SQLiteStore(path: store, encryption: encryption)
        try await store.define([TableSchema("films", columns: [.init("title", .string), .init("seen", .boolean)])])
        try await store.define([TableSchema("sluice_operations")])
        try await store.write { writer in
            try writer.put(["id": "f1", "title": "Alien", "seen": true], in: "films")
            try writer.put(["id": "f2", "title": "Brazil"], in: "films")
            try writer.put(["id": "n1", "film": "f1", "points": 9], in: "notes")
        }
        try await store.close()
    }

    private let join = """
        SELECT f.id, title, seen, json_extract(record, '$.points') AS points
        FROM films f LEFT JOIN notes n ON json_extract(n.record, '$.film') = f.id
        """

    @Test("a join is a table as text, and lines of JSON")
    func join() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            try await fill(store)
            let text = try await Program.sluice("sql", join, "--store", store)
            #expect(text.status == 0 && text.errors == "", "\(text)")
            #expect(text.output == "id  title   seen  points\nf1  Alien   true  9\nf2  Brazil  null  null\n")
            let json = try await Program.sluice("sql", join, "--store", store, "--json")
            #expect(
                json.output == """
                    {"id":"f1","title":"Alien","seen":true,"points":9}
                    {"id":"f2","title":"Brazil","seen":null,"points":null}

                    """)
            let nothing = try await Program.sluice("sql", "SELECT 1 WHERE 0", "--store", store, "--json")
            #expect(nothing.status == 0 && nothing.output == "" && nothing.errors == "")
        }
    }

    @Test("lines of JSON are what an import takes")
    func imported() async throws {
        try await withScratch { scratch in
            let (store, copy) = (scratch.file("local.db"), scratch.file("copy.db"))
            try await fill(store)
            let rows = try await Program.sluice("sql", join, "--store", store, "--json")
            let imported = try await Program.sluice(
                "import", "films", "-", "--format", "jsonl", "--store", copy, input: rows.output)
            #expect(imported.status == 0 && imported.output == "import films: 2 inserted\n", "\(imported)")
            let query = try await Program.sluice("query", "films", "--orderby", "id", "--store", copy, "--json")
            #expect(
                try query.json["items"] == [
                    ["id": "f1", "title": "Alien", "seen": true, "points": 9],
                    ["id": "f2", "title": "Brazil", "seen": .null, "points": .null],
                ], "\(query)")
        }
    }

    @Test("values are bound as JSON, or else as text")
    func bind() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            try await fill(store)
            let result = try await Program.sluice(
                "sql", "SELECT ? AS a, ? AS b, :c AS c, ? AS d", "--bind", "-5", "--bind", "it's", "--bind", #""7""#,
                "--bind", "null", "--store", store, "--json")
            #expect(result.output == #"{"a":-5,"b":"it's","c":"7","d":null}"# + "\n", "\(result)")
        }
    }

    @Test("an encrypted store is read with its key")
    func encrypted() async throws {
        try await withScratch { scratch in
            let (store, key) = (scratch.file("local.db"), scratch.file("key"))
            #expect(try await Program.sluice("store", "make-key", key).status == 0)
            try await fill(store)
            #expect(try await Program.sluice("store", "encrypt", "--new-key-file", key, "--store", store).status == 0)
            let refused = try await Program.sluice("sql", join, "--store", store)
            #expect(refused.status == 6)
            let read = try await Program.sluice("sql", join, "--store", store, "--key-file", key)
            #expect(read.status == 0 && read.output.contains("Alien"), "\(read)")
        }
    }

    @Test(
        "what cannot be read ends with 2 and says why",
        arguments: [
            ("DELETE FROM films", "invalidQuery"), ("SELECT * FROM sluice_operations", "invalidTable"),
            ("SELECT missing FROM films", "invalidQuery"), ("SELECT ?", "invalidArgument"),
            ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n", "limitReached"),
        ])
    func refusals(statement: String, code: String) async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            try await fill(store)
            let result = try await Program.sluice("sql", statement, "--store", store, "--json")
            #expect(result.status == 2, "\(result)")
            #expect(try result.json["error"]?["code"]?.string == code)
            #expect(result.errors.hasPrefix("sluice: "))
        }
    }

    @Test("whoever only looks makes no store")
    func missing() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            let result = try await Program.sluice("sql", "SELECT 1", "--store", store)
            #expect(result.status == 2)
            #expect(!FileManager.default.fileExists(atPath: store))
        }
    }
}
