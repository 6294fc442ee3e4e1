import CLuaSandbox

extension Attack {
    /// Scripts that want memory, or make a function of C work for long.
    static let memory = [
        Attack(11, "a string of 2^40", .killed, "return ('x'):rep(1 << 40)"),
        Attack(11, "a string of 10^9", .killed, "return ('x'):rep(1e9)"),
        Attack(11, "a string of 2^62 with a gap", .killed, "return ('x'):rep(1 << 62, 'y')"),
        Attack(12, "10^9 times nothing", .harmless, "return (''):rep(1e9)"),
        Attack(12, "2^62 times nothing", .harmless, "return (''):rep(1 << 62)"),
        Attack(12, "nothing in a loop", .killed, "while true do local s = (''):rep(1 << 62) end"),
        Attack(13, "doubling a string", .killed, "local s = 'x' while true do s = s .. s end"),
        Attack(
            13, "doubling a string in pcall", .killed,
            "local s = 'x' while true do pcall(function() s = s .. s end) end"),
        Attack(13, "table flood", .killed, "local t = {} for i = 1, 1e9 do t[i] = {} end"),
        Attack(
            13, "table flood in pcall", .killed,
            "local t = {} while true do pcall(function() for i = 1, 1e9 do t[#t + 1] = {} end end) end"),
        Attack(14, "table.move of 2^40", .refused, "table.move({}, 1, 1 << 40, 2)"),
        Attack(14, "table.move in a loop", .killed, "while true do table.move({}, 1, 99999, 2) end"),
        Attack(
            15, "table.insert with a length of 2^40", .refused,
            "table.insert(setmetatable({}, { __len = function() return 1 << 40 end }), 1, 1)"),
        Attack(
            15, "table.remove with a length of 2^40", .refused,
            "table.remove(setmetatable({}, { __len = function() return 1 << 40 end }), 1)"),
        Attack(
            15, "table.insert into a table with far borders", .killed,
            "local t = {} for i = 0, 61 do t[1 << i] = 1 end while true do table.insert(t, 1, 1) end"),
        Attack(
            16, "sort with a length of 2^31 and rawequal", .refused + .blocked,
            "table.sort(setmetatable({}, { __len = function() return (1 << 31) - 2 end }), rawequal)"),
        Attack(16, "sort with a function in C", .refused, "table.sort({ 1, 2, 3 }, math.ult)"),
        Attack(18, "unpack of 10^8", .refused, "return table.unpack({}, 1, 1e8)"),
        Attack(
            18, "unpack from the smallest to the largest number", .refused,
            "return table.unpack({}, math.mininteger, math.maxinteger)"),
        Attack(
            19, "concat over __len and __index", .refused,
            """
            return table.concat(setmetatable({}, {
              __len = function() return 1 << 40 end, __index = function() return 'x' end }))
            """),
        Attack(35, "a cycle as the result", [SLUICE_FAILED_RESULT], "local t = {} t.t = t return t"),
        Attack(
            35, "200,000 levels as the result", [SLUICE_FAILED_RESULT] + .killed,
            "local t = { 1 } for i = 1, 50000 do t = { t } end return t"),
        Attack(
            35, "150,000 values as the result", [SLUICE_FAILED_RESULT] + .killed,
            "local t = {} for i = 1, 100000 do t[i] = i end return t"),
        Attack(
            35, "one string 10,000 times", .killed + [SLUICE_FAILED_RESULT],
            "local s, t = ('x'):rep(200000), {} for i = 1, 9000 do t[i] = s end return t"),
        Attack(
            35, "objects in objects without end", [SLUICE_FAILED_RESULT],
            "local x = new { a = 1 } while true do x:set('inner', { a = 1 }) x = x.inner end"),
        Attack(
            35, "objects in objects without end, in pcall", .killed,
            """
            local x = new { a = 1 }
            while true do pcall(function() x:set('inner', { a = { a = 1 } }) x = x.inner end) end
            """),
        Attack(
            36, "looping metamethods in the result", .harmless,
            """
            local function loop() while true do end end
            return setmetatable({ 1 }, { __pairs = loop, __index = loop, __len = loop, __tostring = loop })
            """),
        Attack(
            37, "60,000 colliding keys", .killed + .harmless,
            "local t = {} for i = 1, 60000 do t[i * 131071.0 * 2.0 ^ 40] = i end"),
        Attack(
            37, "colliding whole keys", .killed + .harmless,
            "local t = {} for i = 1, 60000 do t[i * 131071 << 20] = i end"),
        Attack(
            37, "a table that grows with colliding keys", .killed,
            "local t = {} for i = 1, 8192 do t[i * 16383] = i end for i = 8193, 20000 do t[i * 16383] = i end"),
        Attack(
            37, "65,536 keys that collide when the table grows", .killed,
            "local t = {} for i = 1, 70000 do t[i * 65535] = i end"),
        Attack(
            37, "many look-ups in a chain of colliding keys", .killed + .harmless,
            """
            local t = {}
            for i = 1, 14000 do t[i * 16383] = i end
            local k = 16383
            while true do
              local a, b, c, d, e, f, g, h = t[k], t[k], t[k], t[k], t[k], t[k], t[k], t[k]
            end
            """),
        Attack(40, "huge %q", .killed, "local s = ('\\0'):rep(200000) return ('%q%q%q'):format(s, s, s)"),
        Attack(
            40, "huge %s in a loop", .killed,
            "local s = ('x'):rep(60000) while true do local t = ('%s%s%s%s'):format(s, s, s, s) end"),
        Attack(41, "tonumber of 120,000 digits", .refused, "local s = ('1'):rep(120000) while true do tonumber(s) end"),
        Attack(
            41, "tonumber of 120,000 digits in pcall", .killed,
            "local s = ('1'):rep(120000) while true do pcall(tonumber, s) end"),
        Attack(
            41, "arithmetic with 120,000 digits", .refused,
            "local s = ('1'):rep(120000) while true do local x = s + 1 end"),
        Attack(
            41, "a loop to 120,000 digits", .killed + .refused,
            "local s = '0.' .. ('1'):rep(250000) while true do pcall(function() for i = 1, s do end end) end"),
        Attack(
            41, "120,000 digits for a position", .killed + .refused,
            "local s = '0.' .. ('1'):rep(250000) while true do pcall(string.sub, 'x', s) pcall(select, s) end"),
        Attack(42, "utf8.len of 240 KB", .killed, "local s = ('ä'):rep(120000) while true do utf8.len(s) end"),
    ]
}
