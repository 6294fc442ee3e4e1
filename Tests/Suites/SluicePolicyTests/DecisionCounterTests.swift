import SluiceCore
import SluiceLua
import SluicePolicy
import Testing

@Suite("Decisions are counted for the version that made them")
struct DecisionCounterTests {
    private func decision(
        _ decision: String, of release: Int?, shadow: Bool = false, input: String = "1", fails: String? = nil
    ) throws -> PluginDecision {
        var json: JSON = [
            "at": "2026-12-01T12:00:00Z", "plugin": shadow ? "stock.trial" : "stock", "hook": "on_conflict",
            "decision": JSON(decision), "input_hash": JSON(input), "shadow": JSON(shadow), "table": "notes",
            "record": "a",
        ]
        json["release"] = release.map { JSON($0) }
        if let fails { json["failure"] = ["kind": JSON(fails), "message": "no"] }
        return try PluginDecision(json)
    }

    @Test("what a replaced version ends after the swap condemns no later one") func replaced() throws {
        let counter = DecisionCounter()
        counter.countServing(2, from: PolicyTally())
        for release in [1, nil, 3] { counter.decided(try decision("failed", of: release, fails: "runtime")) }
        #expect(counter.tallies.serving == PolicyTally())
        counter.decided(try decision("failed", of: 2, fails: "fuel"))
        counter.decided(try decision("defer", of: 2))
        let serving = counter.tallies.serving
        #expect(serving.calls == 2 && serving.errors == 1 && serving.overruns == 1 && serving.held == 1)
    }

    @Test("a trial is compared with what serves, by hook and kind; other shadows are not") func compared() throws {
        let counter = DecisionCounter()
        counter.countServing(1, from: PolicyTally())
        counter.decided(try decision("client", of: 1))
        #expect(counter.tallies.trial == PolicyTally(), "without a trial nothing is compared")
        counter.countTrial(2, from: PolicyTally())
        counter.decided(try decision("client", of: 2, shadow: true))
        counter.decided(try decision("client", of: 1))
        counter.decided(try decision("server", of: 2, shadow: true, input: "2"))
        counter.decided(try decision("client", of: 1, input: "2"))
        counter.decided(try decision("server", of: 3, shadow: true, input: "3"))
        counter.decided(try decision("client", of: 1, input: "3"))
        let trial = counter.tallies.trial
        #expect(trial.calls == 2 && trial.compared == 2)
        #expect(trial.differences == ["on_conflict: server, not client": 1])
        #expect(counter.tallies.serving.calls == 4)
    }
}
