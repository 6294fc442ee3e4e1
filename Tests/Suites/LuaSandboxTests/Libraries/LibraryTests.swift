import CLuaSandbox
import Testing

@Suite("Guarded libraries")
struct LibraryTests {
    /// What programs do with the libraries every day. A guard must not change it.
    private static let everyday =
        Reference.start + #"""
            local function sorted(t, f) table.sort(t, f) return table.concat(t, ",") end
            local function keys(t)
              local out = {}
              for k in pairs(t) do out[#out + 1] = tostring(k) end
              return sorted(out)
            end
            local function removed(t, ...) local v = table.remove(t, ...) return v, #t, table.concat(t, ",") end
            local function inserted(t, ...) table.insert(t, ...) return #t, table.concat(t, ",") end
            local Point = {}
            Point.__index = Point
            Point.__add = function(a, b) return setmetatable({ x = a.x + b.x }, Point) end
            Point.__eq = function(a, b) return a.x == b.x end
            Point.__lt = function(a, b) return a.x < b.x end
            Point.__le = function(a, b) return a.x <= b.x end
            Point.__tostring = function(p) return "point " .. p.x end
            Point.__len = function() return 7 end
            Point.__call = function(p, y) return p.x + y end
            Point.__concat = function(a, b) return "joined" end
            Point.__unm = function(p) return setmetatable({ x = -p.x }, Point) end
            function Point.new(x) return setmetatable({ x = x }, Point) end
            function Point:double() return self.x * 2 end
            local tests = {
              function() return ("abc"):rep(3), ("ab"):rep(3, "-"), ("x"):rep(0), ("x"):rep(-1), ("x"):rep(1, "gap") end,
              function() return ("hello"):sub(2, 3), ("hello"):sub(-3), ("hello"):sub(4, 2), ("hello"):sub(0) end,
              function() return ("hello"):byte(), ("hello"):byte(-1), ("hello"):byte(2, 4), (""):byte() end,
              function() return ("hello"):byte(10), ("hello"):byte(-10, 1), ("hello"):byte(3, 2) end,
              function() return string.char(72, 105), string.char(), ("Hi"):upper(), ("Hi"):lower(), ("abc"):reverse() end,
              function() return #"abc", ("abc"):len(), string.len("\0\0") end,
              function() return ("%d %5d|%-5d|%05d %x %X %o"):format(42, 42, 42, 42, 255, 255, 8) end,
              function() return ("%f %.2f %e %g %a"):format(1.5, 2.345, 12345.678, 0.1, 1.0) end,
              function() return ("%s %s %s %10s|%-10s|%.2s"):format("a", nil, true, "right", "left", "cut") end,
              function() return ("%q %q %q"):format("a\n\"b\"\0", 1, 1.5) end,
              function() return ("%c%c %i %u"):format(65, 66, 3, 4) end,
              function() return ("%5.1f%%"):format(99.55) end,
              function() return ("%d"):format("10"), ("%d"):format(3.0) end,
              function() return ("%d"):format(3.5) end,
              function() return ("%d"):format("x") end,
              function() return ("%y"):format(1) end,
              function() return ("%s %s"):format(1) end,
              function() return ("%s"):format(Point.new(3)) end,
              function() return tonumber("10"), tonumber("0x10"), tonumber("1e2"), tonumber("  7  "), tonumber("x") end,
              function() return tonumber("ff", 16), tonumber("zz", 36), tonumber("8", 8), tonumber(""), tonumber(nil) end,
              function() return tostring(1), tostring(1.0), tostring(-0.0), tostring(1e100), tostring(nil), tostring(true) end,
              function() return tostring(1 / 0), tostring(math.mininteger), tostring(2^53), tostring(Point.new(1)) end,
              function() return "10" + 5, "3" * "4", 10 .. 20, "0x10" + 0, "1e1" + 0, -"2", "7" // 2, "7" % 4, "2" ^ 3 end,
              function() return "a" + 1 end,
              function() return {} + 1 end,
              function() return 1 < "2" end,
              function() return 7 // 2, -7 // 2, 7 % -3, 7.5 // 2, 1 << 62, 5 & 3, 5 | 3, 5 ~ 3, ~0 end,
              function() return 1 // 0 end,
              function() return math.floor(2.7), math.ceil(2.1), math.abs(-3), math.max(1, 5, 3), math.min(4, 2) end,
              function() return math.huge, math.pi, math.maxinteger, math.type(1), math.type(1.0), math.type("1") end,
              function() return math.fmod(7, 3), math.modf(3.7), math.sqrt(16), math.exp(0), math.log(8, 2), math.ult(1, -1) end,
              function() return math.tointeger(3.0), math.tointeger(3.5), math.tointeger("8"), math.floor("3.7") end,
              function() return math.floor({}) end,
              function() return sorted({ 5, 2, 8, 1 }), sorted({ "b", "a", "C" }), sorted({}), sorted({ 1 }) end,
              function() return sorted({ 3, 1, 2 }, function(a, b) return a > b end) end,
              function() return sorted({ 3, "x", 2 }) end,
              function() return sorted({ Point.new(1), Point.new(2) }) end,
              function() return table.concat({ 1, 2, 3 }), table.concat({ "a", "b" }, "-"), table.concat({}, "x") end,
              function() return table.concat({ 1, 2, 3, 4 }, ",", 2, 3), table.concat({ 1, 2 }, ",", 3) end,
              function() return table.concat({ 1, {}, 3 }) end,
              function() return inserted({ 1, 2 }, 3), inserted({ 1, 2 }, 1, 0), inserted({}, "a"), inserted({ 1, 2 }, 3, 9) end,
              function() return inserted({ 1, 2 }, 5, 9) end,
              function() return inserted({ 1, 2 }) end,
              function() return inserted({ 1, 2 }, 1, 2, 3) end,
              function() return removed({ 1, 2, 3 }) end,
              function() return removed({ 1, 2, 3 }, 1) end,
              function() return removed({}) end,
              function() return removed({ 1, 2, 3 }, 4) end,
              function() return removed({}, 0) end,
              function() return table.unpack({ 1, 2, 3 }) end,
              function() return table.unpack({ 1, 2, 3 }, 2), table.unpack({ 1, 2, 3 }, 2, 3), table.unpack({}, 1, 2) end,
              function() local t = table.pack(1, nil, 3) return t.n, t[1], t[2], t[3], table.pack().n end,
              function() return table.concat(table.move({ 1, 2, 3 }, 2, 3, 1), ",") end,
              function() return table.concat(table.move({ 1, 2, 3 }, 1, 3, 2), ",") end,
              function() return table.concat(table.move({ 1, 2, 3 }, 1, 3, 3, { 9, 9 }), ",") end,
              function() return keys({ a = 1, b = 2, 10, 20 }), next({}), next({ 5 }) end,
              function() local n = 0 for i, v in ipairs({ 1, 2, nil, 4 }) do n = n + v end return n end,
              function() return select("#", 1, nil, nil), select(2, "a", "b", "c"), select(-1, "a", "b") end,
              function() return select(0) end,
              function() return pcall(error, "x"), pcall(error, "x", 0), pcall(error), type((select(2, pcall(error, { 1 })))) end,
              function() return pcall(function() error("here") end) end,
              function() return pcall(function() error("there", 2) end) end,
              function() return pcall(function() local x = nil return x.y end) end,
              function() return pcall(function() return 1 + nil end) end,
              function() return pcall(function() return #5 end) end,
              function() return pcall(pcall), pcall(pcall, error) end,
              function() return assert(1, 2, 3) end,
              function() return assert(false) end,
              function() return assert(nil, "message") end,
              function() return assert() end,
              function() return type(1), type("x"), type(nil), type({}), type(print), type(type) end,
              function() return type() end,
              function() local p = Point.new(2) return p:double(), (p + p).x, p == Point.new(2), p < Point.new(3) end,
              function() local p = Point.new(2) return p <= p, #p, p(5), p .. "x", (-p).x, tostring(p) end,
              function() return setmetatable({}, { __index = function(_, k) return k .. "!" end }).hello end,
              function() local log = {} local t = setmetatable({}, { __newindex = function(_, k, v) log[1] = k .. v end })
                t.a = "b" return log[1], next(t) end,
              function() return setmetatable({ 1 }, nil)[1] end,
              function() return setmetatable(1, {}) end,
              function() return setmetatable({}, 1) end,
              function() local out = {}
                for k, v in pairs(setmetatable({}, { __pairs = function(t)
                  return function(_, k) if not k then return 1, "x" end end, t, nil end })) do out[1] = k .. v end
                return out[1] end,
              function() return utf8.char(72, 228, 8364), utf8.len("häß"), utf8.codepoint("ä", 1), utf8.offset("aäb", 3) end,
              function() return utf8.len("\xff"), utf8.charpattern, utf8.codepoint("abc", 1, -1) end,
              function() local out = {} for p, c in utf8.codes("aä") do out[#out + 1] = p .. ":" .. c end
                return table.concat(out, " ") end,
              function() for p, c in utf8.codes("a\xff") do end end,
              function() local t = {} for w in ("one two  three"):gmatch("%a+") do t[#t + 1] = w end return table.concat(t, "|") end,
              function() return ("hello world"):gsub("o", "0"), ("abc"):gsub("", "-"), ("abc"):gsub("%w", "%0%0") end,
              function() return ("$name is $age"):gsub("%$(%w+)", { name = "Ann", age = 5 }) end,
              function() return ("  trim  "):match("^%s*(.-)%s*$"), ("2026-11-21"):match("(%d+)-(%d+)-(%d+)") end,
              function() return ("key = value"):find("(%w+)%s*=%s*(%w+)"), ("a.b"):find(".", 1, true), ("abc"):find("b", -1) end,
              function() return ("x"):bad() end,
              function() return string.rep() end,
              function() return string.rep("x", "y") end,
              function() return string.rep("x", "3"), string.rep(5, 2) end,
              function() return ("x"):rep(1.5) end,
              function() return string.sub() end,
              function() return table.concat(1) end,
              function() local a <const> = 5 goto done ::done:: return a end,
              function() local t = { 1, 2, 3, n = 4 } local s = 0 for i = #t, 1, -1 do s = s * 10 + t[i] end return s, t.n end,
              function() local s = 0 for i = 1.0, 2.0, 0.5 do s = s + i end return s end,
              function() for i = 1, 10, 0 do end end,
            }
            return { run = function(a)
              local out = {}
              for i = 1, #tests do out[i] = line(pcall(tests[i])) end
              return out
            end }
            """#

    @Test("what programs do every day gives what it gives in Lua as it comes")
    func everyday() throws {
        let (stock, sandbox) = try Reference.answers(Self.everyday, seed: 1, count: 1)
        #expect(stock.count > 90)
        #expect(stock.count == sandbox.count)
        for (index, pair) in zip(stock, sandbox).enumerated() where pair.0 != pair.1 {
            Issue.record("test \(index + 1): Lua says \(pair.0), the sandbox \(pair.1)")
        }
    }

    @Test("sorting agrees with Lua's, whatever is sorted", arguments: 1...5)
    func sorting(seed: Int) throws {
        let text =
            Reference.start + #"""
                return { run = function(a)
                  state = a.seed
                  local out = {}
                  for i = 1, a.count do
                    local t = {}
                    for j = 1, random(40) - 1 do t[j] = random(30) end
                    if random(2) == 1 then table.sort(t) else table.sort(t, function(x, y) return x > y end) end
                    out[i] = "t" .. table.concat(t, ",")
                  end
                  return out
                end }
                """#
        let (stock, sandbox) = try Reference.answers(text, seed: seed * 104729, count: 200)
        #expect(stock == sandbox)
        #expect(stock.count == 200)
    }

    @Test("a deterministic VM goes through tables in the order of their keys, and rolls the same dice in each call")
    func deterministic() throws {
        var limits = sluice_limits_default()
        limits.is_deterministic = true
        let script = """
            return { run = function()
              local t, out = { [3] = 1, [1] = 1, [2.5] = 1 }, {}
              for i = 1, 20 do t['k' .. i * 7919 % 100] = i end
              for k, v in pairs(t) do out[#out + 1] = k .. '=' .. v end
              local k = nil
              repeat k = next(t, k) out[#out + 1] = tostring(k) until k == nil
              for i = 1, 5 do out[#out + 1] = math.random(1000) end
              return out
            end }
            """
        let first = try Sandbox.with(script, limits: limits)
        let second = try Sandbox.with(script, limits: limits)
        let answers = [first.call("run"), first.call("run"), second.call("run")]
        #expect(answers.allSatisfy { $0.result == answers[0].result })
        #expect(answers[0].result?.hasPrefix(#"["1=1","2.5=1","3=1","k"#) == true)
        // The same history costs the same; a string that is there already costs nothing the second time.
        #expect(answers[0].fuel == answers[2].fuel)
        #expect(abs(answers[1].fuel - answers[0].fuel) * 8 < answers[0].fuel)
    }
}
