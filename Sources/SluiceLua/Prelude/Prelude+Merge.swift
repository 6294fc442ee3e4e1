extension Prelude {
    /// The conflict, and the rules by which its fields are merged.
    ///
    /// A merge says for each field that both sides changed whose value it takes, or the value: the host puts the record
    /// together, so that no number goes through Lua that does not have to.
    static let merge = #"""
        local merge_rules = {}
        local function side_of(name) return function() return name end end
        merge_rules.server, merge_rules.client = side_of "server", side_of "client"
        function merge_rules.newest(c) return get(c, "newer") end
        function merge_rules.oldest(c) return get(c, "newer") == "client" and "server" or "client" end
        local function ordered(name, before)
          return function(c, field, client, server)
            local t = type(client)
            if t ~= type(server) or t ~= "number" and t ~= "string" then
              return nil, name .. " of " .. field .. " needs two numbers or two texts"
            end
            return before(client, server) and "client" or "server"
          end
        end
        merge_rules.max = ordered("max", function(a, b) return a > b end)
        merge_rules.min = ordered("min", function(a, b) return a < b end)
        function merge_rules.sum_delta(c, field, client, server, base)
          if get(c, "maybe_applied") then
            return nil, field .. " may have been added already: an earlier send was not answered"
          end
          if type(client) ~= "number" or type(server) ~= "number" or type(base) ~= "number" then
            return nil, "sum_delta of " .. field .. " needs three numbers"
          end
          -- Whole numbers are added as they are, in 64 bits. A fraction has no room for ones beyond 2^53.
          local delta = client - base
          local sum = server + delta
          local exact
          if math_type(sum) == "integer" then
            exact = (client >= base) == (delta >= 0) and (delta >= 0) == (sum >= server)
          else
            exact = true
            for _, n in ipairs { client, server, base, delta, sum } do exact = exact and n > -0x1p53 and n < 0x1p53 end
          end
          if not exact then return nil, field .. " would be too large to be added exactly" end
          return nil, nil, sum
        end
        local function key(v) return type(v) == "string" and "s" .. v or json.encode(v) end
        local function united(client, server, base)
          local seen, kept, out = {}, {}, {}
          for _, v in ipairs(client) do kept[key(v)] = true end
          for _, v in ipairs(base) do
            -- What the client took out stays out; what only the server took out is not there.
            if not kept[key(v)] then seen[key(v)] = true end
          end
          for _, v in ipairs(server) do
            if not seen[key(v)] then
              seen[key(v)] = true
              insert(out, v)
            end
          end
          local old = {}
          for _, v in ipairs(base) do old[key(v)] = true end
          for _, v in ipairs(client) do
            if not seen[key(v)] and not old[key(v)] then
              seen[key(v)] = true
              insert(out, v)
            end
          end
          return out
        end
        function merge_rules.union(c, field, client, server, base)
          if type(client) ~= "table" or type(server) ~= "table" then
            return nil, "union of " .. field .. " needs two lists"
          end
          return nil, nil, json.array(united(client, server, type(base) == "table" and base or {}))
        end
        function merge_rules.concat_lines(c, field, client, server, base)
          if type(client) ~= "string" or type(server) ~= "string" then
            return nil, "concat_lines of " .. field .. " needs two texts"
          end
          local old = type(base) == "string" and text.lines(base) or {}
          return nil, nil, concat(united(text.lines(client), text.lines(server), old), "\n")
        end
        function merge_rules.text3(c, field, client, server, base)
          if type(client) ~= "string" or type(server) ~= "string" or type(base) ~= "string" then
            return nil, "text3 of " .. field .. " needs three texts"
          end
          local merged = text.diff3(client, server, base)
          if not merged then return nil, "both sides changed the same lines of " .. field end
          return nil, nil, merged
        end
        function merge_rules.ask(c, field) return nil, "someone has to decide about " .. field end

        local function merged(c, rules)
          rules = rules or {}
          if type(rules) ~= "table" then error("c:merge takes a table of rules", 3) end
          for field, rule in pairs(rules) do
            if decision_names[rule] then
              fail("result", "the rule for " .. tostring(field) .. " is decide." .. decision_names[rule]
                .. ": a rule returns the field's value")
            end
            if type(rule) ~= "function" and not merge_rules[rule] then
              error("a merge rule is a function or a name such as server, client, max, union or ask: " .. tostring(field)
                .. " has " .. tostring(rule), 3)
            end
          end
          local client, server = child(c, "client", "rec"), child(c, "server", "rec")
          if not client or not server or get(c, "deleted") then
            return decide.next { reason = "one side deleted the record" }
          end
          local base, fields = child(c, "base", "rec"), {}
          for _, field in ipairs(get(c, "both_changed")) do
            local rule = rules[field] or rules.default
            if not rule then return decide.next { reason = "no rule for " .. field } end
            local cv, sv, bv = get(client, field), get(server, field), base and get(base, field)
            local side, why, value
            if type(rule) == "function" then
              value = rule(cv, sv, bv)
              if is_decision(value) then
                fail("result", "the rule for " .. field .. " returned decide." .. tostring(value.decision)
                  .. ": a rule returns the field's value")
              end
              if value == nil then side = "server" end
            else
              side, why, value = merge_rules[rule](c, field, cv, sv, bv)
            end
            if why then return decide.ask { reason = why } end
            fields[field] = side and { side = side } or { value = value }
          end
          return setmetatable({ decision = "merge", fields = json.object(fields) }, decided)
        end
        class("conflict", {
          methods = methods({ conflict = true }, {
            merge = merged, default_policy = function() return decide.next() end,
          }),
          getters = {
            client = inside("client", "rec"), server = inside("server", "rec"), base = inside("base", "rec_seen"),
          },
          writable = false,
        })

        """#
}
