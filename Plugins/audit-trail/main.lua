local chain = require("lib.chain")

local month = 30 * 86400

local function set(op, field, value)
  if field ~= "" and value ~= nil and value ~= json.null then op:set(field, value) end
end

-- Who and when is written when the change is made, not when it is sent: that may be days later.
local function before_enqueue(op, ctx)
  local config = ctx.config
  if not op.record then return nil end
  set(op, config.who_field, config.who or ctx.deployment.labels.user)
  set(op, config.when_field, time.format(time.now()))
  set(op, config.app_field, config.app)
  return op
end

-- An entry for what is about to be sent. The same change sent again, after a failure, is no other entry.
local function before_push(op, ctx)
  local content = table.concat({ op.operation, op.table, op.id, op.kind, chain.record_hash(op.record) }, " ")
  local place = "o:" .. op.operation
  local known = kv.get(place)
  if known and known.content == content then return nil end

  local head = kv.get("head") or { n = 0, hash = chain.start }
  local n = head.n + 1
  local text = time.format(time.now()) .. " " .. content
  local hash = chain.hash(text, head.hash)
  kv.set("head", { n = n, hash = hash })
  kv.set("e:" .. n, { n = n, text = text, hash = hash })
  kv.set("e:" .. n - ctx.config.keep, nil)
  kv.set(place, { content = content, entry = n .. " " .. hash }, month)
end

local function request(req, ctx)
  if ctx.config.header == "" or not req.operation then return nil end
  local known = kv.get("o:" .. req.operation)
  if known then req.headers:set(ctx.config.header, known.entry) end
end

return { before_enqueue = before_enqueue, before_push = before_push, request = request }
