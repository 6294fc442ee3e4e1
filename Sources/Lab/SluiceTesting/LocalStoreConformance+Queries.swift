internal import SluiceCore

extension LocalStoreConformance {
    static let queries: [Check] =
        [1, 2, 3].map { seed in
            Check("queries over random records answer as in memory (seed \(seed))") { store in
                try await store.define([ConformanceRecords.schema])
                let records =
                    ConformanceRecords.random(60, seed: UInt64(seed)) + ConformanceRecords.everyValueEverywhere()
                try await roundTrip(records, in: "typed", store)
                try await roundTrip(records, in: "undeclared", store)
                var random = SeededNumbers(UInt64(seed) &* 77)
                for _ in 0..<40 {
                    var query = randomQuery("typed", &random)
                    try await compare(query, records, ConformanceRecords.schema, store)
                    query.table = "undeclared"
                    try await compare(query, records, nil, store)
                }
            }
        } + [
            Check("deleting by query takes what matches") { store in
                try await store.define([ConformanceRecords.schema])
                let records = ConformanceRecords.random(200, seed: 11)
                try await roundTrip(records, in: "typed", store)
                let filter = QueryExpression.binary(.gt, .column("integer"), .literal(.number(JSON.Number(0))))
                let query = TableQuery("typed", filter: filter, skip: 3, top: 1)
                let matching = TableQuery("typed", filter: filter)
                let expected = try TableQuery.Evaluator(matching, schema: ConformanceRecords.schema).apply(to: records)
                    .count
                let deleted = try await store.write { try $0.delete(matching: query) }
                try expect(deleted == expected, "expected \(expected) deleted, found \(deleted)")
                let left = try await store.read { try $0.count(matching: TableQuery("typed")) }
                try expect(left == records.count - expected, "\(left) are left of \(records.count)")
                let none = try await store.write { try $0.delete(matching: TableQuery("none")) }
                try expect(none == 0, "deleted \(none) from a table that is not there")
            },
            Check("a query that means nothing is refused") { store in
                try await store.define([ConformanceRecords.schema])
                let wrong = [
                    TableQuery("typed", skip: -1), TableQuery("typed", top: -1), TableQuery("none", top: -1),
                    TableQuery("typed", filter: .column("string")), TableQuery("typed", filter: .call(.length, [])),
                ]
                for query in wrong {
                    try await expectError(.invalidQuery, "\(query)") {
                        _ = try await store.read { try $0.records(matching: query) }
                    }
                }
            },
        ]

    /// Checks a query's records and count against the evaluator's.
    private static func compare(
        _ query: TableQuery, _ records: [JSON], _ schema: TableSchema?, _ store: any LocalStore
    ) async throws {
        let expected: [JSON]
        let count: Int
        do {
            expected = try TableQuery.Evaluator(query, schema: schema).apply(to: records)
            let all = TableQuery(query.table, filter: query.filter)
            count = try TableQuery.Evaluator(all, schema: schema).apply(to: records).count
        } catch {
            try await expectError(error.code, "\(query)") {
                _ = try await store.read { try $0.records(matching: query) }
            }
            return
        }
        let (found, counted) = try await store.read { reader in
            (try reader.records(matching: query), try reader.count(matching: query))
        }
        try expect(counted == count, "\(query): expected the count \(count), found \(counted)")
        try expectSame(JSON(found), JSON(expected), "\(query)")
    }

    private static func randomQuery(_ table: String, _ random: inout SeededNumbers) -> TableQuery {
        var query = TableQuery(table)
        let names = ConformanceRecords.schema.columns.map(\.name) + ["id", "undeclared", "other", "nowhere"]
        if random.next(5) > 0 { query.filter = predicate(names, 3, &random) }
        for _ in 0..<random.next(3) {
            query.order.append(.init(random.pick(names), descending: random.next(2) == 0))
        }
        if random.next(3) == 0 { query.skip = random.next(20) }
        if random.next(3) == 0 { query.top = random.next(20) }
        if random.next(4) == 0 { query.select = ["id", random.pick(names)] }
        return query
    }

    private static func predicate(
        _ names: [PropertyName], _ depth: Int, _ random: inout SeededNumbers
    ) -> QueryExpression {
        let comparisons: [QueryExpression.BinaryOperator] = [.eq, .ne, .gt, .ge, .lt, .le]
        switch depth > 0 ? random.next(8) : 9 {
        case 0: return .unary(.not, predicate(names, depth - 1, &random))
        case 1, 2:
            let operation: QueryExpression.BinaryOperator = random.next(2) == 0 ? .and : .or
            return .binary(operation, predicate(names, depth - 1, &random), predicate(names, depth - 1, &random))
        case 3:
            let function = random.pick([TableQuery.Function.contains, .startswith, .endswith])
            return .call(function, [.column(random.pick(["string", "id", "undeclared"])), .literal(.string("a"))])
        case 4:
            let column = QueryExpression.column(random.pick(["integer", "real", "undeclared"]))
            let operation = random.pick([QueryExpression.BinaryOperator.add, .sub, .mul, .div, .mod])
            return .binary(
                random.pick(comparisons), .binary(operation, column, .literal(.number(JSON.Number(2)))),
                .literal(.number(JSON.Number(1))))
        default:
            let column = random.pick(names)
            return .binary(random.pick(comparisons), .column(column), .literal(literal(column, &random)))
        }
    }

    private static func literal(_ column: PropertyName, _ random: inout SeededNumbers) -> TableQuery.Literal {
        if random.next(6) == 0 { return .null }
        switch column {
        case "integer", "real":
            return .number(JSON.Number(text: random.pick(["0", "1", "-1", "1.5", "1e5"])) ?? .init(0))
        case "boolean": return .bool(random.next(2) == 0)
        case "date": return Timestamp("2011-02-01T00:00:01Z").map(TableQuery.Literal.date) ?? .null
        case "undeclared", "other":
            return random.next(2) == 0 ? .number(JSON.Number(Int64(random.next(5)))) : .string("a")
        default: return .string(random.pick(["a", "b", "", "it's", "5"]))
        }
    }
}
