-- What is compared is one field, in which every device writes by its own clock when it edits the record. The server's
-- updatedAt will not do: it says when an edit arrived, and the local record has that of the edit before.

-- The time of an edit that is made now. It is never before that of the edit it is made on, so that a clock that is slow,
-- or was set back, cannot make an edit lose against the very record its author had before them. A stamp from a future
-- that nobody believes is not followed.
local function stamp(before, config)
  local now = time.now()
  if before and before >= now and before <= now + config.tolerance then return before + 0.001 end
  return now
end

local function before_enqueue(op, ctx)
  if not ctx.config.stamp or not op.record then return nil end
  local before = op.before and time.parse(op.before:get(ctx.config.field))
  op:set(ctx.config.field, time.format(stamp(before, ctx.config)))
  return op
end

local function chosen(choice, reason) return decide[choice] { reason = reason } end

local function with_a_delete(c, choice)
  if not c.client and (not c.server or c.deleted) then
    return decide.server { reason = "both sides deleted the record" }
  end
  local is_deleted_here = not c.client
  if choice == "delete" then
    return chosen(is_deleted_here and "client" or "server", "a delete wins over an edit")
  elseif choice == "edit" then
    return chosen(is_deleted_here and "server" or "client", "an edit wins over a delete")
  end
  return chosen(choice, is_deleted_here and "deleted here, edited on the server" or "edited here, deleted on the server")
end

local function on_conflict(c, ctx)
  local config = ctx.config
  if not c.client or not c.server or c.deleted then return with_a_delete(c, config.deletes) end

  local mine, theirs = time.parse(c.client:get(config.field)), time.parse(c.server:get(config.field))
  if not mine or not theirs then
    return chosen(config.without_stamp, (mine and "the server's" or "the local") .. " record has no time of its edit")
  end
  local latest = time.now() + config.tolerance
  if mine > latest or theirs > latest then
    local whose = mine > latest and "local" or "server's"
    return chosen(config.without_stamp, "the " .. whose .. " edit is from the future: a clock is wrong")
  end
  if math.abs(mine - theirs) <= config.tie then
    return chosen(config.tie_winner, "both edits were made at the same time")
  end
  if mine > theirs then return decide.client { reason = "the local edit is newer" } end
  return decide.server { reason = "the server's edit is newer" }
end

return { before_enqueue = before_enqueue, on_conflict = on_conflict }
