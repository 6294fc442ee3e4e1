import CLuaSandbox

extension Attack {
    /// Scripts that want what is not theirs.
    static let reach = [
        Attack(27, "bytecode through load", .blocked, "load(string.dump(function() end))"),
        Attack(27, "string.dump", .blocked, "string.dump(function() end)"),
        Attack(28, "a deep text given to load", .blocked, "load(('('):rep(100000))"),
        Attack(29, "debug.getregistry", .blocked, "debug.getregistry()"),
        Attack(29, "io.open", .blocked, "io.open('/etc/passwd')"),
        Attack(29, "os.execute", .blocked, "os.execute('true')"),
        Attack(29, "os.exit", .blocked, "os.exit(1)"),
        Attack(29, "package.loadlib", .blocked, "package.loadlib('x', 'y')"),
        Attack(29, "dofile", .blocked, "dofile('/etc/passwd')"),
        Attack(29, "require of a file", .refused, "require('/etc/passwd')"),
        Attack(30, "the metatable of strings", .blocked, "getmetatable('').__index = {}"),
        Attack(31, "replacing string.format", .refused, "string.format = nil"),
        Attack(31, "replacing string.format behind pairs", .refused, "local f, t = pairs(string) t.format = 1"),
        Attack(31, "replacing string.format through next", .refused, "local k = next(string) string[k] = nil"),
        Attack(31, "setting a global", .refused, "leak = 1"),
        Attack(31, "setting a global through _G", .refused, "_G.leak = 1"),
        Attack(31, "inserting into a library", .refused, "table.insert(string, 1)"),
        Attack(31, "moving into a library", .refused, "table.move({ 1 }, 1, 1, 1, string)"),
        Attack(31, "removing from the globals", .refused, "table.remove(_G)"),
        Attack(32, "rawset", .blocked, "rawset(string, 'rep', nil)"),
        Attack(
            33, "an address by tostring", .harmless, "return { tostring({}), tostring(print), tostring(new { a = 1 }) }"
        ),
        Attack(33, "an address by %p", .blocked, "return ('%p'):format({})"),
        Attack(33, "an address by %s", .harmless, "return ('%s%s'):format({}, print)"),
        Attack(33, "an address in an error", .refused, "error(('x'):rep(10) .. tostring({}) .. {})"),
        Attack(38, "stopping the collector", .blocked, "collectgarbage('stop')"),
        Attack(39, "string.pack", .blocked, "string.pack('c2147483647', '')"),
        Attack(29, "loading through a metamethod", .blocked, "return setmetatable({}, { __index = load }).x"),
    ]
}
