-- The server never has the value, so it cannot give it back: what is sent instead is remembered beside the value, and
-- where it comes back, in an answer or by a pull, the value is put in its place. What another device has written there
-- meanwhile is another text, and stands.

local stars = "***"
local pseudonym = "pii_"

local function is_allowed(ctx) return ctx.deployment.labels[ctx.config.allow_label] == "true" end

local function is_nothing(value) return value == nil or value == json.null end

-- Whether a text is already what a redaction makes: it came from the server, and is not redacted again.
local function is_redacted(mode, value)
  if mode == "hash" then return #value == #pseudonym + 32 and value:find("^" .. pseudonym .. "%x+$") ~= nil end
  return mode == "mask" and value:sub(1, #stars) == stars
end

local function masked(value, keep)
  local count = utf8.len(value)
  -- A text that is no longer than what may be seen of it would be seen whole.
  if keep == 0 or count <= keep then return stars end
  return stars .. value:sub(utf8.offset(value, -keep))
end

-- What is sent in the place of a value: the same for the same value, or each push would look like another edit.
local function redacted(mode, value, config, field)
  if mode == "remove" then return nil end
  -- A number or a list cannot become a text without breaking the server's schema, and it must not leave as it is.
  if type(value) ~= "string" then error("pii-redact: " .. field .. " is not a text; only remove is possible", 0) end
  if is_redacted(mode, value) then return value end
  if mode == "mask" then return masked(value, config.keep) end
  return pseudonym .. crypto.hmac_sha256(secrets.get(config.key), field .. "\n" .. value):sub(1, 32)
end

local function key(table_name, id, field)
  return "v:" .. crypto.sha256(table_name .. "\n" .. id .. "\n" .. field):sub(1, 40)
end

local function init(ctx)
  for name, fields in pairs(ctx.config.tables) do
    for field, mode in pairs(fields) do
      if mode == "hash" and not ctx.config.key then
        error(("%s.%s is to be hashed, and the configuration names no key"):format(name, field), 0)
      end
    end
  end
end

-- Remembers the values before anything is sent. If they cannot be remembered the operation waits: sent without that, the
-- next pull would bring the pseudonym and the value would be gone.
local function before_push(op, ctx)
  local fields = ctx.config.tables[op.table]
  if not fields or not op.record or is_allowed(ctx) then return nil end
  for field, mode in pairs(fields) do
    local value, place = op.record:get(field), key(op.table, op.id, field)
    if is_nothing(value) then
      -- Emptied on purpose: an old value must not come back.
      kv.set(place, nil)
    elseif type(value) ~= "string" or not is_redacted(mode, value) then
      kv.set(place, { value = value, sent = redacted(mode, value, ctx.config, field) })
    end
  end
end

local function request(req, ctx)
  local fields = req.table and ctx.config.tables[req.table]
  if not fields or is_allowed(ctx) then return nil end
  local body, is_changed = req.body:json(), false
  if body == nil and req.body:len() > 0 then error("pii-redact: the body is no JSON and cannot be looked at", 0) end
  if type(body) ~= "table" then return nil end
  for field, mode in pairs(fields) do
    if not is_nothing(body[field]) then
      body[field] = redacted(mode, body[field], ctx.config, field)
      is_changed = true
    end
  end
  if is_changed then req.body:set_json(json.object(body)) end
end

-- The value that belongs in the place of what the server has; nil to leave that.
local function own_value(place, pulled)
  local kept = kv.get(place)
  if not kept then return nil end
  if kept.sent == nil and is_nothing(pulled) or kept.sent ~= nil and kept.sent == pulled then return kept.value end
  return nil
end

-- The records of an answer. A push reads a record back by a list; the pages of a pull come to after_pull_page.
local function records(body)
  if type(body) ~= "table" then return {} end
  if body.id ~= nil then return { body } end
  local list, found = body[1] ~= nil and body or body.results or body.value or body.items, {}
  for _, record in ipairs(type(list) == "table" and list or {}) do
    if type(record) == "table" then table.insert(found, record) end
  end
  return found
end

local function response(res, ctx)
  local req = res.request
  local fields = req.table and ctx.config.tables[req.table]
  if not fields or req.kind == "read" and req.source == "pull" then return nil end
  local body, is_changed = res.body:json(), false
  for _, record in ipairs(records(body)) do
    for field in pairs(type(record.id) == "string" and fields or {}) do
      local value = own_value(key(req.table, record.id, field), record[field])
      if value ~= nil then record[field], is_changed = value, true end
    end
  end
  if is_changed then res.body:set_json(body) end
end

local function after_pull_page(page, ctx)
  local fields = ctx.config.tables[page.table]
  if not fields then return nil end
  for _, row in page:rows() do
    for field in pairs(fields) do
      local place = key(page.table, row.id, field)
      if row.deleted then
        -- The record is gone, and with it what was kept of it.
        if kv.get(place) then kv.set(place, nil) end
      else
        local value = own_value(place, row:get(field))
        if value ~= nil then row:set(field, value) end
      end
    end
  end
end

-- What is sent is not what the engine would find again in the server's record, so after a lost answer it meets its own
-- change as a conflict. Where all that was changed here is there already, nothing has to be decided.
local function on_conflict(c, ctx)
  if not ctx.config.tables[c.table] then return decide.next() end
  if not c.client or not c.server or c.deleted or #c.both_changed > 0 then return decide.next() end
  for _, field in ipairs(c.client_changed) do
    if json.encode(c.client:get(field)) ~= json.encode(c.server:get(field)) then return decide.next() end
  end
  return decide.server { reason = "the change is there already" }
end

return {
  init = init, before_push = before_push, request = request, response = response, after_pull_page = after_pull_page,
  on_conflict = on_conflict,
}
