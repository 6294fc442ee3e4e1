extension Prelude {
    /// The objects of the hooks around a server's tables: the request, its `next`, and what came of it.
    static let tables = #"""
        class("table_req", {
          methods = methods({ table_req = true }, {
            set = function(r, name, v)
              local record = child(r, "record", "rec")
              if not record then error("a " .. tostring(get(r, "kind")) .. " has no record to be written to", 3) end
              if is_system[name] then error(tostring(name) .. " is read-only", 3) end
              set(record, name, v)
            end,
          }),
          getters = {
            record = inside("record", "rec"), stored = inside("stored", "rec_seen"), claims = inside("claims", "table"),
            query = inside("query", "table"),
          },
          writable = { "filter" },
        })
        class("table_next", {
          call = function(n, req)
            if type_of(n) ~= "table_next" then error("next was kept from an earlier call, which is over", 2) end
            if type_of(req) ~= "table_req" then error("next needs the request: next(req)", 2) end
            return p.ask("table_answer", "table.next", req)
          end,
          writable = false,
        })
        class("table_answer", {
          methods = methods({ table_answer = true }, {
            count = plain "count",
            row = row_at,
            rows = each_row,
          }),
          getters = { record = function(o) return child(child(o, "rows", "bag"), "1", "rec") end },
          writable = false,
        })

        """#
}
