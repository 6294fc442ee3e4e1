import CLuaSandbox
import Glibc
import LuaReference

/// The same text in Lua as it comes and in the sandbox: what both of them answer, line by line.
enum Reference {
    static func answers(_ text: String, seed: Int, count: Int) throws -> (stock: [String], sandbox: [String]) {
        let answer = lua_reference_run(text, seed, count)
        defer { free(answer) }
        let stock = answer.map { String(cString: $0) } ?? ""
        var limits = sluice_limits_default()
        limits.memory_bytes = 64 << 20
        limits.result_nodes = 100_000
        let sandbox = try Sandbox.with(text, limits: limits)
        let budget = sluice_budget(fuel: 0, burst_nanoseconds: 0, cpu_nanoseconds: 0, may_wait: false)
        let given = sandbox.call("run", #"{"seed":\#(seed),"count":\#(count)}"#, as: nil, budget: budget)
        guard let result = given.result else {
            throw Sandbox.Failure(outcome: given.outcome, description: given.error ?? "")
        }
        return (stock.split(separator: "\n").map(String.init), Value(result).texts)
    }

    /// What both texts begin with: a source of random numbers, and a way to say any values in printable letters.
    static let start = #"""
        local state
        local function random(n)
          state = (state * 1103515245 + 12345) % 2147483648
          return state // 65536 % n + 1
        end
        local function show(v)
          if type(v) ~= "string" then return tostring(v) end
          local out = {}
          for i = 1, #v do
            local b = v:byte(i)
            out[i] = b > 31 and b < 127 and b ~= 92 and string.char(b) or "\\" .. b
          end
          return '"' .. table.concat(out) .. '"'
        end
        local function line(...)
          local out = {}
          for i = 1, select("#", ...) do out[i] = show((select(i, ...))) end
          return table.concat(out, " ")
        end

        """#
}
