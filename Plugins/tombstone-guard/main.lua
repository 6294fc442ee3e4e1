-- Conflicts in which one side deleted the record. All others go to the next handler.

-- Whether the deployment's role is among those; an empty list names them all.
local function may(roles, ctx)
  local role, is_empty = ctx.deployment.labels[ctx.config.role_label], true
  for _, name in ipairs(roles) do
    is_empty = false
    if name == role then return true end
  end
  return is_empty
end

local function before_enqueue(op, ctx)
  if op.kind ~= "undelete" or may(ctx.config.undelete_roles, ctx) then return nil end
  return decide.reject { code = "undelete_refused", message = "your role may not bring deleted records back" }
end

-- An edit made here meets a tombstone.
local function edit_of_deleted(ctx)
  local choice = ctx.config.edit_of_deleted
  if choice == "server" then return decide.server { reason = "the record is deleted" } end
  if choice == "revive" then
    if may(ctx.config.undelete_roles, ctx) then return decide.client { reason = "the edit brings the record back" } end
    return decide.ask { reason = "the record is deleted, and this role may not bring it back" }
  end
  return decide.ask { reason = "edited here, deleted on the server" }
end

-- A delete made here meets an edit.
local function delete_of_edited(c, ctx)
  local choice = ctx.config.delete_of_edited
  if choice == "keep" then return decide.server { reason = "the record was edited since" } end
  if choice == "delete" then
    if not may(ctx.config.delete_roles, ctx) then
      return decide.server { reason = "the record was edited since, and this role's deletes do not win" }
    end
    -- Whoever deleted it a week ago, offline, did not know of what others have done to it since.
    local since = time.parse(c.queued_at)
    if not since or time.now() - since > ctx.config.max_age then
      return decide.ask { reason = "the delete is old, and the record was edited since" }
    end
    return decide.client { reason = "the delete wins" }
  end
  return decide.ask { reason = "deleted here, edited on the server" }
end

local function on_conflict(c, ctx)
  local is_gone = not c.server or c.deleted
  if not c.client then
    if is_gone then return decide.server { reason = "both sides deleted the record" } end
    return delete_of_edited(c, ctx)
  end
  if is_gone then return edit_of_deleted(ctx) end
  return decide.next()
end

return { before_enqueue = before_enqueue, on_conflict = on_conflict }
