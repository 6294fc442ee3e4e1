-- Counts the failures of each operation that are the server's or the record's, and nobody else's.

-- Nobody can count for ever: an operation that has not failed for so long begins anew.
local memory = 30 * 86400

local function is_among(status, list)
  for _, other in ipairs(list) do
    if other == status then return true end
  end
  return false
end

local function set_aside(e, place, count, ctx)
  kv.set(place, nil)
  local operation = e.operation
  ctx.log.error("an operation was put aside", {
    operation = operation.operation, table = e.table, id = e.id, kind = e.kind, status = e.status, code = e.code,
    failures = count,
  })
  local times = count == 1 and "once" or count .. " times"
  return decide.park { reason = ("failed %s, last with %s: %s"):format(times, e.status or e.code, e.message or "") }
end

local function on_push_error(e, ctx)
  -- A network that is not there, credentials that ran out and a server that asks for patience say nothing about the
  -- operation, however often they do.
  if e.is_network or e.is_auth or e.status == 429 or e.status == 503 then return decide.next() end

  local config, place = ctx.config, "n:" .. e.operation.operation
  local count = (kv.get(place) or 0) + 1
  if e.status and is_among(e.status, config.at_once) or count >= config.failures then
    return set_aside(e, place, count, ctx)
  end
  -- A plain no is the engine's to park: it would be the same no tomorrow.
  if e.status and e.status >= 400 and e.status < 500 then return decide.next() end

  kv.set(place, count, memory)
  local pause = math.min(config.first_pause * 2 ^ math.min(count - 1, 30), config.longest_pause)
  return decide.retry {
    after = math.max(pause, e.retry_after or 0), reason = ("failure %d of %d"):format(count, config.failures),
  }
end

return { on_push_error = on_push_error }
