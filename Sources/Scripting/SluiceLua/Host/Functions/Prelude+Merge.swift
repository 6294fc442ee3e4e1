extension Prelude {
    /// The conflict, and the rules for merging its fields.
    ///
    /// A merge names a side or a value for each field that both sides changed. The host builds the record, so that
    /// numbers pass through Lua only where they must.
    static let merge = #"""
        local merge_rules = {}
        local function side_of(name) return function() return name end end
        merge_rules.server, merge_rules.client = side_of "server", side_of "client"
        function merge_rules.newest(c) return get(c, "newer") end
        function merge_rules.oldest(c) return get(c, "newer") == "client" and "server" or "client" end
        local function absent(v) return v == nil or v == null end
        -- A number that Lua does not hold as it is written is read as a text, and would be compared as one.
        local function comparable(c, side, field, v)
          return type(v) == "string" and p.is_number(child(c, side, "rec_seen"), field) and tonumber(v) or v
        end
        local function ordered(name, before)
          return function(c, field, client, server, base)
            -- A side that has no value cannot be compared: where the other has it as it was, what there is stands.
            if absent(client) ~= absent(server) and (client == base or server == base) then
              return absent(client) and "server" or "client"
            end
            local mine, theirs = comparable(c, "client", field, client), comparable(c, "server", field, server)
            local t = type(mine)
            if t ~= type(theirs) or t ~= "number" and t ~= "string" then
              return nil, name .. " of " .. field .. " needs two numbers or two texts"
            end
            if t == "number" and mine == theirs and client ~= server and (mine >= 0x1p53 or mine <= -0x1p53) then
              return nil, field .. " has two numbers too large to be told apart"
            end
            return before(mine, theirs) and "client" or "server"
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

        -- Rules by which a field that one side alone has changed becomes that side's value, as it does without a rule.
        local three_way = { sum_delta = true, union = true, concat_lines = true, text3 = true }
        local function check_rule(field, rule)
          if decision_names[rule] then
            fail("result", "the rule for " .. tostring(field) .. " is decide." .. decision_names[rule]
              .. ": a rule returns the field's value")
          end
          if type(rule) ~= "function" and not merge_rules[rule] then
            error("a merge rule is a function or a name such as server, client, max, union or ask: " .. tostring(field)
              .. " has " .. tostring(rule), 4)
          end
        end
        -- What a rule says of a field: a side or a value; or why someone has to be asked.
        local function follow(rule, c, field, client, server, base)
          if type(rule) ~= "function" then
            local side, why, value = merge_rules[rule](c, field, client, server, base)
            return side and { side = side } or { value = value }, why
          end
          local value = rule(client, server, base)
          if is_decision(value) then
            fail("result", "the rule for " .. field .. " returned decide." .. tostring(value.decision)
              .. ": a rule returns the field's value")
          end
          return value == nil and { side = "server" } or { value = value }
        end

        local function merged(c, rules)
          rules = rules or {}
          if type(rules) ~= "table" then error("c:merge takes a table of rules", 3) end
          -- A field may be called so too: its rule is no table.
          local always = type(rules.always) == "table" and rules.always or {}
          local equal = type(rules.equal) == "table" and rules.equal or {}
          for field, rule in pairs(rules) do
            if rule ~= always and rule ~= equal then check_rule(field, rule) end
          end
          for field, rule in pairs(equal) do check_rule(field, rule) end
          for field, rule in pairs(always) do
            check_rule(field, rule)
            if rules[field] then
              error("c:merge has two rules for " .. tostring(field) .. ": one in always is for both cases", 3)
            end
          end
          local client, server = child(c, "client", "rec_seen"), child(c, "server", "rec_seen")
          if not client or not server or get(c, "deleted") then
            return decide.next { reason = "one side deleted the record" }
          end
          local base, fields = child(c, "base", "rec_seen"), {}
          local function take(field, rule)
            local value, why = follow(rule, c, field, get(client, field), get(server, field), base and get(base, field))
            -- The rule's name is for those who look at the decision.
            value.rule = type(rule) == "string" and rule or "function"
            fields[field] = value
            return why
          end
          for _, field in ipairs(get(c, "both_changed")) do
            local rule = always[field] or rules[field] or rules.default
            if not rule then return decide.next { reason = "no rule for " .. field } end
            local why = take(field, rule)
            if why then return decide.ask { reason = why } end
          end
          -- A field in both lists that is not among those above is the same on both sides.
          local changes = {}
          for _, list in ipairs { "client_changed", "server_changed" } do
            for _, field in ipairs(get(c, list)) do changes[field] = (changes[field] or 0) + 1 end
          end
          for field, rule in pairs(always) do
            if changes[field] == 1 and not fields[field] and not three_way[rule] then
              local why = take(field, rule)
              if why then return decide.ask { reason = why } end
            end
          end
          for field, rule in pairs(equal) do
            if changes[field] == 2 and not fields[field] then
              local why = take(field, rule)
              if why then return decide.ask { reason = why } end
            end
          end
          return setmetatable({ decision = "merge", fields = json.object(fields) }, decided)
        end
        -- A record is handed out as a copy: what a script writes to it is seen by nobody else.
        local function copied_side(name)
          return function(c)
            local seen = child(c, name, "rec_seen")
            return type_of(seen) and p.copy(seen, "rec") or seen
          end
        end
        class("conflict", {
          methods = methods({ conflict = true }, {
            merge = merged, default_policy = function() return decide.next() end,
          }),
          getters = {
            client = copied_side "client", server = copied_side "server", base = inside("base", "rec_seen"),
          },
          writable = false,
        })

        """#
}
