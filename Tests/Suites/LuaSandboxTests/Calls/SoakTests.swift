import CLuaSandbox
import Glibc
import Testing

@Suite("Many calls")
struct SoakTests {
    @Test("a million calls leave the stack and the memory as they were")
    func million() throws {
        let sandbox = try Sandbox.with(
            """
            local kept = { 1, 2, 3 }
            return {
              run = function(r)
                local a, b, c = r.method, r.n, r.flag
                r.headers:set("X-Count", "7")
                return c and { a = a, b = b + kept[1] }
              end,
              bad = function(r) if r.n > 0 then error("no") end end,
            }
            """)
        let value = Value(#"{"method":"GET","n":1,"flag":true,"headers":[["a","b"]]}"#)
        let name = strdup("request")
        defer { free(name) }
        var argument = sluice_argument(class_name: name, value: value.pointer, reader: nil)
        func run(_ times: Int) {
            for index in 0..<times {
                var call: OpaquePointer?
                let hook = index % 1000 == 0 ? "bad" : "run"
                let outcome = sluice_vm_call(sandbox.vm, hook, &argument, 1, Sandbox.budget, 1, &call)
                if outcome != (index % 1000 == 0 ? SLUICE_FAILED_RUNTIME : SLUICE_DONE) {
                    Issue.record("call \(index) ended with \(outcome)")
                }
                sluice_call_end(call)
            }
        }
        run(20_000)
        let memory = sluice_vm_peak_memory(sandbox.vm)
        let growths = (0..<20).map { _ in
            let resident = Self.resident
            run(50_000)
            return Self.resident - resident
        }
        #expect(sluice_vm_is_balanced(sandbox.vm))
        #expect(sluice_vm_peak_memory(sandbox.vm) <= memory + 4096)
        // What a call left behind would show in each part; what other tests take meanwhile does not.
        #expect(growths.sorted()[4] < 2 << 20, "\(growths)")
        #expect(
            sandbox.call("run", #"{"method":"GET","n":1,"flag":true,"headers":[]}"#).result == #"{"a":"GET","b":2}"#)
        withExtendedLifetime(value) {}
    }

    /// The process's resident memory, which other tests have their part in.
    private static var resident: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var size = 0
        var resident = 0
        return withUnsafeMutablePointer(to: &size) { size in
            withUnsafeMutablePointer(to: &resident) { resident in
                withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) } == 2 ? resident.pointee * 4096 : 0
            }
        }
    }

    @Test("every allocation may fail, and each entry point comes back with an answer", arguments: 0..<8)
    func allocations(part: Int) throws {
        let script = """
            local m = require('m')
            count = 1
            return {
              run = function(r)
                local t, s = {}, ''
                for k, v in pairs(r) do t[#t + 1] = k s = s .. tostring(v) end
                r.headers:add('a', s) r.x = { deep = { t } } r.inner.y = 'z'
                local o = setmetatable({ n = 1 }, { __index = function(_, k) return k end })
                s = s:gsub('%w', function(c) return c:upper() end)
                local ok, e = pcall(error, 'caught ' .. o.key)
                local a = wait('x') .. echo('y')
                return { a = a, s = s, e = e, j = json.decode(json.encode(t)), o = new { q = 1 }, m = m.n }
              end,
              bad = function(r) return r.missing.field end,
            }
            """
        var failAt = UInt64(part + 1)
        var isThrough = false
        while !isThrough {
            isThrough = try scenario(script, failAt)
            failAt += 8
        }
        #expect(failAt > 800, "the scenario has fewer allocations than it must have: \(failAt)")
    }

    /// Everything once, with one allocation failing. Whether that one was beyond the last.
    private func scenario(_ script: String, _ failAt: UInt64) throws -> Bool {
        guard let sandbox = Sandbox(failAt: failAt) else { return false }
        do {
            try sandbox.load(script, modules: ["m": "return { n = 1 }"], config: #"{"a":[1,2,{"b":"c"}]}"#)
        } catch let failure as Sandbox.Failure {
            #expect(failure.outcome == SLUICE_FAILED_MEMORY || failure.outcome == SLUICE_FAILED_RUNTIME)
            return false
        }
        let request = #"{"method":"GET","n":[1,2],"headers":[["a","b"]],"inner":{"x":{"y":1}}}"#
        let good = sandbox.call("run", request, replies: [#""w""#])
        let bad = sandbox.call("bad", request)
        sluice_vm_profile_start(sandbox.vm)
        let again = sandbox.call("run", request, replies: [#""w""#])
        #expect(text(of: sluice_vm_profile_take(sandbox.vm)) != nil)
        #expect(good.outcome == SLUICE_DONE || good.outcome == SLUICE_FAILED_MEMORY, "\(failAt): \(good)")
        #expect(bad.outcome == SLUICE_FAILED_RUNTIME || bad.outcome == SLUICE_FAILED_MEMORY)
        #expect(again.outcome == SLUICE_DONE || again.outcome == SLUICE_FAILED_MEMORY)
        #expect(sluice_vm_is_balanced(sandbox.vm))
        let isThrough = sluice_vm_allocations(sandbox.vm) < failAt
        if isThrough { #expect(good.outcome == SLUICE_DONE && again.outcome == SLUICE_DONE) }
        // One of them was killed, and the VM works on. The first may still have the second half of the failure.
        if !isThrough {
            _ = sandbox.call("run", request, replies: [#""w""#])
            #expect(sandbox.call("run", request, replies: [#""w""#]).outcome == SLUICE_DONE)
        }
        return isThrough
    }
}
