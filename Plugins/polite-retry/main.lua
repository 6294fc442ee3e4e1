-- Two halves that see every exchange: `request` answers itself while a host is left alone, `response` counts failures
-- and has a request sent again.

-- Hosts are as long as they like, keys of kv are not.
local function key(name, host) return name .. ":" .. crypto.sha256(host):sub(1, 32) end

local months = {
  Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9, Oct = 10, Nov = 11, Dec = 12,
}

-- The seconds that Retry-After asks for; nil if it does not, or says nothing that can be understood.
local function asked_pause(res)
  local value = res.headers:get("Retry-After")
  if not value then return nil end
  local seconds = value:match("^%s*(%d+)%s*$")
  -- So long a number is no number of seconds; a year is more than anyone waits for.
  if seconds then return #seconds > 8 and 31536000 or math.tointeger(tonumber(seconds)) end
  local day, month, year, clock = value:match("^%a+, (%d%d) (%a%a%a) (%d%d%d%d) (%d%d:%d%d:%d%d) GMT$")
  if not day or not months[month] then return nil end
  local at = time.parse(("%s-%02d-%sT%sZ"):format(year, months[month], day, clock))
  return at and math.max(0, at - time.now())
end

local function is_failure(status)
  return status == 429 or status == 500 or status == 502 or status == 503 or status == 504
end

-- Whether sending twice does what sending once does. A push names its operation, by which the server, or the engine
-- from the server's answer, knows it again.
local function is_repeatable(req, status)
  if status == 429 then return true end
  if status ~= 503 and status ~= 502 and status ~= 504 then return false end
  return req.method == "GET" or req.method == "HEAD" or req.idempotency_key ~= nil
end

local function request(req, ctx)
  local rest = kv.ttl(key("rest", req.host))
  if not rest or rest <= 0 then return nil end
  return decide.respond {
    status = 503, headers = { ["Retry-After"] = tostring(math.ceil(rest)) },
    json = { error = "the server has failed too often and is left alone for a while" },
    reason = "left alone for " .. math.ceil(rest) .. " s",
  }
end

-- Counts, and returns whether the host is to be left alone from now on.
local function note(host, has_failed, asked, config)
  local failures = key("failures", host)
  if not has_failed then
    -- Written only where there is something to forget: most answers are good ones.
    if kv.get(failures) then kv.set(failures, nil) end
    return false
  end
  local count = kv.incr(failures)
  if config.failures == 0 or count < config.failures then return false end
  kv.set(failures, nil)
  -- A pause that the server asks for counts where it is longer, up to an hour.
  kv.set(key("rest", host), true, math.max(config.rest, math.min(asked or 0, 3600)))
  return true
end

local function response(res, ctx)
  local config, req = ctx.config, res.request
  local has_failed = is_failure(res.status)
  local asked = has_failed and asked_pause(res) or nil
  if note(req.host, has_failed, asked, config) then
    ctx.log.warn("the server fails and is left alone for a while", { host = req.host, status = res.status })
    return nil
  end
  if not has_failed or not is_repeatable(req, res.status) or req.attempt + 1 >= config.attempts then return nil end
  if asked and asked > config.longest_pause then return nil end

  -- At least the half and at most all of the pause, so that many clients do not come back at once.
  local pause = math.min(config.first_pause * 2 ^ req.attempt, config.longest_pause)
  pause = pause * (0.5 + 0.5 * crypto.random())
  -- A call waits for five minutes at most.
  return decide.retry { after = math.min(math.max(pause, asked or 0), 300), reason = "answered " .. res.status }
end

return { request = request, response = response }
