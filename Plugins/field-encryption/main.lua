-- The same value of the same field is the same text on the server: a repeated push is the same to the byte, and a filter
-- by eq finds it. The context keeps a text from being read in the place of another field's.

local prefix = "sealed:"

local function key(ctx) return secrets.get(ctx.config.key) end
local function context(field, ctx) return ctx.table .. "." .. field end

local function to_wire(value, field, ctx)
  return prefix .. crypto.seal(key(ctx), json.encode(value), context(field, ctx))
end

local function from_wire(value, field, ctx)
  if type(value) ~= "string" or value:sub(1, #prefix) ~= prefix then
    if ctx.config.allow_plain then return value end
    error("not encrypted", 0)
  end
  local text = crypto.open(key(ctx), value:sub(#prefix + 1), context(field, ctx))
  if not text then error("not encrypted with this key for this field", 0) end
  return json.decode(text)
end

return { to_wire = to_wire, from_wire = from_wire }
