-- What is refused here never reaches the queue: the person who wrote it is still there to put it right.

local function is_nothing(value) return value == nil or value == json.null end

local types = {
  text = function(v) return type(v) == "string" end,
  number = function(v) return type(v) == "number" end,
  -- 3.0 is a whole number, however it is written.
  integer = function(v) return type(v) == "number" and math.tointeger(v) ~= nil end,
  boolean = function(v) return type(v) == "boolean" end,
  time = function(v) return type(v) == "string" and time.parse(v) ~= nil end,
  list = function(v) return type(v) == "table" and (v[1] ~= nil or next(v) == nil) end,
  object = function(v) return type(v) == "table" and v[1] == nil end,
}

local function is_among(value, list)
  for _, other in ipairs(list) do
    if other == value then return true end
  end
  return false
end

-- Two values on one scale: numbers as they are, texts as times. Nil where they are on none.
local function comparable(a, b)
  if type(a) == "number" and type(b) == "number" then return a, b end
  if type(a) ~= "string" or type(b) ~= "string" then return nil end
  local first, second = time.parse(a), time.parse(b)
  if first and second then return first, second end
end

-- What is wrong with a value; nil if nothing is.
local function fault(value, rule, record)
  if is_nothing(value) then return rule.required and "is missing" or nil end
  if rule.required and value == "" then return "is empty" end
  if rule.type and not types[rule.type](value) then return "is no " .. rule.type end
  if type(value) == "number" then
    if rule.min and value < rule.min then return "is less than " .. tostring(rule.min) end
    if rule.max and value > rule.max then return "is more than " .. tostring(rule.max) end
  elseif type(value) == "string" then
    local length = utf8.len(value)
    if rule.min_length and length < rule.min_length then return "is shorter than " .. rule.min_length .. " characters" end
    if rule.max_length and length > rule.max_length then return "is longer than " .. rule.max_length .. " characters" end
    -- From end to end: "^a|b$" is no alternative here, and half a match would be none.
    if rule.pattern and not value:find("^" .. rule.pattern .. "$") then return "has another form" end
  end
  if rule.one_of and not is_among(value, rule.one_of) then return "is none of the possible values" end
  if rule.not_before then
    local this, other = comparable(value, record:get(rule.not_before))
    if this and this < other then return "is before " .. rule.not_before end
  end
end

local function init(ctx)
  for table_name, fields in pairs(ctx.config.tables) do
    for field, rule in pairs(fields) do
      -- A pattern that is none would refuse every write, at the worst of times.
      if rule.pattern then
        local ok, why = pcall(string.find, "", "^" .. rule.pattern .. "$")
        if not ok then error(("%s.%s: %s"):format(table_name, field, tostring(why)), 0) end
      end
    end
  end
end

local function same(a, b)
  if type(a) == "table" and type(b) == "table" and a ~= json.null and b ~= json.null then
    return json.encode(a) == json.encode(b)
  end
  return a == b
end

local function before_enqueue(op, ctx)
  local fields = ctx.config.tables[op.table]
  if not fields or not op.record or op.kind == "delete" then return nil end
  local before = ctx.config.changed_only and op.before
  local faults, count = {}, 0
  for field, rule in pairs(fields) do
    local value = op.record:get(field)
    -- A rule about two fields is looked at where one of them has changed.
    local is_touched = not before or not same(value, before:get(field))
      or rule.not_before and not same(op.record:get(rule.not_before), before:get(rule.not_before))
    local why = is_touched and fault(value, rule, op.record)
    if why then
      faults[field] = rule.message or why
      count = count + 1
    end
  end
  if count == 0 then return nil end
  return decide.reject {
    code = "invalid", message = count == 1 and "a field is not as it has to be" or count .. " fields are not as they have to be",
    fields = faults,
  }
end

return { init = init, before_enqueue = before_enqueue }
