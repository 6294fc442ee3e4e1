import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("MemoryStore: an index changes how fast an answer comes, and nothing else")
struct MemoryStoreIndexTests {
    private static let columns: [TableSchema.Column] = [
        .init("place", .integer), .init("kind", .string), .init("name", .string),
    ]

    /// A store with indexes and one without, after the same random changes.
    private func stores(_ seed: UInt64) async throws -> (MemoryStore, MemoryStore) {
        let (indexed, plain) = (MemoryStore(), MemoryStore())
        try await plain.define([TableSchema("t", columns: Self.columns)])
        var generator = SeededGenerator(seed: seed)
        for step in 0..<300 {
            if step == Int(seed) * 20 {
                // Before, between or after the records.
                try await indexed.define([
                    TableSchema("t", columns: Self.columns, indexes: [["place"], ["kind", "name"], ["name"]])
                ])
            }
            let id = "r\(Int.random(in: 0..<40, using: &generator))"
            let values: [JSON] = [1, 2, "x", "y", "x\u{0}", .null, true, 2.5]
            var record: JSON = ["id": JSON(id)]
            // Mostly what the column is for; with odd seeds other values, too.
            record["place"] =
                seed % 2 == 0 || step % 4 > 0
                ? JSON(Int.random(in: 0..<9, using: &generator)) : values.randomElement(using: &generator)
            record["kind"] = values.randomElement(using: &generator)
            if Bool.random(using: &generator) { record["name"] = values.randomElement(using: &generator) }
            let choice = Int.random(in: 0..<8, using: &generator)
            for store in [indexed, plain] {
                let written = record
                do {
                    try await store.write { writer in
                        if choice == 0 {
                            try writer.delete([RecordID(id)], from: "t")
                        } else {
                            try writer.put(written, in: "t")
                        }
                        if choice == 1 {
                            try writer.delete(["r1", "r2"], from: "t")
                            throw CancellationError()
                        }
                    }
                } catch is CancellationError {}
            }
        }
        return (indexed, plain)
    }

    @Test("queries answer the same with indexes and without", arguments: 0..<8)
    func same(_ seed: UInt64) async throws {
        let (indexed, plain) = try await stores(seed)
        let filters: [String?] = [
            nil, "kind eq 'x'", "kind eq 'x' and name eq 'y'", "name eq 'x' and place gt 3", "place gt 4",
            "name eq 'x' or kind eq 'y'", "place gt 2 and (kind eq 'x' or kind eq 'y')", "name eq null",
            "kind eq 'x' and kind eq 'y'", "place gt 9223372036854775807",
        ]
        for filter in filters {
            for order in [[], [TableQuery.SortKey("place")], [.init("place", descending: true)], [.init("name")]] {
                for (top, skip) in [(nil, 0), (1, 0), (3, 2), (0, 0), (100, 1)] as [(Int?, Int)] {
                    let query = TableQuery(
                        "t", filter: try filter.map { try QueryExpression(odata: $0) }, order: order, skip: skip,
                        top: top)
                    let expected = try await plain.read { try $0.records(matching: query) }
                    let found = try await indexed.read { try $0.records(matching: query) }
                    #expect(found == expected, "\(query)")
                    let counts = try await (
                        plain.read { try $0.count(matching: query) }, indexed.read { try $0.count(matching: query) }
                    )
                    #expect(counts.0 == counts.1)
                }
            }
        }
    }

    @Test("a queue of 100,000 operations is added to and read as one of ten", .timeLimit(.minutes(10)))
    func longQueue() async throws {
        let store = MemoryStore()
        try await store.define(SyncTables.all)
        try await store.write { writer in
            for n in 1...100_000 {
                let operation = TableOperation(
                    id: "op\(n)", sequence: Int64(n), table: "todos", recordID: "r\(n)", kind: .insert,
                    createdAt: Timestamp(ticks: 0))
                try QueueWriter(writer).put(operation)
            }
        }
        var time = Duration.zero
        for n in 1...2_000 {
            time += try await store.write { writer in
                try processorTime {
                    let queue = QueueWriter(writer)
                    #expect(try queue.reader.nextSequence() == 100_001)
                    #expect(try queue.reader.all(on: "r\(n)", in: "todos").count == 1)
                    try queue.put(
                        TableOperation(
                            id: "more", sequence: 100_000, table: "todos", recordID: "more", kind: .insert,
                            createdAt: Timestamp(ticks: Int64(n))))
                }
            }
        }
        // A look at each operation would take minutes.
        #expect(time < .seconds(20))
    }

    @Test("names that only look the same are two columns, and a number that is too large is no end")
    func names() async throws {
        let (composed, decomposed): (PropertyName, PropertyName) = ("caf\u{E9}", "cafe\u{301}")
        let store = MemoryStore()
        let schema = TableSchema(
            "t", columns: [.init(composed, .integer), .init(decomposed, .string)], indexes: [[decomposed], [composed]])
        try await store.define([schema])
        #expect(schema.column(composed)?.type == .integer && schema.column(decomposed)?.type == .string)
        try await store.write { writer in
            for n in 0..<5 {
                var record: JSON = ["id": JSON("\(n)")]
                record[composed] = JSON(n)
                record[decomposed] = JSON("text \(n)")
                try writer.put(record, in: "t")
            }
        }
        let found = try await store.read { reader in
            try [
                TableQuery("t", filter: .binary(.eq, .column(decomposed), .literal(.string("text 3")))),
                TableQuery("t", order: [.init(composed)], skip: 3, top: .max),
                TableQuery(
                    "t", filter: .binary(.gt, .column(composed), .literal(.number(JSON.Number(2)))),
                    order: [.init(composed)], top: 1),
            ].map { try reader.records(matching: $0).compactMap { $0["id"]?.string } }
        }
        #expect(found == [["3"], ["3", "4"], ["3"]])
    }
}
