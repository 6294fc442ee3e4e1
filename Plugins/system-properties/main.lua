-- The three filters that Sluice has built in for system columns, as one plugin:
--   down  asks for the columns in the query, lifts the version into If-Match, strips the body;
--   up    makes a strong ETag the record's version, takes out columns that nobody asked for.

local wires = {
  ["azure-v1"] = {
    asks = true, version = "__version", updated_at = "__updatedAt", deleted = "__deleted", created_at = "__createdAt",
  },
  ["azure-v2"] = { version = "version", updated_at = "updatedAt", deleted = "deleted", created_at = "createdAt" },
  ["azure-v3"] = { version = "version", updated_at = "updatedAt", deleted = "deleted" },
  datasync = { version = "version", updated_at = "updatedAt", deleted = "deleted" },
}

local parameter = "__systemProperties"
local asking = { GET = true, POST = true, PATCH = true, PUT = true, DELETE = true }
local changing = { PATCH = true, PUT = true, DELETE = true }
local sending = { POST = true, PATCH = true, PUT = true }

-- Servers take __version and version alike.
local function plain(name) return (name:lower():gsub("^_+", "")) end

-- The columns that the query itself asks for, and whether it asks at all.
local function asked_by(query)
  local names, is_there = {}, false
  for name, value in query:pairs() do
    if name:lower() == parameter:lower() then
      is_there = true
      for part in value:gmatch("[^,]+") do table.insert(names, part) end
    end
  end
  return names, is_there
end

-- What to ask for where the query does not: the request's own choice, the table's, or the one for all.
local function wanted(req, wire, config)
  local names, seen = {}, {}
  for _, name in ipairs(req.system_properties or config.tables[req.table] or config.ask_for) do
    table.insert(names, name)
    seen[plain(name)] = true
    if name == "*" then seen.all = true end
  end
  -- A push or a pull cannot do without these, whatever the choice is.
  if req.source ~= "online" and not seen.all then
    for _, name in ipairs { wire.version, wire.updated_at, wire.deleted } do
      if not seen[plain(name)] then table.insert(names, name) end
    end
  end
  return names
end

-- Asks once, after what the query has already. Returns the columns that the answer may have.
local function ask(req, wire, config)
  if not wire.asks or not asking[req.method] then return nil end
  local names, is_there = asked_by(req.query)
  if is_there then return names end
  names = wanted(req, wire, config)
  if #names == 0 then return names end
  req.query:set(parameter, table.concat(names, ","))
  return names
end

-- A backslash stands before every quote that has none before it.
local function quoted(version)
  local out, previous = {}, ""
  for c in version:gmatch(".") do
    if c == '"' and previous ~= "\\" then table.insert(out, "\\") end
    table.insert(out, c)
    previous = c
  end
  return '"' .. table.concat(out) .. '"'
end

-- The version that a strong tag says; nil for a weak one, which is a hash of the answer.
local function version_of(tag)
  if tag:sub(1, 2) == "W/" then return nil end
  local text = #tag > 1 and tag:match('^"(.*)"$') or tag
  return (text:gsub('\\"', '"'))
end

local function condition_field(req)
  if req.kind == "insert" then return nil end
  if req.kind == "undelete" then return "If-Match" end
  if req.kind == "lookup" then return req.method == "GET" and "If-None-Match" or nil end
  return changing[req.method] and "If-Match" or nil
end

-- The version that the change was made on: the body's, else the one that the request was made with.
local function base_version(req, body, wire)
  if body then
    -- Tables whose ids are integers have no versions.
    if type(body.id) == "number" then return nil end
    local version = body[wire.version]
    if type(version) == "string" and version ~= "" then return version end
  end
  return req.version ~= "" and req.version or nil
end

local function lift(req, body, wire)
  local field = condition_field(req)
  if not field or req.headers:get(field) then return end
  local version = base_version(req, body, wire)
  if not version then return end
  if version:find("[%z\r\n]") then
    error("the record's version holds characters that a header field cannot")
  end
  req.headers:set(field, quoted(version))
end

-- Servers refuse bodies that hold what they keep themselves. `deleted` stays where it is the undelete.
local function strip(req, body, wire)
  if not body or not sending[req.method] then return end
  local is_changed = false
  for _, name in ipairs { wire.version, wire.updated_at, wire.deleted, wire.created_at } do
    if body[name] ~= nil and not (name == wire.deleted and req.kind == "undelete") then
      body[name], is_changed = nil, true
    end
  end
  for name in pairs(body) do
    if type(name) == "string" and name:sub(1, 2) == "__" and not (name == wire.deleted and req.kind == "undelete") then
      body[name], is_changed = nil, true
    end
  end
  if is_changed then req.body:set_json(json.object(body)) end
end

-- Writes the tag of a good answer into a record that has no version; true if it did. The body's own version wins: a
-- web server in front may have changed the tag. A refusal may echo what it was sent, under a tag that is a hash of it.
local function tag(res, record, kind, wire)
  if kind == "read" or kind == "custom" or res.status ~= 200 and res.status ~= 201 then return false end
  local own = record[wire.version]
  if type(record.id) ~= "string" or type(own) == "string" and own ~= "" then return false end
  local version = version_of(table.concat(res.headers:get_all("ETag"), ", "))
  if not version or version == "" then return false end
  record[wire.version] = version
  return true
end

local function reduced(record, names)
  if type(record) ~= "table" then return false end
  local is_changed = false
  for _, name in ipairs(names) do
    if record[name] ~= nil then record[name], is_changed = nil, true end
  end
  return is_changed
end

-- Takes the columns out of a record, of rows, or of an object that holds rows; true if there was one.
local function reduce(body, names)
  local rows = body[1] ~= nil and body or nil
  for _, member in ipairs { "items", "results" } do
    local list = body[member]
    if not rows and type(list) == "table" and (list[1] ~= nil or next(list) == nil) then rows = list end
  end
  if not rows then return reduced(body, names) end
  local is_changed = false
  for _, row in ipairs(rows) do is_changed = reduced(row, names) or is_changed end
  return is_changed
end

-- The system columns that an answer to an online request should not have.
local function surplus(asked, wire)
  local seen, names = {}, {}
  for _, name in ipairs(asked) do
    if name == "*" then return names end
    seen[plain(name)] = true
  end
  for _, name in ipairs { wire.version, wire.updated_at, wire.deleted, wire.created_at } do
    if not seen[plain(name)] then table.insert(names, name) end
  end
  return names
end

local function filter(req, next, ctx)
  if not req.table then return next(req) end
  local wire = wires[ctx.config.wire]
  local asked = ask(req, wire, ctx.config)
  local body = req.body:json()
  if type(body) ~= "table" then body = nil end
  lift(req, body, wire)
  strip(req, body, wire)

  local kind, source = req.kind, req.source
  local res = next(req)
  local names = asked and source == "online" and res.status >= 200 and res.status < 300 and surplus(asked, wire) or {}
  -- A page of a pull is not looked at: that would cost more than all the rest.
  if #names == 0 and (kind == "read" or kind == "custom" or not res.headers:get("ETag")) then return res end
  local answer = res.body:json()
  if type(answer) ~= "table" then return res end
  local is_tagged = tag(res, answer, kind, wire)
  local is_reduced = #names > 0 and reduce(answer, names)
  if is_tagged or is_reduced then res.body:set_json(answer) end
  return res
end

return { filter = filter }
