extension Prelude {
    /// The objects that hooks get, wrapped around the host's JSON documents.
    static let objects = #"""
        -- A method that works on objects of its own classes alone.
        local function method(kinds, f)
          return function(o, ...)
            if not kinds[type_of(o) or 0] then error("a method was called without its object: use ':'", 2) end
            return f(o, ...)
          end
        end
        local function methods(kinds, all)
          for name, f in pairs(all) do all[name] = method(kinds, f) end
          return all
        end

        local function plain(name) return function(o) return get(o, name) end end
        -- The member under its own name if there is one, else under the first of the others.
        local function member(...)
          local keys = { ... }
          return function(o)
            for _, key in ipairs(keys) do
              local v = get(o, key)
              if v ~= nil then return v end
            end
          end
        end
        local function row_at(o, i) return child(child(o, "rows", "bag"), tostring(i), "rec") end
        local function each_row(o)
          local rows, i = child(o, "rows", "bag"), 0
          return function()
            i = i + 1
            local row = child(rows, tostring(i), "rec")
            if row then return i, row end
          end
        end
        local function inside(name, kind) return function(o) return child(o, name, kind) end end

        local system = {
          "id", "version", "updatedAt", "createdAt", "deleted", "__version", "__updatedAt", "__createdAt", "__deleted",
        }
        local is_system = {}
        for _, name in ipairs(system) do is_system[name] = true end
        local record = {
          methods = methods({ rec = true, rec_seen = true }, {
            get = get, fields = names, changed = p.is_changed, to_table = p.to_table, get_raw = raw,
            set = function(r, name, v)
              if is_system[name] or type_of(r) ~= "rec" then error(tostring(name) .. " is read-only", 3) end
              set(r, name, v)
            end,
          }),
          getters = {
            version = member("version", "__version"), deleted = member("deleted", "__deleted"),
            updated_at = member("updated_at", "updatedAt", "__updatedAt"),
            created_at = member("created_at", "createdAt", "__createdAt"),
          },
          writable = true, readonly = system,
        }
        class("rec", record)
        class("rec_seen", { methods = record.methods, getters = record.getters, writable = false })
        class("bag", { methods = methods({ bag = true }, { get = get, set = set, names = names }), writable = true })
        class("table", { methods = methods({ table = true }, { get = get, names = names }), writable = false })

        class("body", {
          methods = methods({ body = true }, {
            len = function(b) return host("body.len", get(b, "slot")) end,
            text = function(b) return host("body.text", get(b, "slot")) end,
            json = function(b) return host("body.json", get(b, "slot")) end,
            sub = function(b, i, j) return host("body:sub", get(b, "slot"), i, j) end,
            set_text = function(b, v) host("body:set_text", get(b, "slot"), v) end,
            set_json = function(b, v) host("body.set_json", get(b, "slot"), v) end,
          }),
          writable = false,
        })
        class("query", {
          methods = methods({ query = true }, {
            get = function(q, name) return host("query:get", get(q, "text"), name) end,
            set = function(q, name, v) set(q, "text", host("query:set", get(q, "text"), name, v)) end,
            text = plain "text",
            set_text = function(q, v) set(q, "text", v) end,
            pairs = function(q)
              local list, i = host("query:pairs", get(q, "text")), 0
              return function()
                i = i + 1
                if list[i] then return list[i][1], list[i][2] end
              end
            end,
          }),
          writable = false,
        })
        class("req", {
          getters = {
            headers = inside("headers", "headers"), query = inside("query", "query"), body = inside("body", "body"),
          },
          writable = { "method", "url", "scheme", "host", "path" },
        })
        class("req_seen", {
          getters = { headers = inside("headers", "readonly_headers"), query = inside("query", "query") },
          writable = false,
        })
        class("res", {
          getters = {
            headers = inside("headers", "headers"), body = inside("body", "body"),
            request = inside("request", "req_seen"),
          },
          writable = { "status" },
        })
        class("next", {
          call = function(n, req)
            if type_of(n) ~= "next" then error("next was kept from an earlier call, which is over", 2) end
            if req == nil then error("next needs the request: next(req)", 2) end
            return object("res", host("next", req))
          end,
          writable = false,
        })

        class("op", {
          methods = methods({ op = true }, { set = function(o, name, v) set(child(o, "record", "rec"), name, v) end }),
          getters = { record = inside("record", "rec"), before = inside("before", "rec_seen") },
          writable = false,
        })
        class("failure", {
          getters = { record = inside("record", "rec"), operation = inside("operation", "table") }, writable = false,
        })
        class("event", { writable = false })
        class("page", {
          methods = methods({ page = true }, {
            count = plain "count",
            row = row_at,
            drop = function(o, i, reason) set(child(o, "dropped", "bag"), tostring(i), reason or "dropped") end,
            rows = each_row,
          }),
          writable = false,
        })

        local config, deployment = freeze(env.config or {}), freeze(env.deployment or {})
        local function told(name) return function(...) tell(name, ...) end end
        local trace = freeze { set = told "trace.set", event = told "trace.event" }
        local function last(name) return function(a, b) return host(name, b or a) end end
        local sleep = last "ctx.sleep"
        class("ctx", {
          getters = {
            config = function() return config end, deployment = function() return deployment end,
            log = function() return log end, trace = function() return trace end,
            question = inside("question", "table"), scratch = inside("scratch", "bag"), shared = inside("shared", "bag"),
            cancelled = function() return function() return host("ctx.cancelled") end end,
            deadline = function() return function() return host("ctx.deadline") end end,
            fuel_left = function() return p.fuel_left end,
            sleep = function() return sleep end,
          },
          writable = false,
        })

        """#
}
