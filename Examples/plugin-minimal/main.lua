-- The server's record stands, except for the title, which is as it was here, and for what only this side has changed.
local function on_conflict(c, ctx)
  if not c.client or not c.server or c.deleted then return decide.next() end
  local merged = c.server
  merged.title = c.client.title
  ctx.log.info("kept the title", { id = c.id })
  return decide.merge(merged, { reason = "the title was kept" })
end

return { on_conflict = on_conflict }
