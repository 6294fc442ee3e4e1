import SluiceCore
import SluiceSQLite

/// A store with two declared tables and one that is not declared.
struct SQLFixture {
    let folder: TemporaryFolder
    let store: SQLiteStore

    /// Where the store is: in a file, in an encrypted one, or in memory.
    enum Place: String, CaseIterable, Sendable { case file, encrypted, memory }

    init(_ place: Place = .file) async throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(
            path: place == .memory ? ":memory:" : folder.file("store.db"),
            encryption: place == .encrypted ? .key(try .random()) : nil, options: .init(durability: .normal))
        try await store.define([
            TableSchema(
                "films",
                columns: [
                    .init("title", .string), .init("year", .integer), .init("stars", .real), .init("seen", .boolean),
                    .init("seenAt", .date), .init("cast", .json),
                ]),
            TableSchema("ratings", columns: [.init("film", .string), .init("points", .integer)]),
            TableSchema("sluice_operations", columns: [.init("record", .string)]),
        ])
        try await store.write { writer in
            try writer.put(
                [
                    "id": "f1", "title": "Alien", "year": 1979, "stars": 4.5, "seen": true,
                    "seenAt": "2026-01-02T03:04:05.000Z", "cast": ["Weaver", ["n": 1]], "note": "loud",
                ], in: "films")
            try writer.put(["id": "f2", "title": "Brazil", "year": 1985, "stars": 4, "seen": false], in: "films")
            try writer.put(["id": "r1", "film": "f1", "points": 9], in: "ratings")
            try writer.put(["id": "r2", "film": "f1", "points": 7], in: "ratings")
            try writer.put(["id": "r3", "film": "f2", "points": 8], in: "ratings")
            try writer.put(["id": "n1", "text": "milk", "tags": ["a", "b"]], in: "notes")
            try writer.put(["id": "n2"], in: "notes")
            try writer.put(["id": "o1", "record": "secret"], in: "sluice_operations")
        }
    }

    /// The error that the statement ends with.
    func refusal(_ text: String, _ bindings: [JSON] = [], options: SQLOptions = SQLOptions()) async -> SluiceError? {
        do {
            _ = try await store.sql(text, bindings, options: options)
            return nil
        } catch {
            return error as? SluiceError
        }
    }

    /// A statement that gives numbers for ever.
    static let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
}
