import Foundation
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import SluiceTesting
import Testing

/// Queries asked in memory, of two stores and of both texts of OData: for a minute, and 20,000 of them with
/// `make queries`.
@Suite("One query has one meaning") struct QueryDifferentialTests {
    @Test("the evaluator, the stores and the texts of OData find the same records in the same order")
    func answers() async throws {
        let isAll = ProcessInfo.processInfo.environment["SLUICE_ALL_SEEDS"] != nil
        try await QueryDifferential.play(seeds: 1...40, atLeast: 4, for: isAll ? nil : .seconds(15), answers)
    }

    private func answers(_ seed: UInt64) async throws {
        let differential = QueryDifferential { records, schema in
            [
                try await QueryDifferential.store(MemoryStore(), "MemoryStore", records, schema),
                try await QueryDifferential.store(
                    SQLiteStore(path: ":memory:"), "SQLiteStore", records, schema),
                QueryDifferential.reader(.v3, records, schema),
                QueryDifferential.reader(.v4, records, schema),
            ]
        }
        let outcome = try await differential.run(seed: seed, sets: 5, queries: 100, records: 8)
        #expect(outcome.difference == nil, "seed \(seed)")
        #expect(outcome.queries == 500)
        #expect(outcome.answers == 2000)
        #expect(outcome.answersWithRecords > 400, "the queries are no test if they find nothing")
    }
}
