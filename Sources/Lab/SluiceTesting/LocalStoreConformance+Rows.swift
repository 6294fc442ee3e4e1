internal import SluiceCore

extension LocalStoreConformance {
    static let rows: [Check] = [
        Check("records by the texts of columns are those that a query finds") { store in
            try await store.define([ConformanceRecords.schema])
            let records = ConformanceRecords.random(300, seed: 41) + ConformanceRecords.everyValueEverywhere()
            try await roundTrip(records, in: "typed", store)
            try await roundTrip(records, in: "undeclared", store)
            let wanted: [[(column: PropertyName, text: String)]] = [
                [("string", "a")], [("string", "it's")], [("string", "nowhere")],
                [("string", "a"), ("undeclared", "a")],
                [("date", "2011-02-01T00:00:01Z")], [("id", "value-1")], [],
            ]
            for table in ["typed", "undeclared", "none"] {
                for texts in wanted {
                    for order: PropertyName in ["integer", "real", "undeclared"] {
                        try await compare(texts, orderedBy: order, in: table, store)
                    }
                }
            }
        },
        Check("the largest value of a column is that of a query") { store in
            try await store.define([ConformanceRecords.schema])
            let records = ConformanceRecords.everyValueEverywhere()
            try await expectLargest([nil], [], in: "typed", store)
            try await expectLargest(
                [-5, 7], [["id": "1", "integer": -5], ["id": "2", "integer": 7]], in: "typed", store)
            try await store.write { _ = try $0.delete(matching: TableQuery("typed")) }
            try await expectLargest([nil, -5], [["id": "1"], ["id": "2", "integer": -5]], in: "typed", store)
            try await roundTrip(records, in: "typed", store)
            for column: PropertyName in ["integer", "real", "string", "undeclared"] {
                try await store.read { reader in
                    let query = TableQuery("typed", order: [.init(column, descending: true)], top: 1)
                    let expected = try reader.records(matching: query).first?[column]?.int
                    let found = try reader.largest(column, in: "typed")
                    try expect(
                        found == expected, "the largest \(column): expected \(expected ?? 0), found \(found ?? 0)")
                }
            }
        },
        Check("a row is put as its record is") { store in
            let held = TableSchema("rows", columns: [.init("a", .string), .init("b", .integer), .init("c", .json)])
            try await store.define([held])
            let other = TableSchema("rows", columns: [.init("b", .integer), .init("a", .string), .init("z", .boolean)])
            let values: [[ColumnValue]] = [
                [.text("x"), .integer(1), .json(["n": [1]])], [.null, .null, .null],
                [.text(""), .integer(.min), .json([])],
                [.integer(1), .text("x"), .boolean(true)], [.json([1]), .boolean(false), .json("x")], [.text("only")],
            ]
            for schema in [held, other, TableSchema("new", columns: held.columns)] {
                for values in values {
                    let row = StoreRow("1", values, in: schema)
                    try await store.write { writer in
                        try writer.put(["id": "1", "a": "old", "undeclared": "old"], in: schema.name)
                        try writer.put(row)
                    }
                    let found = try await store.read { try $0.record("1", in: schema.name) }
                    try expectSame(found, row.record, "a row of \(schema.name)")
                }
            }
        },
        Check("a row whose record no store takes is refused") { store in
            let schema = TableSchema("rows", columns: [.init("c", .json)])
            try await store.define([schema])
            var deep: JSON = []
            for _ in 0..<JSON.maximumDepth { deep = [deep] }
            for row in [StoreRow("", [.null], in: schema), StoreRow("1", [.json(deep)], in: schema)] {
                try await expectError(.invalidRecord, "putting a row") { try await store.write { try $0.put(row) } }
            }
        },
    ]

    private static func compare(
        _ texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName, in table: String,
        _ store: any LocalStore
    ) async throws {
        let terms = texts.map { QueryExpression.binary(.eq, .column($0.column), .literal(.string($0.text))) }
        let filter = terms.dropFirst().reduce(terms.first) { all, term in all.map { .binary(.and, $0, term) } }
        let query = TableQuery(table, filter: filter, order: [.init(order)])
        let place = "\(table) where \(texts) by \(order)"
        let expected: [JSON]
        do {
            expected = try await store.read { try $0.records(matching: query) }
        } catch let error as SluiceError {
            return try await expectError(error.code, place) {
                _ = try await store.read { try $0.records(in: table, where: texts, orderedBy: order) }
            }
        }
        let found = try await store.read { try $0.records(in: table, where: texts, orderedBy: order) }
        try expectSame(JSON(found), JSON(expected), place)
    }

    /// Puts the records, and checks the largest value of the column `integer` after each.
    private static func expectLargest(
        _ expected: [Int64?], _ records: [JSON], in table: String, _ store: any LocalStore
    ) async throws {
        for (number, largest) in expected.enumerated() {
            if number < records.count { try await store.write { try $0.put(records[number], in: table) } }
            let found = try await store.read { try $0.largest("integer", in: table) }
            try expect(found == largest, "expected \(largest ?? 0) as the largest, found \(found ?? 0)")
        }
    }
}
