import CLuaSandbox
import Glibc
import Testing

@Suite("Kills")
struct KillTests {
    /// Where a script may be when it is killed.
    private static let places = [
        "LOOP",
        "pcall(function() LOOP end)",
        "while true do pcall(function() LOOP end) end",
        "pcall(pcall, function() LOOP end)",
        "local ok = pcall(error, 'x') while true do local a, b = pcall(function() LOOP end) if not a then ok = b end end",
        "('x'):gsub('x', function() LOOP end)",
        "while true do pcall(string.gsub, 'x', 'x', function() LOOP end) end",
        "table.sort({ 1, 2, 3 }, function() LOOP end)",
        "local t = setmetatable({}, { __index = function() LOOP end }) return t.x",
        "local t = setmetatable({}, { __newindex = function() LOOP end }) t.x = 1",
        "local t = setmetatable({}, { __add = function() LOOP end }) return t + 1",
        "local t = setmetatable({}, { __eq = function() LOOP end }) return t == setmetatable({}, { __eq = type })",
        "local t = setmetatable({}, { __tostring = function() LOOP end }) return tostring(t)",
        "local t = setmetatable({}, { __pairs = function() LOOP end }) for k in pairs(t) do end",
        "for x in function() LOOP end do end",
        "local a = wait('x') LOOP",
        "pcall(function() wait('x') LOOP end) while true do end",
        "local ok, e = pcall(wait, 'x') while true do pcall(function() LOOP end) end",
    ]

    private func outcome(_ script: String, _ budget: sluice_budget) throws -> (Sandbox, Sandbox.Answer) {
        let sandbox = try Sandbox.with(
            "return { run = function()\n\(script)\nend, good = function() return 1 end }")
        return (sandbox, sandbox.call("run", replies: ["1"], budget: budget))
    }

    @Test("fuel that has run out ends a call wherever it is, and no pcall catches it", arguments: places)
    func fuel(place: String) throws {
        let budget = sluice_budget(fuel: 100_000, burst_nanoseconds: 0, cpu_nanoseconds: 0, may_wait: true)
        let (sandbox, answer) = try outcome(
            place.replacing("LOOP", with: "while true do end"), budget)
        #expect(answer.outcome == SLUICE_FAILED_FUEL)
        #expect(answer.fuel == 100_000)
        #expect(answer.error?.contains("out of fuel") == true)
        #expect(sluice_vm_kills(sandbox.vm) == 1)
        #expect(sandbox.call("good").result == "1")
    }

    @Test("a stretch that is too long ends a call wherever it is", arguments: places)
    func burst(place: String) throws {
        let budget = sluice_budget(fuel: 0, burst_nanoseconds: 2_000_000, cpu_nanoseconds: 0, may_wait: true)
        let (sandbox, answer) = try outcome(place.replacing("LOOP", with: "while true do end"), budget)
        #expect(answer.outcome == SLUICE_FAILED_BURST)
        #expect(answer.milliseconds < 100)
        #expect(sandbox.call("good").result == "1")
    }

    @Test("memory that is full ends a call wherever it is", arguments: places)
    func memory(place: String) throws {
        let budget = sluice_budget(fuel: 0, burst_nanoseconds: 0, cpu_nanoseconds: 0, may_wait: true)
        let fill = "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(100000) .. i end"
        let (sandbox, answer) = try outcome(place.replacing("LOOP", with: fill), budget)
        #expect(answer.outcome == SLUICE_FAILED_MEMORY)
        #expect(sandbox.call("good").result == "1")
        #expect(sluice_vm_memory(sandbox.vm) < 200_000, "what the killed call held is still there")
    }

    @Test(
        "the CPU time of all stretches together has a bound of its own, however short each is",
        arguments: ["2e6", "2e5", "2e4", "2e3"])
    func cpu(length: String) throws {
        let budget = sluice_budget(fuel: 0, burst_nanoseconds: 0, cpu_nanoseconds: 50_000_000, may_wait: true)
        let sandbox = try Sandbox.with(
            "return { run = function() while true do for i = 1, LENGTH do end wait('x') end end }"
                .replacing("LENGTH", with: length))
        let answer = sandbox.call("run", replies: Array(repeating: "1", count: 100_000), budget: budget)
        #expect(answer.outcome == SLUICE_FAILED_CPU)
        // What comes beside it is the waits' own, which is the host's: most where there are most of them.
        #expect(answer.milliseconds < (length == "2e6" ? 250 : 1000))
    }

    @Test("a call that is killed counts no more CPU time than it took, except for what the clock cannot tell")
    func countedTime() throws {
        let sandbox = try Sandbox.with("return { run = function() while true do end end }")
        while Sandbox.threadTime < 200 {}
        // The clock moves in one of some hundred of these.
        let budget = sluice_budget(fuel: 100, burst_nanoseconds: 0, cpu_nanoseconds: 0, may_wait: true)
        for _ in 0..<20_000 {
            let answer = sandbox.call("run", budget: budget)
            guard answer.countedMilliseconds > answer.milliseconds + 20 else { continue }
            Issue.record("\(answer.countedMilliseconds) ms are counted, and it took \(answer.milliseconds)")
            return
        }
    }

    @Test("a kill says where it was")
    func place() throws {
        let answer = try Sandbox.run("local x = 1\nwhile true do end")
        #expect(answer.error == #"{"message":"out of fuel: 1000000 units are allowed","file":"main","line":3}"#)
    }

    @Test("a kill in one call leaves another that waits as it was")
    func others() throws {
        let sandbox = try Sandbox.with(
            "return { slow = function(r) local a = wait('x') return a + r.n end, bad = function() while true do end end }"
        )
        let value = Value(#"{"n":5}"#)
        var call: OpaquePointer?
        let outcome = withExtendedLifetime(value) {
            let name = strdup("request")
            defer { free(name) }
            var argument = sluice_argument(class_name: name, value: value.pointer, reader: nil)
            return sluice_vm_call(sandbox.vm, "slow", &argument, 1, Sandbox.budget, 77, &call)
        }
        #expect(outcome == SLUICE_WAITS)
        #expect(sandbox.call("bad").outcome == SLUICE_FAILED_FUEL)
        let reply = Value("37")
        #expect(sluice_call_resume(call, SLUICE_HOST_VALUE, reply.pointer) == SLUICE_DONE)
        #expect(text(of: sluice_call_result(call, nil)) == "42")
        sluice_call_end(call)
        withExtendedLifetime((value, reply)) {}
    }

    @Test("pcall may not be nested without end")
    func nestedCalls() throws {
        let answer = try Sandbox.run(
            """
            local depth = 0
            local function f() depth = depth + 1 return pcall(f) end
            f()
            return depth
            """)
        #expect(answer.result == "151")
    }
}
