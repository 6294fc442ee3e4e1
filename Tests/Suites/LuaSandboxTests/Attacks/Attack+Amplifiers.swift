import CLuaSandbox

extension Attack {
    /// Endless loops of one dear operation each.
    static let amplifiers = [
        ("concat", "local s, t = ('x'):rep(130000) while true do t = s .. s end"),
        (
            "less than",
            "local a, b = ('x'):rep(262000) .. 'a', ('x'):rep(262000) .. 'b' while true do local c = a < b end"
        ),
        (
            "equal",
            "local a, b = ('x'):rep(262000) .. 'a', ('x'):rep(262000) .. 'a' while true do local c = a == b end"
        ),
        ("long string as a key", "local t, s = {}, ('x'):rep(131000) while true do t[s .. 'y'] = 1 end"),
        ("plain find", "local s = ('x'):rep(260000) while true do s:find('y', 1, true) end"),
        (
            "plain find of half the text",
            "local s, p = ('a'):rep(260000), ('a'):rep(130000) .. 'b' while true do s:find(p, 1, true) end"
        ),
        (
            "sort",
            """
            local t = {} for i = 1, 20000 do t[i] = i end
            while true do table.sort(t, function(a, b) return a > b end) table.sort(t) end
            """
        ),
        (
            "sort of long strings",
            """
            local t = {} for i = 1, 30 do t[i] = ('x'):rep(200000) .. i end
            while true do table.sort(t) table.sort(t, function(a, b) return a > b end) end
            """
        ),
        ("pairs", "local t = {} for i = 1, 50000 do t[i] = i end while true do for k in pairs(t) do end end"),
        (
            "an emptied table that stands in a value many times",
            """
            local t, r = {}, {} for i = 1, 60000 do t[i] = 1 end for i = 1, 60000 do t[i] = nil end
            json.array(t) for i = 1, 9000 do r[i] = t end
            while true do json.encode(r) end
            """
        ),
        (
            "next of an emptied table",
            """
            local t = {} for i = 1, 60000 do t['k' .. i] = 1 end for k in pairs(t) do t[k] = nil end
            while true do next(t) end
            """
        ),
        (
            "garbage beside 20,000 tables",
            "local t = {} for i = 1, 20000 do t[i] = {} end while true do local x = {} end"
        ),
        (
            "varargs",
            """
            local function f(...) return select('#', ...) end
            local t = {} for i = 1, 200 do t[i] = i end
            while true do f(table.unpack(t)) end
            """
        ),
        ("insert in front", "local t = {} while true do table.insert(t, 1, 1) end"),
        (
            "remove in front",
            """
            local t = {} for i = 1, 20000 do t[i] = i end
            while true do table.remove(t, 1) t[#t + 1] = 1 end
            """
        ),
        ("upper", "local s = ('x'):rep(260000) while true do s:upper() end"),
        ("reverse and sub", "local s = ('x'):rep(260000) while true do s:reverse():sub(2) end"),
        ("byte", "local s = ('x'):rep(4000) while true do s:byte(1, -1) end"),
        ("gsub with a function", "local s = ('x'):rep(200000) while true do s:gsub('.', function(c) return c end) end"),
        ("gsub with a table", "local s, t = ('x'):rep(200000), { x = 'y' } while true do s:gsub('.', t) end"),
        ("gmatch", "local s = ('x'):rep(200000) while true do for c in s:gmatch('.') do end end"),
        (
            "concat of a table",
            "local t = {} for i = 1, 10000 do t[i] = 'abc' end while true do table.concat(t, ',') end"
        ),
        ("a long pattern", "local p = ('%a[b-z]'):rep(30000) while true do ('x'):find(p) end"),
        ("metatables", "local m = { __index = {} } while true do setmetatable({}, m) end"),
        ("closures", "while true do local x = function() return x end end"),
        (
            "memory at its limit",
            """
            local t, n = {}, 0
            pcall(function() for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i n = i if i > 7400 then break end end end)
            while true do local g = { {}, {}, {} } end
            """
        ),
        (
            "the length of a table with far borders",
            """
            local t = {} for i = 0, 61 do t[1 << i] = 1 end
            while true do local n = #t end
            """
        ),
        (
            "weak tables",
            """
            local m, all = {}, {}
            for i = 1, 20000 do local t = setmetatable({}, m) all[i] = t if i > 1 then t[all[i - 1]] = all end end
            m.__mode = 'k'
            while true do local x = {} end
            """
        ),
        ("JSON text", "local t = {} for i = 1, 5000 do t[i] = i end while true do json.encode(t) end"),
        ("JSON values", "local s = '[' .. ('1,'):rep(50000) .. '1]' while true do json.decode(s) end"),
        ("JSON errors", "local s = ('['):rep(200000) while true do json.decode(s) end"),
        (
            "objects",
            "local r = new { a = 1 } while true do r:set('inner', { b = { 1 } }) r.inner.c = r.inner r.x = r.inner r.x = nil end"
        ),
        (
            "headers",
            """
            local r = new { headers = json.array { json.array { 'a', 'b' } } }
            while true do r.headers:add('name', 'value') r.headers:get('other') end
            """
        ),
        ("many handles", "local r = new { a = 1 } while true do r:set('inner', { a = 1 }) local h = r.inner end"),
        ("host calls", "while true do echo('x') end"),
        ("host calls with large values", "local s = ('x'):rep(200000) while true do echo(s) end"),
        ("frozen tables", "local t = {} for i = 1, 1000 do t[i] = { i } end while true do freeze(t) end"),
        ("errors with long messages", "local s = ('x'):rep(200000) while true do pcall(error, s .. 'y') end"),
        ("random numbers", "while true do math.random(1, 10) end"),
        ("math with texts", "local s = ('1'):rep(200000) while true do pcall(math.floor, s) end"),
        ("utf8.codes", "local s = ('ä'):rep(100000) while true do for p, c in utf8.codes(s) do end end"),
    ].map { Attack(45, "\($0.0) in a loop", .killed, $0.1) }
}
