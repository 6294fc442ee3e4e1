import Foundation
import SluiceCore
import SluiceLua
import SluicePolicy
import Testing

@testable import SluiceDaemon

/// The row of a device, and the bytes that it may cost.
@Suite struct PolicyReportTests {
    private let now = Timestamp(ticks: 20_000 * 86_400 * Timestamp.ticksPerSecond)

    private func withFile(_ body: (String) throws -> Void) rethrows {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("report-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private var state: PolicyDevice.State {
        var state = PolicyDevice.State()
        state.serving = 3
        state.past.name = "shops"
        state.past.version = 4
        (state.probationTally.calls, state.probationTally.errors) = (50, 2)
        state.probationTally.differences = ["on_conflict: server, not client": 7]
        state.past.withdrawn = [4: "2 of 50 calls failed"]
        return state
    }

    private func decision(_ number: Int) -> JSON {
        [
            "sequence": JSON(number), "at": JSON("\(now.advanced(by: .seconds(number)))"), "plugin": "rules",
            "hook": "before_enqueue", "decision": "reject", "table": "notes", "record": JSON("r\(number)"),
            "input": ["email": "ann@example.com"], "answer": ["email": "ann@example.com"], "reason": "no",
        ]
    }

    @Test("a row without decisions and bounds has no word of them; a short one has versions and counts alone")
    func rows() throws {
        let name = PolicyDeviceName(id: "d1")
        let plain = PolicyReport.row(state, name, at: now)
        #expect(plain["short"] == nil && plain["decisions"] == nil)
        let short = PolicyReport.row(state, name, at: now, decisions: [], isShort: true)
        #expect(short.bytes().count < plain.bytes().count)
        let read = try #require(PolicyReportRow(short))
        #expect(read.isShort && read.serving == 3 && read.newest == 4 && read.hasWithdrawn(4))
        #expect(read.figures.calls == 50 && read.figures.errors == 2 && read.figures.differences.isEmpty)
        #expect(!"\(short)".contains("calls failed") && short["decisions"] == .null)
        let whole = try #require(PolicyReportRow(plain))
        #expect(whole.figures == state.probationTally && !whole.isShort)
    }

    @Test("the newest decisions of several files go, without inputs and answers")
    func decisions() throws {
        try withFile { path in
            try withFile { other in
                let lines = (0..<5).map { "\(decision($0))\n" }.joined()
                try "cut\n\(lines){\"at\":".write(toFile: path, atomically: true, encoding: .utf8)
                try "\(decision(9))\n".write(toFile: other, atomically: true, encoding: .utf8)
                let logs = [DecisionLog(path), DecisionLog(other), DecisionLog("/nonexistent/decisions.jsonl")]
                let newest = NewestDecisions.of(logs, count: 3)
                #expect(newest.map { $0.recordID?.text } == ["r9", "r4", "r3"])
                #expect(NewestDecisions.of(logs, count: 0).isEmpty)
                let row = PolicyReport.row(state, PolicyDeviceName(id: "d1"), at: now, decisions: newest)
                #expect(!"\(row)".contains("ann@example.com"))
                let read = try #require(PolicyReportRow(row))
                #expect(read.decisions.count == 3 && read.decisions[0]["record"] == "r9" && !read.isShort)
            }
        }
    }

    @Test("the bytes of a day are a bound across restarts, and the next day begins anew")
    func budget() {
        let row: JSON = ["id": "d1"]
        let size = row.bytes().count
        withFile { path in
            var budget = ReportBudget(2 * size, file: path)
            for _ in 0..<2 {
                #expect(budget.admits(row, at: now))
                budget.note(row, at: now)
            }
            #expect(!budget.admits(row, at: now))
            let next = ReportBudget(2 * size, file: path)
            #expect(!next.admits(row, at: now))
            #expect(next.admits(row, at: now.advanced(by: .seconds(86_400))))
            #expect(!ReportBudget(size - 1, file: "/nonexistent/reported.json").admits(row, at: now))
            var free = ReportBudget(nil, file: path)
            free.note(row, at: now)
            #expect(free.admits(row, at: now))
        }
    }
}
