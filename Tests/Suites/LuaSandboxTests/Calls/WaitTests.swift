import CLuaSandbox
import Testing

@Suite("Waits")
struct WaitTests {
    @Test("a refusal and a denial are errors that the script may catch, and kinds of failure if it does not")
    func refusals() throws {
        #expect(try Sandbox.run("refuse()").outcome == SLUICE_FAILED_RUNTIME)
        #expect(try Sandbox.run("deny()").outcome == SLUICE_FAILED_PERMISSION)
        #expect(try Sandbox.run("local ok, e = pcall(deny) return e").result == #""main:2: not allowed""#)
        #expect(try Sandbox.run("pcall(deny) error('x')").outcome == SLUICE_FAILED_RUNTIME)
    }

    @Test(
        "a wait where none is possible says so",
        arguments: [
            "('x'):gsub('x', function() wait('x') end)", "table.sort({ 2, 1 }, function() wait('x') end)",
            "('x'):gsub('x', setmetatable({}, { __index = function() wait('x') end }))",
        ])
    func impossible(script: String) throws {
        let answer = try Sandbox.run(script)
        #expect(answer.outcome == SLUICE_FAILED_YIELD)
        #expect(answer.error?.contains("inside a callback of gsub or sort") == true)
    }

    @Test("a hook that may not wait says so")
    func notAllowed() throws {
        let sandbox = try Sandbox.with("return { run = function() wait('x') end }")
        var budget = Sandbox.budget
        budget.may_wait = false
        let answer = sandbox.call("run", budget: budget)
        #expect(answer.outcome == SLUICE_FAILED_YIELD)
        #expect(answer.error?.contains("this hook may not wait") == true)
    }

    @Test(
        "a script may wait in a metamethod, an iterator and a pcall",
        arguments: [
            "return setmetatable({}, { __index = function() return wait('x') end }).k",
            "return (function(...) for v in function() return wait('x') end do return v end end)()",
            "local ok, v = pcall(function() return wait('x') end) return v",
            "local ok, v = pcall(pcall, function() error(wait('x')) end) return (select(2, pcall(error, 5, 0)))",
            "return new({ a = 1 }) and wait('x')",
        ])
    func anywhere(script: String) throws {
        let sandbox = try Sandbox.with("return { run = function()\n\(script)\nend }")
        let answer = sandbox.call("run", replies: ["5"])
        #expect(answer.outcome == SLUICE_DONE && answer.result == "5", "\(answer)")
    }

    @Test("the answer to a wait may be an error")
    func answerIsAnError() throws {
        let sandbox = try Sandbox.with(
            """
            return { plain = function() wait('x') end,
              caught = function() local ok, e = pcall(wait, 'x') return e end }
            """)
        let message = Value(#""no route""#)
        for (hook, kind, outcome) in [
            ("plain", SLUICE_HOST_ERROR, SLUICE_FAILED_RUNTIME),
            ("plain", SLUICE_HOST_DENIED, SLUICE_FAILED_PERMISSION),
            ("caught", SLUICE_HOST_DENIED, SLUICE_DONE),
        ] {
            var call: OpaquePointer?
            #expect(sluice_vm_call(sandbox.vm, hook, nil, 0, Sandbox.budget, 1, &call) == SLUICE_WAITS)
            #expect(sluice_call_resume(call, kind, message.pointer) == outcome)
            #expect(
                (text(of: sluice_call_error(call)) ?? text(of: sluice_call_result(call, nil)))?.contains("no route")
                    == true)
            sluice_call_end(call)
        }
        withExtendedLifetime(message) {}
    }

    @Test("a hundred calls wait at once and go on in any order")
    func many() throws {
        let sandbox = try Sandbox.with(
            "return { run = function() local a = wait('x') local b = wait('y') return a * b end }")
        var calls: [OpaquePointer?] = []
        for index in 0..<100 {
            var call: OpaquePointer?
            #expect(sluice_vm_call(sandbox.vm, "run", nil, 0, Sandbox.budget, UInt64(index), &call) == SLUICE_WAITS)
            calls.append(call)
        }
        for step in 0..<2 {
            for index in (0..<100).map({ $0 * 37 % 100 }) {
                let value = Value("\(index + step)")
                let outcome = withExtendedLifetime(value) {
                    sluice_call_resume(calls[index], SLUICE_HOST_VALUE, value.pointer)
                }
                #expect(outcome == (step == 0 ? SLUICE_WAITS : SLUICE_DONE))
            }
        }
        for (index, call) in calls.enumerated() {
            #expect(text(of: sluice_call_result(call, nil)) == "\(index * (index + 1))")
            sluice_call_end(call)
        }
        #expect(sluice_vm_is_balanced(sandbox.vm))
    }

    @Test("a call that waits may be ended, and the VM loses nothing by it")
    func ended() throws {
        let sandbox = try Sandbox.with(
            "return { run = function(r) local t = { ('x'):rep(10000) } wait('x') return t end, good = function() return 1 end }"
        )
        for _ in 0..<2000 { #expect(sandbox.call("run", #"{"n":1}"#).outcome == SLUICE_WAITS) }
        #expect(sandbox.call("good").result == "1")
        #expect(sluice_vm_memory(sandbox.vm) < sluice_limits_default().memory_bytes)
        #expect(sluice_vm_is_balanced(sandbox.vm))
    }
}
