extension HostModule {
    /// Decisions: tables that name an action. The host checks them after the hook has returned.
    static let decide = HostModule(
        "decide", "sluice.Decide",
        "What hooks answer with. Each takes a table of options; `reason` is kept in the decision log. An option that a decision does not have, or of another type, is an error.",
        before: start,
        [
            decision(
                "respond", takes: [.status, .headers, .body, .json],
                "Answers the request: `status`, `headers`, `body` (a text) or `json`. Of a push it needs the permission `change: push.answer`."
            ),
            decision(
                "retry", takes: [.after], "Again, `after` seconds: the request, or the operation.", isOptional: true),
            decision("fail", takes: [.message], "The request fails with `message`."),
            decision(
                "reject", takes: [.message, .code, .fields],
                "The write is refused: `message`, `code`, and `fields` with what is wrong with each."),
            decision("local_only", "The write is stored, and the server never hears of it."),
            decision("skip", "The operation waits for the next push."),
            decision(
                "defer", takes: [.after],
                "The operation waits `after` seconds; a conflict waits for the next push.", isOptional: true),
            decision(
                "change_action", takes: [.remove], before: [("kind", "string"), ("record?", "any")],
                "The operation becomes one of that kind, with that whole record. As of `merge`, a table names in `remove` what it leaves out.",
                #"""
                function(kind, record, options)
                  local d = copied("change_action", options)
                  d.record = record
                  d.kind = kind
                  return d
                end
                """#),
            decision(
                "batch_key", before: [("key", "string")],
                "A hint which operations belong together. It changes nothing yet.",
                #"""
                function(key, options)
                  local d = copied("batch_key", options)
                  d.key = key
                  return d
                end
                """#),
            decision("server", "The server's record stands."),
            decision("client", "What was changed here is sent on top of the server's record."),
            decision(
                "merge", takes: [.remove], before: [("record", "any")],
                "That whole record is stored and sent, and a field that it leaves as the base has it is of the side that changed it, where one alone did. A table that leaves out fields which both sides have names them in `remove`.",
                #"with_record "merge""#),
            decision("delete", "The record is deleted here and there."),
            decision("discard", "The local change is given up."),
            decision("ask", "The operation is held until a person decides."),
            decision("next", "The next handler decides."),
            decision("cancel_and_discard", "The operation is given up, and its change with it."),
            decision(
                "cancel_and_update", takes: [.remove], before: [("record", "any")],
                "The operation is given up, and that whole record is what the application sees. As of `merge`, a table names in `remove` what it leaves out.",
                #"with_record "cancel_and_update""#),
            decision("park", "The operation is parked with the reason."),
            decision("abort", "The rest of the push is not done; a conflict is held."),
            decision("drop", "The row is not stored."),
            decision(
                "refuse", takes: [.status, .message],
                "The request to the server's table is refused: `status`, 400 to 599 and 400 by default, and `message`."),
            decision("push", "Push now."),
            decision("pull", takes: [.tables], "Push and pull now: `tables`, or all.", isOptional: true),
            decision("wait", takes: [.after, .at], "Nothing before `after` seconds, or before `at`, a time."),
        ],
        after: #"""
            local decision_names = {}
            for name, f in pairs(decide) do decision_names[f] = name end

            """#)

    /// An option of decisions beside `reason`.
    private enum Option: String {
        case status, headers, body, json, after, at, message, code, fields, tables, remove

        /// The type of its values, as the prelude checks it.
        var type: String {
            switch self {
            case .status: "number"
            case .headers, .json: "any"
            case .body, .message, .code: "string"
            case .after: "pause"
            case .at: "time"
            case .fields, .tables, .remove: "table"
            }
        }
    }

    /// A decision. A table of options comes after the other parameters; it may be missing if all options may.
    private static func decision(
        _ name: String, takes options: [Option] = [], before: HostMember.Parameters = [], _ text: String,
        isOptional: Bool? = nil, _ lua: String? = nil
    ) -> HostMember {
        let isOptional = isOptional ?? (options.isEmpty || !before.isEmpty)
        let types = options.map { "\($0.rawValue) = \"\($0.type)\"" }.joined(separator: ", ")
        return .lua(
            name, before + [(isOptional ? "options?" : "options", "table")], "sluice.Decision", text,
            "declared(\"\(name)\", { \(types) }, \(lua ?? "without_record \"\(name)\""))")
    }

    private static let start = #"""
        -- What makes a decision known for one, whatever members it has.
        local mark = {}
        local decided = { __index = { [mark] = true } }
        local function is_decision(v) return type(v) == "table" and v[mark] == true end

        -- The options that decisions take beside reason, and of what type each is.
        local taken = {}
        local function declared(name, options, f)
          taken[name] = options
          return f
        end
        local meant = {
          string = "a text", number = "a number", table = "a table", pause = "a number of seconds from 0",
          time = "a time, in seconds or as text",
        }
        local function fits(v, wanted)
          local t = type(v)
          if wanted == "pause" then return t == "number" and v >= 0 end
          if wanted == "time" then return t == "number" or t == "string" end
          return wanted == "any" or t == wanted
        end
        local function check(name, known, k, v)
          local wanted = k == "reason" and "string" or known[k]
          if not wanted then
            local names = { "reason" }
            for other in pairs(known) do insert(names, other) end
            fail("result", "decide." .. name .. " has no option " .. tostring(k) .. nearest(tostring(k), names))
          end
          if not fits(v, wanted) then
            fail("result", "decide." .. name .. ": " .. k .. " is " .. meant[wanted] .. ", not " .. shown(v))
          end
        end

        local function copied(name, options)
          if options ~= nil and type(options) ~= "table" then
            fail("result", "decide." .. name .. " takes a table of options, not " .. shown(options))
          end
          local d = setmetatable({ decision = name }, decided)
          if options then
            local known = taken[name]
            for k, v in pairs(options) do
              -- What is null says nothing, but where it is the answer.
              if v ~= null or k == "json" then
                check(name, known, k, v)
                d[k] = v
              end
            end
          end
          return d
        end

        local function without_record(name) return function(options) return copied(name, options) end end
        local function with_record(name)
          return function(record, options)
            local d = copied(name, options)
            d.record = record
            local side = type_of(record) and p.overtaken(record)
            if side then
              fail("result", "c." .. side .. " is a copy each time it is read, and the one that was written to is another: "
                .. "keep it, local record = c." .. side .. ", and return that")
            end
            return d
          end
        end

        """#
}
