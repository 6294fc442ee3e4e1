-- The token lives in this machine's memory alone: it does not belong on disk, and a new one costs one request.
local state = { token = nil, expires = nil, fetched = nil, busy_since = nil }

-- How long to wait for another request's fetch before one is made all the same: that request may have been cancelled.
local patience = 1.5

local function is_mine(host, hosts)
  for _, name in ipairs(hosts) do
    if name:lower() == host:lower() then return true end
  end
  return false
end

-- The token endpoint's answer, as token and seconds; nil if it gave none.
local function asked(config)
  local secret = secrets.get(config.secret)
  local res = http.request {
    method = "POST", url = config.token_url, body = config.body,
    headers = {
      ["Authorization"] = secret, ["Content-Type"] = "application/x-www-form-urlencoded",
      ["Accept"] = "application/json",
    },
  }
  if res.status ~= 200 then error("the token endpoint answered " .. tostring(res.status)) end
  local ok, answer = pcall(json.decode, res.body)
  if not ok or type(answer) ~= "table" or type(answer.access_token) ~= "string" then
    error("the token endpoint's answer holds no token")
  end
  -- Some endpoints write the seconds as text.
  return answer.access_token, tonumber(answer.expires_in)
end

-- A token that is not `refused`: the one that is here, the one that another request is fetching, or a new one. Nil if
-- there is none to be had now.
local function token(config, ctx, refused)
  while state.busy_since and time.now() - state.busy_since < patience do ctx.sleep(50) end

  local now = time.now()
  local is_fresh = state.token and state.token ~= refused
    and (not state.expires or now < state.expires - config.lead)
  if is_fresh then return state.token end
  -- A server that refuses every token, or an endpoint that is down, is not asked for each request anew. A token near its
  -- end is better than none.
  if state.fetched and now - state.fetched < config.cool_down then
    return state.token ~= refused and state.token or nil
  end

  state.busy_since = now
  local ok, new, seconds = pcall(asked, config)
  state.busy_since, state.fetched = nil, time.now()
  if ok then
    state.token, state.expires = new, seconds and time.now() + seconds or nil
    return new
  end
  ctx.log.warn("no token: " .. tostring(new))
  return state.token ~= refused and state.token or nil
end

local function filter(req, next, ctx)
  local config = ctx.config
  -- A request that brings a credential of its own keeps it.
  if not is_mine(req.host, config.hosts) or req.headers:get("Authorization") then return next(req) end

  local sent = token(config, ctx, nil)
  if sent then req.headers:set("Authorization", "Bearer " .. sent) end
  local res = next(req)
  if res.status ~= 401 then return res end

  local fresh = token(config, ctx, sent)
  if not fresh or fresh == sent then return res end
  -- After a 401 the server has done nothing, so this is safe for every method.
  req.headers:set("Authorization", "Bearer " .. fresh)
  return next(req)
end

return { filter = filter }
