import CLuaSandbox

extension Attack {
    /// Scripts that want time.
    static let loops = [
        Attack(1, "endless while", .killed, "while true do end"),
        Attack(1, "endless goto", .killed, "::a:: goto a"),
        Attack(1, "endless repeat with calls", .killed, "local function f() end repeat f() until false"),
        Attack(
            2, "endless loop in pcall in a loop", .killed, "while true do pcall(function() while true do end end) end"),
        Attack(
            2, "pcall of pcall in a loop", .killed,
            "local function f() while true do pcall(pcall, f) end end while true do pcall(f) end"),
        Attack(3, "xpcall whose handler loops", .blocked, "xpcall(error, function() while true do end end)"),
        Attack(4, "an error in the error handler", .blocked, "while true do xpcall(error, error) end"),
        Attack(
            5, "a coroutine every 200 steps", .blocked,
            "while true do coroutine.wrap(function() for i = 1, 200 do end end)() end"),
        Attack(6, "loop in a coroutine", .blocked, "coroutine.wrap(function() while true do end end)()"),
        Attack(7, "recursive resume", .blocked, "local function f() coroutine.resume(coroutine.create(f)) end f()"),
        Attack(
            8, "__gc that loops", .blocked,
            "for i = 1, 1e9 do setmetatable({}, { __gc = function() while true do end end }) end"),
        Attack(
            9, "__gc that comes back", .blocked,
            "local m = {} m.__gc = function(o) setmetatable(o, m) end setmetatable({}, m)"),
        Attack(
            9, "__gc that is added later", .killed,
            """
            local m = {}
            while true do
              m.__gc = nil
              local t = setmetatable({}, m)
              m.__gc = function() while true do end end
            end
            """),
        Attack(
            10, "close variable that loops", .blocked,
            "local x <close> = setmetatable({}, { __close = function() while true do end end }) error('x')"),
        Attack(
            10, "close that is added later", .refused,
            """
            local m = {}
            local t = setmetatable({}, m)
            m.__close = function() while true do end end
            local x <close> = t
            error('x')
            """),
        Attack(
            17, "sort with an inconsistent comparator", .killed + .refused + .harmless,
            """
            local t = {}
            for i = 1, 5000 do t[i] = i * 7919 % 5003 end
            table.sort(t, function(a, b) return true end)
            """),
        Attack(20, "eight lazy dots", .killed, "return ('a'):rep(300):find('.-.-.-.-.-.-.-.-b')"),
        Attack(
            20, "eight lazy dots in pcall", .killed,
            "while true do pcall(string.find, ('a'):rep(300), '.-.-.-.-.-b') end"),
        Attack(21, "gsub of .-b", .killed, "return ('a'):rep(60000):gsub('.-b', '')"),
        Attack(22, "trim of 200,000 spaces", .killed, "return ('x' .. (' '):rep(200000) .. 'x'):match('^(.-)%s*$')"),
        Attack(22, "trim by gsub", .killed, "return ((' '):rep(200000) .. 'x'):gsub('%s+$', '')"),
        Attack(23, "250 optional items", .refused, "return ('a'):rep(250):find(('a?'):rep(250) .. ('a'):rep(250))"),
        Attack(24, "recursion", .killed + .refused, "local function f() return 1 + f() end f()"),
        Attack(
            24, "recursion in a loop of pcall", .killed,
            "local function f() return 1 + f() end while true do pcall(f) end"),
        Attack(25, "recursion through pcall", .killed + .harmless, "local function f() return pcall(f) end f()"),
        Attack(
            25, "recursion through pcall, in a loop", .killed,
            "local function f() return pcall(f) end while true do f() end"),
        Attack(
            25, "recursion through gsub", .refused + .killed,
            "local function f() return (('x'):gsub('x', f)) end return f()"),
        Attack(
            25, "recursion through sort", .refused + .killed,
            "local function f() table.sort({ 1, 2, 3 }, f) return true end f()"),
        Attack(
            26, "__index chain of 3,000", .refused,
            "local t = {} for i = 1, 3000 do t = setmetatable({}, { __index = t }) end return t.x"),
        Attack(
            26, "__index that recurses", .refused + .killed,
            "local t = {} setmetatable(t, { __index = function(s, k) return s[k .. 'x'] end }) return t.x"),
        Attack(
            34, "error object whose __tostring loops", .refused,
            "error(setmetatable({}, { __tostring = function() while true do end end }))"),
        Attack(
            43, "metatable on the globals", .refused, "setmetatable(_G, { __index = function() while true do end end })"
        ),
        Attack(43, "unknown global in a loop", .killed, "while true do pcall(function() return zzz end) end"),
        Attack(44, "yield that nobody asked for", .blocked, "coroutine.yield(1)"),
        Attack(
            47, "pcall of a loop, then a loop", .killed, "pcall(function() while true do end end) while true do end"),
        Attack(
            47, "pcall of a loop that goes on from its error", .killed,
            """
            local function f() local ok = pcall(function() while true do end end) return f() end
            f()
            """),
    ]
}
