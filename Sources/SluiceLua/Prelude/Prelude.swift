/// The Lua text that runs in every machine before the plugin's own: it makes the objects and modules of the plugin API
/// out of the sandbox's primitives. What it returns are the globals that plugins get.
enum Prelude {
    static let source = LuaSource(
        name: "prelude", text: Array([start, decide, modules, objects, merge, end].joined().utf8))

    private static let start = #"""
        local p, env = ...
        local class, object, child, get, set, names = p.class, p.object, p.child, p.get, p.set, p.names
        local host, freeze, null, raw, type_of = p.host, p.freeze, p.null, p.raw, p.type_of
        local error, type, pairs, ipairs, select, tostring = error, type, pairs, ipairs, select, tostring
        local math_type = math.type
        local insert, concat, sub, find, gsub = table.insert, table.concat, string.sub, string.find, string.gsub

        -- A host function under its own name.
        local function of(name) return function(...) return host(name, ...) end end

        """#

    private static let end = #"""
        local globals = {
          decide = freeze(decide), json = freeze(json), time = freeze(time), crypto = freeze(crypto),
          http = freeze(http), kv = freeze(kv), secrets = freeze(secrets), store = freeze(store),
          text = freeze(text), log = log, print = print,
        }
        if env.spec then globals.spec = freeze { load = of "spec.load", ask = of "spec.ask" } end
        return globals

        """#
}
