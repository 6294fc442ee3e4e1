-- What only one side changed is taken from that side; the host does that. A field that both sides changed is decided
-- by its rule.

-- "client" or "server", by the time of editing that each record says of itself; nil where one of them says none. At the
-- same time the server's counts as newer, so that all devices come to the same.
local function newer_side(c, clock)
  local mine, theirs = time.parse(c.client:get(clock)), time.parse(c.server:get(clock))
  if not mine or not theirs then return nil end
  return mine > theirs and "client" or "server"
end

-- A rule as the merge knows it.
local function known(rule, newer)
  if rule ~= "newest" and rule ~= "oldest" then return rule end
  if not newer then return "ask" end
  if rule == "newest" then return newer end
  return newer == "client" and "server" or "client"
end

local function on_conflict(c, ctx)
  if not c.client or not c.server or c.deleted then
    return decide.next { reason = "one side deleted the record" }
  end
  -- Without the base nobody knows who changed what: a merge would take the older value of a field for an edit. Records
  -- that are the same need no base.
  if not c.base and #c.both_changed > 0 then return decide.next { reason = "the record both sides began with is not known" } end

  local config = ctx.config
  local newer = newer_side(c, config.clock)
  local rules = {}
  for field, rule in pairs(config.rules) do rules[field] = known(rule, newer) end
  if config.default ~= "next" then rules.default = known(config.default, newer) end
  -- The clock itself goes with the newer edit, or the merged record would look older than one of its parts.
  if newer and not rules[config.clock] then rules[config.clock] = newer end
  return c:merge(rules)
end

return { on_conflict = on_conflict }
