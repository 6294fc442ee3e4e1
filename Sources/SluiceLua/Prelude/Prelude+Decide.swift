extension Prelude {
    /// Decisions: tables that name what is to be done. The host checks them when the hook has returned.
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
