-- On the wire all has the server's names and values, in the store the application's. Both directions are each other's
-- inverse; a value that has none goes through as it is, so that nothing is lost on the way there and back.

local to_server, to_local = {}, {}

function to_server.none(value) return value end
to_local.none = to_server.none

-- The shortest text that reads back as that number; nil for a whole float that may stand for another integer.
local function text_of(number)
  if math.type(number) == "float" and number % 1 == 0 and math.abs(number) >= 2 ^ 53 then return nil end
  local text = tostring(number)
  for digits = 15, 17 do
    if tonumber(text) == number then return text end
    text = string.format("%." .. digits .. "g", number)
  end
  return tonumber(text) == number and text or nil
end

function to_server.number_as_text(value) return type(value) == "number" and text_of(value) or value end
function to_local.number_as_text(value)
  local number = type(value) == "string" and #value <= 64 and tonumber(value)
  -- Only what comes back as it was: "007" is a text, however much it looks like a number.
  return number and text_of(number) == value and number or value
end

function to_server.boolean_as_number(value)
  if value == true then return 1 elseif value == false then return 0 end
  return value
end
function to_local.boolean_as_number(value)
  if value == 1 then return true elseif value == 0 then return false end
  return value
end

function to_server.time_as_seconds(value)
  local seconds = type(value) == "string" and time.parse(value)
  if not seconds then return value end
  return math.tointeger(seconds) or seconds
end
function to_local.time_as_seconds(value) return type(value) == "number" and time.format(value) or value end

function to_server.values(value, values)
  if type(value) == "string" and values[value] ~= nil then return values[value] end
  return value
end
function to_local.values(value, values)
  for mine, theirs in pairs(values) do
    if theirs == value then return mine end
  end
  return value
end

-- A conversion that is no inverse would change a value a little with each push.
local function init(ctx)
  for table_name, fields in pairs(ctx.config.tables) do
    local names = {}
    for field, rule in pairs(fields) do
      local server = rule.server or field
      if names[server] then
        error(("%s: %s and %s are both %s on the server"):format(table_name, names[server], field, server), 0)
      end
      names[server] = field
      local seen = {}
      for mine, theirs in pairs(rule.values) do
        if seen[theirs] then
          error(("%s.%s: %s and %s have one value"):format(table_name, field, seen[theirs], mine), 0)
        end
        seen[theirs] = mine
      end
    end
  end
end

-- The fields of the record, renamed and converted all at once, so that two fields may change names with each other.
-- `get` and `set` reach into it; returns whether anything is another now.
local function bridge(fields, get, set, is_outwards)
  local old, new = {}, {}
  for field, rule in pairs(fields) do
    local server = rule.server or field
    local from, to = is_outwards and field or server, is_outwards and server or field
    local value = get(from)
    if value ~= nil then
      local convert = (is_outwards and to_server or to_local)[rule.convert]
      new[to] = value == json.null and value or convert(value, rule.values)
      old[from] = value
    elseif not is_outwards and rule.default ~= nil and get(field) == nil then
      new[field] = rule.default
    end
  end
  local is_changed = false
  for name in pairs(old) do
    if new[name] == nil then
      set(name, nil)
      is_changed = true
    end
  end
  for name, value in pairs(new) do
    if old[name] ~= value then
      set(name, value)
      is_changed = true
    end
  end
  return is_changed
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

local function bridge_record(record, fields, is_outwards)
  return bridge(
    fields, function(name) return record[name] end, function(name, value) record[name] = value end, is_outwards)
end

local function request(req, ctx)
  local fields = req.table and ctx.config.tables[req.table]
  local record = fields and req.body:json()
  if type(record) == "table" and bridge_record(record, fields, true) then req.body:set_json(json.object(record)) end
end

-- The record that answers a change is stored, and compared with what was sent: it has to have our names too.
local function response(res, ctx)
  local fields = res.request.table and ctx.config.tables[res.request.table]
  if not fields or res.request.kind == "read" and res.request.source == "pull" then return end
  local body, is_changed = res.body:json(), false
  for _, record in ipairs(records(body)) do
    is_changed = bridge_record(record, fields, false) or is_changed
  end
  if is_changed then res.body:set_json(body) end
end

local function after_pull_page(page, ctx)
  local fields = ctx.config.tables[page.table]
  if not fields then return nil end
  for _, row in page:rows() do
    if not row.deleted then
      bridge(
        fields, function(name) return row:get(name) end, function(name, value) row:set(name, value) end, false)
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
  init = init, request = request, response = response, after_pull_page = after_pull_page, on_conflict = on_conflict,
}
