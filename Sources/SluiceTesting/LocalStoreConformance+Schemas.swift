internal import SluiceCore

extension LocalStoreConformance {
    static let schemas: [Check] = [
        Check("declaring a table twice changes nothing") { store in
            try await store.define([ConformanceRecords.schema])
            try await roundTrip(ConformanceRecords.everyValueEverywhere(), in: "typed", store)
            try await store.define([ConformanceRecords.schema, ConformanceRecords.schema])
            try await store.define([TableSchema("typed")])
            for record in ConformanceRecords.everyValueEverywhere() {
                let found = try await store.read { try $0.record(record["id"]?.textID ?? "", in: "typed") }
                try expectSame(found, record, "after declaring again")
            }
        },
        Check("declaring columns later keeps every record as it was") { store in
            let records = ConformanceRecords.everyValueEverywhere() + ConformanceRecords.random(600, seed: 7)
            try await roundTrip(records, in: "typed", store)
            for count in 1...ConformanceRecords.schema.columns.count {
                let columns = Array(ConformanceRecords.schema.columns.prefix(count))
                try await store.define([TableSchema("typed", columns: columns)])
            }
            try await store.define([ConformanceRecords.schema])
            let found = try await store.read { reader in
                try records.map { try reader.record($0["id"]?.textID ?? "", in: "typed") }
            }
            for (record, found) in zip(records, found) { try expectSame(found, record, "after declaring columns") }
            let expected = try QueryEvaluator(Query("typed"), schema: ConformanceRecords.schema).apply(to: records)
            let all = try await store.read { try $0.records(matching: Query("typed")) }
            try expect(
                all.map { $0["id"] } == expected.map { $0["id"] }, "the records are not in the order of their ids")
        },
        Check("a column's type cannot change") { store in
            try await store.define([TableSchema("t", columns: [.init("a", .string)])])
            try await expectError(.storeSchema, "changing a type") {
                try await store.define([
                    TableSchema("u"), TableSchema("t", columns: [.init("b", .string), .init("a", .integer)]),
                ])
            }
            try await roundTrip([["id": "1", "a": "x", "b": 1]], in: "t", store)
        },
        Check("columns that cannot be are refused") { store in
            for names in [["a", "A"], ["id"], ["ID"], ["_extra"], [""], ["a\u{0}"]] {
                try await expectError(.invalidTable, "declaring the columns \(names)") {
                    try await store.define([TableSchema("t", columns: names.map { .init(PropertyName($0), .string) })])
                }
            }
            try await expectError(.invalidTable, "an index on nothing") {
                try await store.define([TableSchema("t", columns: [.init("a", .string)], indexes: [["b"]])])
            }
        },
    ]
}
