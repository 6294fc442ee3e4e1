import CLuaSandbox
import Glibc
import Testing

@Suite("Handles")
struct HandleTests {
    private static let script = """
        local kept, child
        return {
          keep = function(r) kept, child = r, r.inner end,
          read = function() return kept.n end,
          write = function() kept.n = 1 end,
          list = function() for k in pairs(kept) do end end,
          length = function() return #kept end,
          inner = function() return child.x end,
          give = function() return kept end,
          pass = function() return echo(kept) end,
          nest = function(r) r.x = kept end,
          text = function() return tostring(kept) end,
          get = function(r) return r.get(kept, 'n') end,
          wait = function(r) kept = r wait('x') return r.n end,
          equal = function(r) return { kept == r, r == r, r.inner == r.inner, r.inner == r } end,
        }
        """

    @Test(
        "a handle that is kept is dead after its call",
        arguments: ["read", "write", "list", "length", "inner", "give", "pass", "nest", "get"])
    func dead(hook: String) throws {
        let sandbox = try Sandbox.with(Self.script)
        #expect(sandbox.call("keep", #"{"n":5,"inner":{"x":1}}"#).outcome == SLUICE_DONE)
        let answer = sandbox.call(hook, #"{"n":7,"inner":{"x":1}}"#)
        #expect(answer.outcome == SLUICE_FAILED_RUNTIME || answer.outcome == SLUICE_FAILED_RESULT)
        #expect(answer.error?.contains("used after its call") == true, "\(answer)")
    }

    @Test("a dead handle has no address, and equals nothing")
    func harmless() throws {
        let sandbox = try Sandbox.with(Self.script)
        _ = sandbox.call("keep", #"{"n":5,"inner":{"x":1}}"#)
        #expect(sandbox.call("text").result == #""object""#)
        #expect(sandbox.call("equal", #"{"n":5,"inner":{"x":1}}"#).result == "[false,true,true,false]")
    }

    @Test("a handle of a call that waits is not another's, and lives on when it goes on")
    func suspended() throws {
        let sandbox = try Sandbox.with(Self.script)
        let value = Value(#"{"n":5}"#)
        let name = strdup("request")
        defer { free(name) }
        var argument = sluice_argument(class_name: name, value: value.pointer, reader: nil)
        var call: OpaquePointer?
        #expect(sluice_vm_call(sandbox.vm, "wait", &argument, 1, Sandbox.budget, 1, &call) == SLUICE_WAITS)
        #expect(sandbox.call("read").error?.contains("used after its call") == true)
        #expect(sandbox.call("write").error?.contains("used after its call") == true)
        #expect(sluice_call_resume(call, SLUICE_HOST_VALUE, nil) == SLUICE_DONE)
        #expect(text(of: sluice_call_result(call, nil)) == "5")
        sluice_call_end(call)
        withExtendedLifetime(value) {}
    }

    @Test(
        "a method with the wrong self says so",
        arguments: [
            "r.get('x')", "r.get(nil, 'x')", "r.get({}, 'x')", "r.headers.get('x')", "r.headers.set(r, 'a', 'b')",
            "r.get(json.null, 'x')", "r.set(5, 'x', 1)",
        ])
    func wrongSelf(script: String) throws {
        let sandbox = try Sandbox.with("return { run = function(r) \(script) end }")
        #expect(sandbox.call("run", #"{"headers":[]}"#).outcome == SLUICE_FAILED_RUNTIME)
    }
}
