local minute, day = 60, 86400

-- Seconds since midnight.
local function of_day(text) return tonumber(text:sub(1, 2)) * 3600 + tonumber(text:sub(4, 5)) * minute end

-- 1970 began on a Thursday.
local names = { [0] = "thu", "fri", "sat", "sun", "mon", "tue", "wed" }

local function init(ctx)
  if ctx.config.from == ctx.config.to then error("quiet hours from a time to the same time: is it never or always?", 0) end
end

local function is_quiet_day(number, days)
  for _, name in ipairs(days) do
    if name == names[number % 7] then return true end
  end
  return false
end

-- When the quiet time ends that `now` is in; nil if it is in none. Hours over midnight belong to the day they begin on.
local function quiet_until(now, config)
  local here = now + config.utc_offset * minute
  local from, to = of_day(config.from), of_day(config.to)
  if to <= from then to = to + day end
  local today = math.floor(here / day)
  for _, number in ipairs { today - 1, today } do
    local start, stop = number * day + from, number * day + to
    if is_quiet_day(number, config.days) and here >= start and here < stop then
      return stop - config.utc_offset * minute
    end
  end
end

-- Since when something waits. The queue does not say, so the first question that finds something is remembered.
local function waiting_since(pending, now)
  if pending == 0 then
    if kv.get("since") then kv.set("since", nil) end
    return nil
  end
  local since = kv.get("since")
  -- A clock that was set back must not make the queue young again for ever.
  if not since or since > now then
    since = now
    kv.set("since", since)
  end
  return since
end

local function on_schedule(ctx)
  local question = ctx.question
  local now = time.now()
  local since = waiting_since(question.pending, now)
  -- Somebody asked for it.
  if question.reason == "request" then return nil end
  local stop = quiet_until(now, ctx.config)
  if not stop then return nil end
  if since then
    local latest = since + ctx.config.unless_older
    if latest <= now then
      -- After a failure the schedule pauses, and that counts at night too.
      if question.next > now then return nil end
      -- Only the push is urgent; the pull can wait for the morning.
      return decide.push { reason = "a change has waited for too long" }
    end
    stop = math.min(stop, latest)
  end
  return decide.wait { at = stop, reason = "quiet hours" }
end

return { init = init, on_schedule = on_schedule }
