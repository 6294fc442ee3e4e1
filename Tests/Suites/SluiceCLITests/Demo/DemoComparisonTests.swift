import Foundation
import Sluice
import Testing

@testable import SluiceCLI

@Suite struct DemoComparisonTests {
    private func store(_ scratch: Scratch, _ name: String, _ rows: [String]) async throws -> DemoRows {
        let file = scratch.file(name)
        let sql =
            "CREATE TABLE movies (id TEXT PRIMARY KEY, title TEXT, won BOOLEAN, _extra TEXT, _absent TEXT);"
            + rows.map { "INSERT INTO movies VALUES (\($0));" }.joined()
        _ = try await Program.sqlite(file, sql)
        return .file(file, try SQLiteProgram())
    }

    @Test("equal copies are equal, whether a property has a column of its own or not")
    func equal() async throws {
        try await withScratch { scratch in
            let one = try await store(scratch, "one.db", ["'1', 'A', 1, '{\"year\":1990}', NULL"])
            let other = try await store(scratch, "other.db", ["'1', NULL, 1, '{\"title\":\"A\",\"year\":1990}', '[]'"])
            let comparison = try await DemoComparison([one, other], expected: 1, bar: ProgressBar("", isShown: false))
            #expect(comparison.isEqual)
            #expect(comparison.rows == 1)
            #expect(comparison.fields == 4)
        }
    }

    @Test(
        "any difference is found",
        arguments: [
            "'1', 'B', 1, NULL, NULL", "'1', 'A', 0, NULL, NULL", "'2', 'A', 1, NULL, NULL", "'1', NULL, 1, NULL, NULL",
        ])
    func different(_ row: String) async throws {
        try await withScratch { scratch in
            let one = try await store(scratch, "one.db", ["'1', 'A', 1, NULL, NULL"])
            let other = try await store(scratch, "other.db", [row])
            let comparison = try await DemoComparison([one, other], expected: 1, bar: ProgressBar("", isShown: false))
            #expect(!comparison.isEqual)
            // A row of another id is missing in one copy, and so is the other in the other: with two rows in all.
            #expect(comparison.differences.count == (row.hasPrefix("'2'") ? 3 : 1))
        }
    }

    @Test("what was decided to differ is not compared, and counts; a missing row before it hides no row after it")
    func apart() async throws {
        try await withScratch { scratch in
            let rows = ["'1', 'A', 1, NULL, NULL", "'2', 'B', 0, NULL, NULL", "'3', 'C', 0, NULL, NULL"]
            let one = try await store(scratch, "one.db", rows)
            let other = try await store(scratch, "other.db", Array(rows[1...]))
            let bar = ProgressBar("", isShown: false)
            let apart = try await DemoComparison([one, other], expected: 3, apart: ["1"], bar: bar)
            #expect(apart.isEqual && apart.rows == 2 && apart.apart == 1)
            let missing = try await DemoComparison([one, other], expected: 3, bar: bar)
            #expect(missing.differences.map(\.recordID) == ["1"])
        }
    }

    @Test("a missing row and a wrong number of rows are differences")
    func missing() async throws {
        try await withScratch { scratch in
            let one = try await store(scratch, "one.db", ["'1', 'A', 1, NULL, NULL", "'2', 'B', 0, NULL, NULL"])
            let other = try await store(scratch, "other.db", ["'1', 'A', 1, NULL, NULL"])
            let bar = ProgressBar("", isShown: false)
            #expect(try await !DemoComparison([one, other], expected: 2, bar: bar).isEqual)
            #expect(try await !DemoComparison([one, one], expected: 3, bar: bar).isEqual)
            #expect(try await DemoComparison([one, one], expected: 2, bar: bar).isEqual)
        }
    }

    @Test("how many records are expected follows edits and decisions: deleted, brought back, and kept on a device")
    func ledger() {
        func ruling(_ id: RecordID, _ verdict: String?) -> DemoHandler.Ruling {
            .init(
                recordID: id, status: 412, fields: [], judge: "", verdict: verdict, reason: nil, passed: nil,
                isDeletion: verdict == "delete")
        }
        var ledger = DemoLedger()
        ledger.add("new")
        ledger.delete("old")
        #expect(ledger.expected(of: 10, apart: []) == 10)
        for id: RecordID in ["a", "b", "b"] { ledger.follow(ruling(id, "delete")) }
        #expect(ledger.expected(of: 10, apart: []) == 8)
        ledger.follow(ruling("a", nil))
        ledger.follow(ruling("b", "ask"))
        #expect(ledger.expected(of: 10, apart: []) == 9)
        // What is deleted on a device alone is on the server, and not compared.
        #expect(ledger.expected(of: 10, apart: ["old"]) == 10)
    }

    @Test("made-up movies are the same in every run and have their own ids")
    func madeUp() {
        #expect(DemoMovies.madeUp(500) == DemoMovies.madeUp(500))
        #expect(Set((248..<1248).map { DemoMovies.madeUp($0)["id"] }).count == 1000)
    }
}
