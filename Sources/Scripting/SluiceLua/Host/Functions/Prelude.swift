/// The Lua text that runs in every machine before the plugin. It builds the objects and modules of the plugin API from
/// the sandbox's primitives. It returns the globals of plugins.
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
        return {
          decide = freeze(decide), json = freeze(json), time = freeze(time), crypto = freeze(crypto),
          http = freeze(http), kv = freeze(kv), secrets = freeze(secrets), store = freeze(store),
          text = freeze(text), log = log, print = print, math = freeze(numbers),
        }

        """#
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

extension Prelude {
    /// The modules: the host implements them, except for functions that are faster in Lua.
    static let modules = #"""
        local json = {
          encode = p.json_encode, decode = p.json_decode, null = null, array = p.array,
          object = function(t) return object(t) end,
        }

        local time = { now = of "time.now", parse = of "time.parse", format = of "time.format" }
        function time.add(t, seconds) return t + seconds end

        -- Lua's own, except for chance: what depends on it has to be the same in a fixture each time.
        local numbers = {}
        for name, value in pairs(math) do numbers[name] = value end
        numbers.random = of "math.random"

        -- A body in the place of a text is taken as its bytes, whatever they are: the host has them.
        local function bytewise(name)
          return function(v, encoding)
            if type_of(v) == "body" then return host("body." .. name, get(v, "slot"), encoding) end
            return host("crypto." .. name, v, encoding)
          end
        end
        local crypto = {
          sha256 = bytewise "sha256", base64 = bytewise "base64", hex = bytewise "hex",
          hmac_sha256 = function(key, v, encoding)
            if type_of(v) == "body" then return host("body.hmac", get(v, "slot"), encoding, key) end
            return host("crypto.hmac", key, v, encoding)
          end,
          base64_decode = of "crypto.decode", uuid = of "crypto.uuid", random = of "crypto.random",
        }

        local http = { request = of "http.request" }
        local kv = { get = of "kv.get", set = of "kv.set", incr = of "kv.incr", ttl = of "kv.ttl" }
        local secrets = { get = of "secrets.get", find = of "secrets.find" }
        local store = { get = of "store.get", count = of "store.count" }

        local text = { diff3 = of "text.diff3", levenshtein = of "text.distance" }
        local function a_text(name, s)
          if type(s) == "number" then return tostring(s) end
          if type(s) ~= "string" then fail("runtime", "text." .. name .. " takes a text, not " .. shown(s)) end
          return s
        end
        function text.trim(s) return p.trim(a_text("trim", s)) end
        function text.split(s, separator)
          s = a_text("split", s)
          if separator == nil or separator == "" then error("text.split needs a separator", 2) end
          local parts, from = {}, 1
          while true do
            local i, j = find(s, separator, from, true)
            if not i then
              insert(parts, sub(s, from))
              return parts
            end
            insert(parts, sub(s, from, i - 1))
            from = j + 1
          end
        end
        function text.lines(s) return text.split(gsub(a_text("lines", s), "\r\n", "\n"), "\n") end
        function text.starts_with(s, start)
          start = a_text("starts_with", start)
          return sub(a_text("starts_with", s), 1, #start) == start
        end
        function text.ends_with(s, ending)
          ending = a_text("ends_with", ending)
          return ending == "" or sub(a_text("ends_with", s), -#ending) == ending
        end

        local log = {}
        for _, level in ipairs { "debug", "info", "warn", "error" } do
          log[level] = function(a, b, c)
            if a == log then a, b = b, c end
            if a == nil then a = "nil" end
            tell("log", level, a, b)
          end
        end
        log = freeze(log)

        -- As Lua's own writes it, into the log.
        local function print(...)
          local count, parts = select("#", ...), { ... }
          for i = 1, count do parts[i] = tostring(parts[i]) end
          tell("log", "debug", concat(parts, "\t", 1, count))
        end

        """#
}

extension Prelude {
    /// Decisions: tables that name an action. The host checks them after the hook has returned.
    static let decide = #"""
        -- What makes a decision known for one, whatever members it has.
        local mark = {}
        local decided = { __index = { [mark] = true } }
        local function is_decision(v) return type(v) == "table" and v[mark] == true end

        -- The options that decisions take beside reason, and of what type each is.
        local taken = {
          respond = { status = "number", headers = "any", body = "string", json = "any" },
          retry = { after = "pause" }, defer = { after = "pause" }, wait = { after = "pause", at = "time" },
          fail = { message = "string" }, reject = { message = "string", code = "string", fields = "table" },
          pull = { tables = "table" }, merge = { remove = "table" }, cancel_and_update = { remove = "table" },
          change_action = { remove = "table" }, refuse = { status = "number", message = "string" },
        }
        local meant = {
          string = "a text", number = "a number", table = "a table", pause = "a number of seconds from 0",
          time = "a time, in seconds or as text",
        }
        local function fits(v, wanted)
          local t = type(v)
          if wanted == "pause" then return t == "number" and v >= 0 end
          if wanted == "time" then return t == "number" or t == "string" end
          return wanted == "any" or t == wanted
        end
        local function check(name, known, k, v)
          local wanted = k == "reason" and "string" or known[k]
          if not wanted then
            local names = { "reason" }
            for other in pairs(known) do insert(names, other) end
            fail("result", "decide." .. name .. " has no option " .. tostring(k) .. nearest(tostring(k), names))
          end
          if not fits(v, wanted) then
            fail("result", "decide." .. name .. ": " .. k .. " is " .. meant[wanted] .. ", not " .. shown(v))
          end
        end

        local no_options = {}
        local function copied(name, options)
          if options ~= nil and type(options) ~= "table" then
            fail("result", "decide." .. name .. " takes a table of options, not " .. shown(options))
          end
          local d = setmetatable({ decision = name }, decided)
          if options then
            local known = taken[name] or no_options
            for k, v in pairs(options) do
              -- What is null says nothing, but where it is the answer.
              if v ~= null or k == "json" then
                check(name, known, k, v)
                d[k] = v
              end
            end
          end
          return d
        end

        local decide = {}
        for _, name in ipairs {
          "server", "client", "delete", "discard", "defer", "ask", "next", "respond", "retry", "fail", "reject",
          "local_only", "skip", "cancel_and_discard", "park", "abort", "drop", "push", "pull", "wait",
          "refuse",
        } do
          decide[name] = function(options) return copied(name, options) end
        end
        for _, name in ipairs { "merge", "cancel_and_update" } do
          decide[name] = function(record, options)
            local d = copied(name, options)
            d.record = record
            local side = type_of(record) and p.overtaken(record)
            if side then
              fail("result", "c." .. side .. " is a copy each time it is read, and the one that was written to is another: "
                .. "keep it, local record = c." .. side .. ", and return that")
            end
            return d
          end
        end
        function decide.change_action(kind, record, options)
          local d = copied("change_action", options)
          d.record = record
          d.kind = kind
          return d
        end
        function decide.batch_key(key, options)
          local d = copied("batch_key", options)
          d.key = key
          return d
        end
        local decision_names = {}
        for name, f in pairs(decide) do decision_names[f] = name end

        """#
}
