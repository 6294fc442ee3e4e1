-- A chain of hashes: each entry's hash is over its text and the hash before it, so none can be changed, taken out or put
-- in without all after it changing.
local chain = {}

chain.start = ("0"):rep(64)

-- A record as one text, the same for the same content.
function chain.record_hash(rec)
  if not rec then return "-" end
  local names, parts = rec:fields(), {}
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = json.encode(name) .. ":" .. json.encode(rec:get(name)) end
  return crypto.sha256(table.concat(parts, "\n"))
end

function chain.hash(text, previous) return crypto.sha256(previous .. "\n" .. text) end

-- The number of the first entry that does not follow from the one before it; nil if all do. `entries` is a list of
-- {n, text, hash}, `previous` the hash before the first.
function chain.first_fault(entries, previous)
  local number
  for _, entry in ipairs(entries) do
    if number and entry.n ~= number + 1 or chain.hash(entry.text, previous) ~= entry.hash then return entry.n end
    number, previous = entry.n, entry.hash
  end
end

return chain
