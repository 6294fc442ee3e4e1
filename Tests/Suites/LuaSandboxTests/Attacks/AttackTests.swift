import CLuaSandbox
import Glibc
import Testing

@Suite("Attacks")
struct AttackTests {
    /// The most CPU time that an attack may have, in milliseconds.
    static let most = 250.0

    private static let all = Attack.loops + Attack.memory + Attack.reach + Attack.amplifiers

    /// What hooks may spend at the most, unless their plugin is allowed more.
    private static let usual = sluice_budget(
        fuel: 1_000_000, burst_nanoseconds: 50_000_000, cpu_nanoseconds: 100_000_000, may_wait: true)

    private static let unmetered = sluice_budget(
        fuel: 0, burst_nanoseconds: 50_000_000, cpu_nanoseconds: 100_000_000, may_wait: true)

    private func run(_ attack: Attack, budget: sluice_budget) throws -> Sandbox.Answer {
        let sandbox = try Sandbox.with(
            "return { attack = function()\n\(attack.script)\nend, good = function(r) return r.n + 1 end }")
        let answer = sandbox.call("attack", budget: budget)
        #expect(attack.outcomes.contains(answer.outcome.rawValue), "\(answer)")
        #expect(answer.milliseconds < Self.most)
        let after = sandbox.call("good", #"{"n":1}"#)
        #expect(after.outcome == SLUICE_DONE && after.result == "2", "the VM is of no use any more: \(after)")
        #expect(sluice_vm_is_balanced(sandbox.vm))
        if budget.fuel > 0 { #expect(text(of: sluice_vm_self_test(sandbox.vm)) == "[]") }
        return answer
    }

    @Test("an attack ends within its time, and the VM is as good as before", arguments: all)
    func ends(_ attack: Attack) throws {
        let answer = try run(attack, budget: Self.usual)
        if let error = answer.error { #expect(!error.contains("0x")) }
        if let result = answer.result { #expect(!result.contains("0x")) }
    }

    @Test("an attack ends by the clock alone", arguments: all)
    func endsWithoutFuel(_ attack: Attack) throws {
        _ = try run(attack, budget: Self.unmetered)
    }

    /// A plugin's text under a short name.
    struct Text: CustomStringConvertible, Sendable {
        let description: String
        let text: String

        init(_ number: Int, _ text: String) {
            description = "\(number): \(text.prefix(40))"
            self.text = text
        }
    }

    @Test(
        "an attack by the plugin's text fails its loading",
        arguments: [
            Text(27, "\u{1b}Lua"),
            Text(28, "return " + String(repeating: "(", count: 100_000)),
            Text(28, "return {" + String(repeating: "1,", count: 300_000) + "}"),
            Text(28, "return " + String(repeating: "{", count: 100_000)),
            Text(28, "local a = " + String(repeating: "-", count: 200_000)),
            Text(28, "local a = '" + String(repeating: "x", count: 300_000) + "' return {}"),
            Text(1, "while true do end"),
            Text(2, "while true do pcall(function() while true do end end) end"),
            Text(13, "local t = {} for i = 1, 1e9 do t[i] = {} end"),
            Text(31, "pcall = nil"),
            Text(29, "return require('../secret')"),
            Text(44, "wait('x') return {}"),
        ])
    func texts(_ text: Text) throws {
        let started = Sandbox.threadTime
        #expect(throws: Sandbox.Failure.self) { try Sandbox.with(text.text, budget: Self.usual) }
        #expect(Sandbox.threadTime - started < Self.most)
    }

    @Test("a VM whose memory is full to the last byte says so, and ends no process")
    func fullMemory() throws {
        let sandbox = try Sandbox.with(
            """
            local kept, size = {}, 100000
            return {
              fill = function()
                while size > 0 do
                  if not pcall(function() kept[#kept + 1] = ('x'):rep(size) .. #kept end) then size = size // 2 end
                end
              end,
              keep = function() for i = 1, 1e9 do kept[#kept + 1] = {} end end,
              good = function(r) return r.n end,
            }
            """)
        for _ in 0..<5 {
            let answer = sandbox.call("keep")
            #expect(answer.outcome == SLUICE_FAILED_MEMORY || answer.outcome == SLUICE_FAILED_FUEL)
            let after = sandbox.call("good", #"{"n":1}"#)
            #expect([SLUICE_DONE, SLUICE_FAILED_MEMORY, SLUICE_FAILED_FUEL].contains(after.outcome))
        }
        #expect(sluice_vm_is_balanced(sandbox.vm))
        #expect(sluice_vm_kills(sandbox.vm) >= 3)
        #expect(sluice_vm_peak_memory(sandbox.vm) <= sluice_limits_default().memory_bytes + 65536)
    }

    @Test(
        "recursion through functions in C ends before the stack of a plugin's thread does",
        arguments: [
            "local function f() return (('x'):gsub('x', f)) end return f()",
            "local function f() table.sort({ 1, 2, 3 }, f) return true end return f()",
            "local function f() return ('%s'):format(setmetatable({}, { __tostring = f })) end return f()",
            "local function f() return tostring(setmetatable({}, { __tostring = f })) end return f()",
            "local function f() return pcall(f) end return f()",
            "local t = {} t.x = setmetatable({}, { __index = function(s, k) return ('x'):gsub('x', function() return s[k .. k] end) end }) return t.x.y",
            "local function f() for k in pairs(setmetatable({}, { __pairs = f })) do end end return f()",
            "local t = new { a = 1 } for i = 1, 30 do t:set('inner', { a = { b = { c = 1 } } }) t = t.inner end return t",
        ])
    func smallStack(script: String) throws {
        let sandbox = try Sandbox.with("return { run = function()\n\(script)\nend }")
        final class Box: @unchecked Sendable {  // one thread at a time has it
            let sandbox: Sandbox
            var answer: Sandbox.Answer?
            init(_ sandbox: Sandbox) { self.sandbox = sandbox }
        }
        let box = Box(sandbox)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 1 << 20)
        var thread = pthread_t()
        let pointer = Unmanaged.passRetained(box).toOpaque()
        let status = pthread_create(
            &thread, &attributes,
            { pointer in
                guard let pointer else { return nil }
                let box = Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue()
                box.answer = box.sandbox.call("run")
                return nil
            }, pointer)
        try #require(status == 0)
        pthread_join(thread, nil)
        #expect(box.answer != nil)
        #expect(sluice_vm_is_balanced(sandbox.vm))
    }

    @Test("an error object is not asked for its text")
    func errorObject() throws {
        let answer = try Sandbox.run("error(setmetatable({}, { __tostring = function() return 'lie' end }))")
        #expect(answer.error?.contains("error object (a table value)") == true)
    }
}
