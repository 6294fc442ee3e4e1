import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("Numbers that scripts and fixtures write")
struct OutsideNumbersTests {
    static let numbers = ["9.5e11", "-9.5e11", "1e300", "1e18", "2^63", "-2^63"]

    @Test("time.format of a time that no calendar has is an error of the script", arguments: numbers)
    func format(number: String) async throws {
        let text = PluginText(
            ["request"],
            "return { request = function() local ok, e = pcall(time.format, \(number)) assert(not ok) error(e, 0) end }"
        )
        let error = await #expect(throws: SluiceError.self) {
            try await text.loaded().send(.sample(), to: ScriptedTransport([], otherwise: .json(200, "{}")))
        }
        #expect(error?.message.contains("time.format takes seconds since 1970") == true)
    }

    @Test("decide.wait at a time that no calendar has is refused", arguments: [9.5e11, -9.5e11, 1e300])
    func waitAt(number: Double) throws {
        let decision: JSON = ["decision": "wait", "at": JSON(number)]
        let result = HookReturn(
            value: decision, type: nil, changed: [:], bodies: [], changedBodies: [], responses: [:], editor: nil)
        #expect(throws: ScriptFailure.self) { try ScheduleVerdict.read(result, now: Timestamp(ticks: 0)) }
    }

    @Test("a pause of any length is at most the longest one", arguments: [1e300, 3e9, 9.3e9])
    func pause(number: Double) throws {
        let decision: JSON = ["decision": "wait", "after": JSON(number)]
        let result = HookReturn(
            value: decision, type: nil, changed: [:], bodies: [], changedBodies: [], responses: [:], editor: nil)
        let answer = try ScheduleVerdict.read(result, now: Timestamp(ticks: 0))
        #expect(answer.value as? ScheduleDecision? == .wait(until: Timestamp(ticks: 30 * 86_400 * 10_000_000)))
    }

    @Test(
        "a fixture with a number that is no time is refused where it stands",
        arguments: [
            (#"{"hook":"response","given":{"response":{"status":200,"elapsed":1e300}}}"#, "elapsed"),
            (#"{"hook":"response","given":{"response":{"status":200,"elapsed":-1}}}"#, "elapsed"),
            (
                #"{"hook":"on_push_error","given":{"error":{"table":"t","status":503,"retry_after":1e300}}}"#,
                "retry_after"
            ),
            (#"{"hook":"response","given":{"response":{}},"host":{"kv":{"a":{"value":1,"ttl":1e300}}}}"#, "ttl"),
        ])
    func fixture(text: String, name: String) async throws {
        var fixture = try JSON(parsing: text)
        fixture["name"] = "a"
        fixture["expect"] = .object
        let hook = fixture["hook"]?.string ?? ""
        let plugin = PluginText(
            [hook], "return { \(hook) = function() end }", extra: ["permissions": ["kv": ["bytes": 99]]])
        var message = ""
        do {
            let read = try PluginFixture(fixture, path: "tests/a.json")
            message = await FixtureRunner(try plugin.plan.bundle).run(read).differences.joined()
        } catch let error as SluiceError {
            message = error.message
        }
        #expect(message.contains(name) && message.contains("seconds"), "\(message)")
    }

    @Test("a plugin's clock that stands far off is counted without a trap")
    func figures() {
        let decision = PluginDecision(
            sequence: 1, at: Timestamp(ticks: 0), plugin: "p", version: "1", hook: .request, inputHash: "",
            decision: "none",
            fuel: 0, cpuTime: .zero, elapsed: .seconds(300_000_000_000), waits: 0, isShadow: false, log: [],
            trace: .object)
        #expect(decision.json["elapsed_ns"]?.int == .max)
        #expect(DecisionExplanation(decision).lines.count > 1)
    }
}
