import CLuaSandbox
import Testing

@Suite("Calls of a script")
struct CallTests {
    @Test("a hook reads its argument and answers with a value")
    func answers() throws {
        let sandbox = try Sandbox.with("return { run = function(r) return { method = r.method, n = r.n + 1 } end }")
        let answer = sandbox.call("run", #"{"method":"GET","n":1}"#)
        #expect(answer.outcome == SLUICE_DONE)
        #expect(answer.result == #"{"method":"GET","n":2}"#)
        #expect(answer.changed == nil)
        #expect(sluice_vm_is_balanced(sandbox.vm))
    }

    @Test("a host function may let the script wait, and its answer is what the script gets")
    func waits() throws {
        let sandbox = try Sandbox.with("return { run = function() return { wait('a'), wait('b') } end }")
        #expect(sandbox.call("run").outcome == SLUICE_WAITS)
        let answer = sandbox.call("run", replies: ["1", #"{"b":2}"#])
        #expect(answer.outcome == SLUICE_DONE)
        #expect(answer.result == #"[1,{"b":2}]"#)
    }
}
