/// The Lua text that runs in every machine before the plugin's own: it makes the objects and modules of the plugin API
/// out of the sandbox's primitives. What it returns are the globals that plugins get.
package enum Prelude {
    package static let source = LuaSource(
        name: "prelude", text: Array([start, decide, modules, objects, tables, merge, end].joined().utf8))

    private static let start = #"""
        local p, env = ...
        local class, object, child, get, set, names = p.class, p.object, p.child, p.get, p.set, p.names
        local host, tell, fail = p.host, p.tell, p.fail
        local freeze, null, raw, type_of = p.freeze, p.null, p.raw, p.type_of
        local error, type, pairs, ipairs, select = error, type, pairs, ipairs, select
        local tostring, tonumber, setmetatable, math_type = tostring, tonumber, setmetatable, math.type
        local insert, concat, sort = table.insert, table.concat, table.sort
        local sub, find, gsub = string.sub, string.find, string.gsub

        -- A host function under its own name.
        local function of(name) return function(...) return host(name, ...) end end

        -- A value in a message.
        local function shown(v)
          if v == null then return "json.null" end
          if type(v) == "string" then return '"' .. sub(v, 1, 64) .. '"' end
          if type(v) == "table" or type(v) == "function" then return "a " .. type(v) end
          return tostring(v)
        end
        -- Which of the known names was meant; else all of them.
        local function nearest(name, known)
          sort(known)
          return host("names.nearest", sub(name, 1, 65), known) or "; it takes " .. concat(known, ", ")
        end

        """#

    private static let end = #"""
        local globals = {
          decide = freeze(decide), json = freeze(json), time = freeze(time), crypto = freeze(crypto),
          http = freeze(http), kv = freeze(kv), secrets = freeze(secrets), store = freeze(store),
          text = freeze(text), log = log, print = print, math = freeze(numbers),
        }
        if env.spec then globals.spec = freeze { load = of "spec.load", ask = of "spec.ask" } end
        return globals

        """#
}

/// A text of a plugin by the name that `require` knows: `main`, `lib.rules`.
package struct LuaSource: Sendable, Hashable {
    let name: String
    /// What error messages call it: `main.lua`, `lib/rules.lua`.
    let file: String
    /// The text, in UTF-8.
    let text: [UInt8]

    package init(name: String, file: String? = nil, text: [UInt8]) {
        self.name = name
        self.file = file ?? name
        self.text = text
    }
}
