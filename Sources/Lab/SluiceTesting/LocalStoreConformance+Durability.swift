internal import SluiceCore

extension LocalStoreConformance {
    private struct Stop: Error {}

    static let durability: [ReopenCheck] =
        [
            ReopenCheck("every value is there when the store is opened anew") { place in
                let records = ConformanceRecords.everyValueEverywhere()
                let ids =
                    ConformanceRecords.ids.map { ["id": JSON($0), "n": 1] as JSON } + [ConformanceRecords.deepest]
                try await place.store().define([ConformanceRecords.schema])
                try await roundTrip(records, in: ConformanceRecords.schema.name, place.store())
                try await roundTrip(ids, in: "undeclared", place.store())
                for isClosed in [true, false] {
                    try await end(place, isClosed: isClosed)
                    try await expectRecords(records, in: ConformanceRecords.schema.name, place.store())
                    try await expectRecords(ids, in: "undeclared", place.store())
                }
            },
            ReopenCheck("what was declared is declared when the store is opened anew") { place in
                try await place.store().define([ConformanceRecords.schema])
                try await end(place, isClosed: true)
                try await expectError(.storeSchema, "a column declared with another type") {
                    try await place.store().define([
                        TableSchema(ConformanceRecords.schema.name, columns: [.init("real", .json)])
                    ])
                }
                try await place.store().define([ConformanceRecords.schema])
            },
            ReopenCheck("a transaction that threw is not there when the store is opened anew") { place in
                try await place.store().write { try $0.put(["id": "1", "n": 1], in: "t") }
                do {
                    try await place.store().write { writer in
                        try writer.put(["id": "1", "n": 2], in: "t")
                        try writer.put(["id": "2"], in: "t")
                        throw Stop()
                    }
                } catch is Stop {}
                for isClosed in [false, true] {
                    try await end(place, isClosed: isClosed)
                    try await expectRecords([["id": "1", "n": 1]], in: "t", place.store())
                }
            },
            ReopenCheck("a hundred thousand records are there when the store is opened anew") { place in
                let count = 100_000
                for start in stride(from: 0, to: count, by: 2000) {
                    try await place.store().write { writer in
                        for number in start..<start + 2000 {
                            try writer.put(
                                ["id": JSON("row-\(number)"), "n": JSON(number), "even": JSON(number % 2 == 0)], in: "t"
                            )
                        }
                    }
                }
                try await end(place, isClosed: true)
                let odd = QueryExpression.binary(.eq, .column("even"), .literal(.bool(false)))
                let found = try await place.store().read { reader in
                    try (reader.count(matching: TableQuery("t")), reader.record("row-77777", in: "t")?["n"]?.int)
                }
                try expect(found == (count, 77_777), "expected \(count) records, found \(found)")
                let deleted = try await place.store().write { try $0.delete(matching: TableQuery("t", filter: odd)) }
                try expect(deleted == count / 2, "expected \(count / 2) deletions, found \(deleted)")
                try await end(place, isClosed: false)
                let left = try await place.store().read { reader in
                    try reader.records(matching: TableQuery("t", order: [.init("n", descending: true)], top: 2))
                }
                try expect(left.map { $0["n"]?.int } == [99_998, 99_996], "the last records are \(left)")
            },
        ] + (1...4).map(rounds)

    /// Runs random transactions, reopens the store between them, and compares it with a model in memory.
    private static func rounds(_ seed: Int) -> ReopenCheck {
        ReopenCheck("what is left of many transactions is there when the store is opened anew (seed \(seed))") {
            place in
            var random = SeededNumbers(UInt64(seed))
            var model: [RecordID: JSON] = [:]
            for round in 0..<40 {
                let records = ConformanceRecords.random(random.next(12), seed: UInt64(seed * 100 + round)).map {
                    record in
                    var record = record
                    record["id"] = JSON("\(random.next(20))")
                    return record
                }
                let gone = (0..<random.next(4)).map { _ in RecordID("\(random.next(20))") }
                let fails = random.next(4) == 0
                do {
                    try await place.store().write { writer in
                        for record in records { try writer.put(record, in: "typed") }
                        try writer.delete(gone, from: "typed")
                        if fails { throw Stop() }
                    }
                    for record in records { model[record["id"]?.textID ?? ""] = record }
                    for id in gone { model[id] = nil }
                } catch is Stop {}
                if round == 10 { try await place.store().define([ConformanceRecords.schema]) }
                if random.next(3) == 0 { try await end(place, isClosed: random.next(2) == 0) }
                try await expectRecords(Array(model.values), in: "typed", place.store())
            }
        }
    }

    private static func end(_ place: Reopened, isClosed: Bool) async throws {
        if isClosed { try await place.close() } else { try await place.abandon() }
    }
}
