/// The Lua text that runs in every machine before the plugin. It builds the objects and modules of the plugin API from
/// the sandbox's primitives. It returns the globals of plugins.
package enum Prelude {
    package static let source = LuaSource(
        name: "prelude", text: Array([start, modules, objects, tables, merge, end].joined().utf8))

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

    /// The modules and the global functions, from their descriptions.
    private static let modules =
        HostModule.all.map(\.lua).joined()
        + HostModule.globals.map { "local \($0.name) = \($0.lua ?? "nil")\n" }.joined()

    private static let end: String = {
        let names = HostModule.all.map(\.name) + HostModule.globals.map(\.name)
        return "return { \(names.map { "\($0) = \($0)" }.joined(separator: ", ")) }\n"
    }()
}

/// A Lua source of a plugin, by its name for `require`: `main`, `lib.rules`.
package struct LuaSource: Sendable, Hashable {
    let name: String
    /// The name in error messages: `main.lua`, `lib/rules.lua`.
    let file: String
    /// The text, in UTF-8.
    let text: [UInt8]

    package init(name: String, file: String? = nil, text: [UInt8]) {
        self.name = name
        self.file = file ?? name
        self.text = text
    }
}

extension Prelude {
    /// The objects of the hooks around a server's tables: the request, its `next`, and the answer.
    static let tables = #"""
        class("table_req", {
          methods = methods({ table_req = true }, {
            set = function(r, name, v)
              local record = child(r, "record", "rec")
              if not record then error("a " .. tostring(get(r, "kind")) .. " has no record to be written to", 3) end
              if is_system[name] then error(tostring(name) .. " is read-only", 3) end
              set(record, name, v)
            end,
          }),
          getters = {
            record = inside("record", "rec"), stored = inside("stored", "rec_seen"), claims = inside("claims", "table"),
            query = inside("query", "table"),
          },
          writable = { "filter" },
        })
        class("table_next", {
          call = function(n, req)
            if type_of(n) ~= "table_next" then error("next was kept from an earlier call, which is over", 2) end
            if type_of(req) ~= "table_req" then error("next needs the request: next(req)", 2) end
            return p.ask("table_answer", "table.next", req)
          end,
          writable = false,
        })
        class("table_answer", {
          methods = methods({ table_answer = true }, {
            count = plain "count",
            row = row_at,
            rows = each_row,
          }),
          getters = { record = function(o) return child(child(o, "rows", "bag"), "1", "rec") end },
          writable = false,
        })

        """#
}
