-- The server's record stands. What is given up is kept in the store's audit.

local function differs(a, b)
  if type(a) == "table" and type(b) == "table" and a ~= json.null and b ~= json.null then
    return json.encode(a) ~= json.encode(b)
  end
  return a ~= b
end

-- A field that was edited here to something that the server's record does not say; nil if there is none of those named.
local function edit_that_would_be_lost(c, names)
  for _, name in ipairs(names) do
    local mine, old = c.client:get(name), c.base and c.base:get(name)
    local theirs
    if c.server and not c.deleted then theirs = c.server:get(name) end
    -- Without a base whatever is there counts as edited: to ask once too often loses nothing.
    if mine ~= nil and mine ~= json.null and differs(mine, theirs) and (not c.base or differs(mine, old)) then
      return name
    end
    -- To have emptied the field is an edit too.
    if c.base and (mine == nil or mine == json.null) and old ~= nil and old ~= json.null
      and theirs ~= nil and theirs ~= json.null then
      return name
    end
  end
end

local function on_conflict(c, ctx)
  if not c.client then
    if ctx.config.ask_about_deletes and c.server and not c.deleted then
      return decide.ask { reason = "deleted here, edited on the server" }
    end
    return decide.server { reason = "the server's record stands, the delete is given up" }
  end
  local field = edit_that_would_be_lost(c, ctx.config.ask_about)
  if field then return decide.ask { reason = "the server's record would undo the edit of " .. field } end
  return decide.server { reason = c.deleted and "the server deleted the record" or "the server's record stands" }
end

return { on_conflict = on_conflict }
