internal import SluiceCore
internal import SluiceSQLite

/// The calls that `abi.c` makes through the header, from Swift.
enum ABIRuns {
    /// How many records there are to read.
    static let rows = 10_000

    private static let schema = TableSchema(
        "films", columns: [.init("title", .string), .init("year", .integer), .init("rating", .string)])

    private static func record(_ index: Int) -> JSON {
        [
            "id": JSON("film-\(index)"), "title": JSON("The Return of Number \(index)"),
            "year": JSON(1920 + index % 100),
            "rating": "PG13", "seen": false,
        ]
    }

    /// Makes the records that are read.
    static func fill(_ database: String) async throws {
        let store = try SQLiteStore(path: database)
        let context = try await SyncContext(store: store, tables: [schema])
        try await context.write { transaction in
            for index in 0..<rows { try transaction.insert(record(index), in: schema.name) }
        }
        try await store.close()
    }

    static func reads(_ count: Int, database: String) async throws -> Measurement {
        try await measure(database) { table in
            for index in 0..<count {
                guard try await table.lookup(id: "film-\(index * 7_919 % rows)") != nil else {
                    throw BenchFailure("a record is not there")
                }
            }
        }
    }

    static func inserts(_ count: Int, database: String) async throws -> Measurement {
        try await measure(database) { table in
            for index in 0..<count { try await table.insert(record(index)) }
        }
    }

    private static func measure(
        _ database: String, _ body: (SyncTable<JSON>) async throws -> Void
    ) async throws -> Measurement {
        let store = try SQLiteStore(path: database)
        let table = try await SyncContext(store: store, tables: [schema]).table(schema.name)
        let measurement = try await Measurement.of { try await body(table) }
        try await store.close()
        return measurement
    }
}
