-- What was changed here is sent again, on top of the server's record: never without a version, so nobody's third edit
-- is overwritten unseen.

local function chosen(choice, reason)
  return decide[choice] { reason = reason }
end

-- Lists and objects are read as copies, so they are compared by what they hold.
local function differs(a, b)
  if type(a) == "table" and type(b) == "table" and a ~= json.null and b ~= json.null then
    return json.encode(a) ~= json.encode(b)
  end
  return a ~= b
end

-- Without a base nobody knows that a field which is missing here was taken away: the server's stays.
local function client_or_server(client, server)
  if client == nil then return server end
  return client
end

local function on_conflict(c, ctx)
  local config = ctx.config
  local is_gone = not c.server or c.deleted
  if not c.client then
    -- Both deleted it: there is nothing to decide.
    if is_gone then return decide.server { reason = "both sides deleted the record" } end
    return chosen(config.when_deleted_here, "deleted here, edited on the server")
  end
  -- To send the edit would bring a deleted record back: that is not done by accident.
  if is_gone then return chosen(config.when_server_deleted, "edited here, deleted on the server") end

  local kept, is_changed = {}, false
  for _, name in ipairs(config.keep_from_server) do
    if differs(c.client:get(name), c.server:get(name)) then
      kept[name] = "server"
      is_changed = true
    end
  end
  -- A merge of what already stands would be sent for nothing.
  if is_changed then return c:merge { default = c.base and "client" or client_or_server, always = kept } end
  return decide.client { reason = "the local change stands" }
end

return { on_conflict = on_conflict }
