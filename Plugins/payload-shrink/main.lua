-- A field may be left out of an update only if the server has that very value, and that is known only for a version of
-- the record that was seen. So a digest of each field is kept with the version, and the update goes out under the
-- condition of that version: had the record changed meanwhile, the server would refuse it, whole or not.

local system = { id = true, version = true, updatedAt = true, createdAt = true, deleted = true }

local function is_mine(name, config)
  for _, other in ipairs(config.tables) do
    if other == name then return true end
  end
  return false
end

local function key(table_name, id) return "f:" .. crypto.sha256(table_name .. "\n" .. id):sub(1, 40) end

-- A short value stands for itself; no JSON begins with #.
local function digest(value)
  local text = json.encode(value)
  return #text <= 40 and text or "#" .. crypto.sha256(text):sub(1, 32)
end

-- Remembers the fields of a record at a version. What cannot be remembered is sent whole: so a full store is no error.
local function remember(table_name, id, version, names, get, config)
  if type(id) ~= "string" or type(version) ~= "string" or version == "" then return end
  local fields = {}
  for _, name in ipairs(names) do
    if not system[name] then fields[name] = digest(get(name)) end
  end
  pcall(kv.set, key(table_name, id), { v = version, f = json.object(fields) }, config.remember)
end

local function names_of(record)
  local names = {}
  for name in pairs(record) do table.insert(names, name) end
  table.sort(names)
  return names
end

-- The part of an update's body that has to be sent; nil where it has to go whole.
local function changed_part(req, body)
  local version = type(body.version) == "string" and body.version or req.version
  local id = req.record_id or body.id
  local known = type(id) == "string" and kv.get(key(req.table, id))
  -- Another condition than the version that was seen proves nothing about the fields.
  if not known or not version or known.v ~= version or req.headers:get("If-Match") then return nil end
  local part, has_any = { id = body.id, version = body.version }, false
  for name, value in pairs(body) do
    if not system[name] and known.f[name] ~= digest(value) then part[name], has_any = value, true end
  end
  -- PATCH cannot take a field away, and an empty one would say nothing.
  for name in pairs(known.f) do
    if body[name] == nil then return nil end
  end
  return has_any and part or nil
end

local function without_nulls(body)
  local is_changed = false
  for name, value in pairs(body) do
    if value == json.null then body[name], is_changed = nil, true end
  end
  return is_changed
end

local function note(res, table_name, config)
  if res.status ~= 200 and res.status ~= 201 then return end
  local record = res.body:json()
  if type(record) == "table" and record[1] == nil then
    remember(table_name, record.id, record.version, names_of(record), function(name) return record[name] end, config)
  end
end

local function filter(req, next, ctx)
  local config = ctx.config
  if not req.table or not is_mine(req.table, config) then return next(req) end
  local name, res = req.table, nil
  local body = req.body:json()
  if type(body) ~= "table" then body = nil end

  if body and req.kind == "update" and req.method == "PUT" and not kv.get("no-patch:" .. req.host) then
    local whole, part = req.body:text(), changed_part(req, body)
    if part then
      req.method = "PATCH"
      req.body:set_json(part)
      res = next(req)
      if res.status == 405 or res.status == 501 then
        -- It knows no PATCH, so it has done nothing; it is asked again tomorrow, in case it has learned.
        kv.set("no-patch:" .. req.host, true, 86400)
        req.method = "PUT"
        req.body:set_text(whole)
        res = next(req)
      end
    end
  elseif body and req.kind == "insert" and config.drop_nulls and without_nulls(body) then
    req.body:set_json(json.object(body))
  end

  res = res or next(req)
  note(res, name, config)
  return res
end

local function after_pull_page(page, ctx)
  if not is_mine(page.table, ctx.config) then return nil end
  for _, row in page:rows() do
    if row.deleted then
      kv.set(key(page.table, row.id), nil)
    else
      remember(page.table, row.id, row.version, row:fields(), function(name) return row:get(name) end, ctx.config)
    end
  end
end

return { filter = filter, after_pull_page = after_pull_page }
