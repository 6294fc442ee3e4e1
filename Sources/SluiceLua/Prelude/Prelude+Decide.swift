extension Prelude {
    /// Decisions: tables that name what is to be done. The host checks them when the hook has returned.
    static let decide = #"""
        local function copied(name, options)
          if options ~= nil and type(options) ~= "table" then
            error("decide." .. name .. " takes a table of options, not a " .. type(options), 3)
          end
          local d = {}
          for k, v in pairs(options or d) do d[k] = v end
          d.decision = name
          return d
        end

        local decide = {}
        for _, name in ipairs {
          "server", "client", "delete", "discard", "defer", "ask", "next", "respond", "retry", "fail", "reject",
          "local_only", "skip", "cancel_and_discard", "quarantine", "abort", "drop", "push", "pull", "wait",
        } do
          decide[name] = function(options) return copied(name, options) end
        end
        for _, name in ipairs { "merge", "cancel_and_update" } do
          decide[name] = function(record, options)
            local d = copied(name, options)
            d.record = record
            return d
          end
        end
        function decide.change_action(kind, record, options)
          local d = copied("change_action", options)
          d.kind, d.record = kind, record
          return d
        end
        function decide.batch_key(key, options)
          local d = copied("batch_key", options)
          d.key = key
          return d
        end

        """#
}
