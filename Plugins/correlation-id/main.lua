-- An operation keeps its id over all attempts, pushes and restarts: so the log of the server shows what became of one
-- change, however often it was sent. Requests that belong to none get an id of their own.

local function request(req, ctx)
  local config = ctx.config
  local id
  if req.operation then
    id = config.prefix .. req.operation
  else
    -- One that is there already, of the application's or of the filter that is built in, is known elsewhere too.
    id = req.headers:get(config.header) or config.prefix .. crypto.uuid()
  end
  req.headers:set(config.header, id)
  ctx.scratch.id = id
  ctx.trace.set("correlation_id", id)
end

local function response(res, ctx)
  local id = ctx.scratch.id
  local theirs = res.headers:get(ctx.config.server_header)
  if theirs then ctx.trace.set("server_id", theirs) end
  if res.status < ctx.config.log_from then return end
  ctx.log.warn("the server answered " .. res.status, {
    id = id, server_id = theirs, table = res.request and res.request.table, kind = res.request and res.request.kind,
  })
end

return { request = request, response = response }
