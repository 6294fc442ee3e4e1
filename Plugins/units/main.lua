-- Here all is metric, on the wire it is in the server's unit. A push compares what it sent with what comes back, so both
-- ways are rounded: a number of up to six decimals comes back as it was.

local there = {
  fahrenheit = function(celsius) return celsius * 9 / 5 + 32 end,
  feet = function(metres) return metres / 0.3048 end,
  pounds = function(kilograms) return kilograms / 0.45359237 end,
}
local here = {
  fahrenheit = function(degrees) return (degrees - 32) * 5 / 9 end,
  feet = function(feet) return feet * 0.3048 end,
  pounds = function(pounds) return pounds * 0.45359237 end,
}

local function rounded(number)
  -- A larger number has no six decimals.
  if math.abs(number) < 1e9 then number = math.floor(number * 1e6 + 0.5) / 1e6 end
  return math.tointeger(number) or number
end

local function convert(value, field, ctx, units)
  if type(value) ~= "number" then error("not a number", 0) end
  local tables = ctx.config.tables
  local own, all = tables[ctx.table] or {}, tables["*"] or {}
  return rounded(units[own[field] or all[field]](value))
end

local function to_wire(value, field, ctx) return convert(value, field, ctx, there) end
local function from_wire(value, field, ctx) return convert(value, field, ctx, here) end

return { to_wire = to_wire, from_wire = from_wire }
