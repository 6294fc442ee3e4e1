-- A counter that both sides changed becomes  server + (client - base): nobody's counting is lost.

-- The number a field stands for. A counter that nobody has touched yet is often not there.
local function number(value)
  if value == nil or value == json.null then return 0 end
  return type(value) == "number" and value or nil
end

-- Whether a whole sum would not fit in 64 bits. Lua would go on from the other end.
local function overflows(a, b)
  if math.type(a) ~= "integer" or math.type(b) ~= "integer" then return false end
  if b > 0 then return a > math.maxinteger - b end
  return a < math.mininteger - b
end

-- Whether all of them are so small that a fraction has room for ones beside it: beyond 2^53 what was counted would be
-- lost in the sum.
local function has_room(...)
  for _, n in ipairs { ... } do
    if n <= -2^53 or n >= 2^53 then return false end
  end
  return true
end

-- Whether the side has another number than the base.
local function changed(side, base, field) return number(side:get(field)) ~= number(base:get(field)) end

-- The merged value of a counter; nil and the reason where there is none.
local function added(c, field, bounds)
  -- What was counted here may be in the server's number already: then adding it would count it twice, and leaving it
  -- out would lose it if it is not. Nothing in the records tells which.
  if c.maybe_applied then return nil, field .. " may have been added already: an earlier send was not answered" end
  local client, server, base = c.client:get(field), number(c.server:get(field)), number(c.base:get(field))
  -- Zero is right for a counter that was not there yet, but one that was taken away here is no counter any more.
  if type(client) ~= "number" or not server or not base then return nil, field .. " is not a number on all sides" end
  if base == math.mininteger or overflows(client, -base) then return nil, field .. " would be too large" end
  local delta = client - base
  if overflows(server, delta) then return nil, field .. " would be too large" end
  local sum = server + delta
  if math.type(sum) == "float" and not has_room(client, server, base, delta, sum) then
    return nil, field .. " is too large for fractions"
  end
  if bounds.minimum and sum < bounds.minimum then
    return nil, ("%s would be %s, less than %s"):format(field, tostring(sum), tostring(bounds.minimum))
  end
  if bounds.maximum and sum > bounds.maximum then
    return nil, ("%s would be %s, more than %s"):format(field, tostring(sum), tostring(bounds.maximum))
  end
  return sum
end

-- Whether both sides made the same change and no other.
local function is_same(c)
  if #c.both_changed > 0 or #c.client_changed ~= #c.server_changed then return false end
  local theirs = {}
  for _, field in ipairs(c.server_changed) do theirs[field] = true end
  for _, field in ipairs(c.client_changed) do
    if not theirs[field] then return false end
  end
  return true
end

local function on_conflict(c, ctx)
  if not c.client or not c.server or c.deleted then
    return decide.next { reason = "one side deleted the record" }
  end
  if not c.base and #c.both_changed > 0 then return decide.next { reason = "without the base nobody knows what was counted here" } end

  local rules = {}
  if ctx.config.others ~= "next" then rules.default = ctx.config.others end
  -- Only counters that both sides changed: what one side counted alone is that side's number. Both may have counted on by
  -- the same amount: where nothing else differs, the engine knows whether these are two countings.
  local equal, counts = {}, c.base and (c.equal_edit or not is_same(c))
  for field, bounds in pairs(ctx.config.counters) do
    if counts and changed(c.client, c.base, field) and changed(c.server, c.base, field) then
      local sum, why = added(c, field, bounds)
      if not sum then return decide.ask { reason = why } end
      local rule = function() return sum end
      if c.client:get(field) == c.server:get(field) then equal[field] = rule else rules[field] = rule end
    end
  end
  rules.equal = equal
  return c:merge(rules)
end

return { on_conflict = on_conflict }
