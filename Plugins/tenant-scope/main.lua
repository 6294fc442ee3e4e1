-- This keeps a device that works right to its tenant, and finds out a server that does not. It is no wall: what a
-- device may see is for the server to decide.

local function tenant(ctx)
  local id = ctx.config.tenant or ctx.deployment.labels[ctx.config.label]
  -- Without a tenant nothing is right: everything would be asked for, and everything stored.
  if not id or id == "" then error("tenant-scope: neither the configuration nor a label names the tenant", 0) end
  return id
end

local function is_shared(name, config)
  for _, other in ipairs(config.shared) do
    if other == name then return true end
  end
  return false
end

local function is_nothing(value) return value == nil or value == json.null end

local function before_enqueue(op, ctx)
  local field = ctx.config.field
  if is_shared(op.table, ctx.config) or not op.record then return nil end
  local id, theirs = tenant(ctx), op.record:get(field)
  if is_nothing(theirs) then
    -- The record of an undelete is the server's to give back, and cannot be written to.
    if op.kind == "undelete" then return nil end
    op:set(field, id)
    return op
  end
  if theirs ~= id then
    return decide.reject {
      code = "foreign_tenant", message = "the record belongs to another tenant", fields = { [field] = "is another's" },
    }
  end
end

-- Narrows the query of a list. The clause is added once: the address of a next page has it already.
local function narrow(query, clause)
  local filter = query:get("$filter")
  if not filter or text.trim(filter) == "" then
    query:set("$filter", clause)
  elseif filter ~= clause and not text.ends_with(filter, " and " .. clause) then
    query:set("$filter", "(" .. filter .. ") and " .. clause)
  end
end

local function request(req, ctx)
  local id = tenant(ctx)
  req.headers:set(ctx.config.header, id)
  if req.kind ~= "read" or req.method ~= "GET" or not req.table or is_shared(req.table, ctx.config) then return nil end
  -- A quote in a text is doubled; without that a tenant's name could be more than a name.
  narrow(req.query, ctx.config.field .. " eq '" .. id:gsub("'", "''") .. "'")
end

local function after_pull_page(page, ctx)
  local field = ctx.config.field
  if is_shared(page.table, ctx.config) then return nil end
  local id, refused = tenant(ctx), 0
  for i, row in page:rows() do
    local theirs = row:get(field)
    -- A tombstone may come without its fields, and has to arrive all the same: it takes a record away.
    local is_foreign = not row.deleted and theirs ~= id
      and not (is_nothing(theirs) and ctx.config.without == "keep")
    if is_foreign then
      page:drop(i, "belongs to another tenant")
      refused = refused + 1
    end
  end
  if refused > 0 then
    ctx.log.error("the server sent records of another tenant", { table = page.table, records = refused })
  end
end

return { before_enqueue = before_enqueue, request = request, after_pull_page = after_pull_page }
