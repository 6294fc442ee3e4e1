internal import SluiceCore
internal import SluiceLua

extension ScaffoldTemplate {
    static let conflict = ScaffoldTemplate(
        summary: "Merges what two sides changed, field by field.",
        hooks: ["on_conflict": ["match": ["tables": ["*"]]]],
        schema: schema([
            (
                "longest", "Fields of which the longer text wins.",
                [
                    "type": "array", "items": ["type": "string"], "default": ["title"],
                ]
            )
        ]),
        main: #"""
            -- Both sides changed the record. A field that only one side changed is taken from that side; for a field
            -- that both changed a rule decides: the name of one that is built in, or a function of the three values.

            local function longer(client, server, base)
              if type(client) ~= "string" or type(server) ~= "string" then return server end
              return #client > #server and client or server
            end

            local function on_conflict(c, ctx)
              -- One side deleted the record, or nobody knows what both began with: leave it to the next handler.
              if not c.client or not c.server or c.deleted or not c.base then return decide.next() end
              local rules = { default = "server" }
              for _, field in ipairs(ctx.config.longest) do rules[field] = longer end
              return c:merge(rules)
            end

            return { on_conflict = on_conflict }
            """#,
        fixtures: [
            (
                "longer-wins",
                [
                    "name": "of two titles the longer one wins, and what one side changed stays",
                    "hook": "on_conflict",
                    "given": [
                        "conflict": [
                            "client": ["id": "1", "title": "oat milk", "qty": 1, "done": true],
                            "server": ["id": "1", "title": "milk!", "qty": 2, "done": false],
                            "base": ["id": "1", "title": "milk", "qty": 1, "done": false],
                        ]
                    ],
                    "expect": [
                        "decision": [
                            "decision": "merge",
                            "record": ["id": "1", "title": "oat milk", "qty": 2, "done": true],
                        ]
                    ],
                ]
            ),
            (
                "deleted",
                [
                    "name": "a record that the server deleted is somebody else's question",
                    "hook": "on_conflict",
                    "given": ["conflict": ["client": ["id": "1", "title": "milk"]]],
                    "expect": ["decision": ["decision": "next"]],
                ]
            ),
        ])

    static let beforeEnqueue = ScaffoldTemplate(
        summary: "Refuses local changes that leave out what has to be there.",
        hooks: ["before_enqueue": ["match": ["kinds": ["insert", "update"]]]],
        schema: schema([
            (
                "required", "Fields that a record has to have.",
                [
                    "type": "array", "items": ["type": "string"], "default": ["title"],
                ]
            )
        ]),
        main: #"""
            -- Runs before a local change is stored and queued. It may not wait.

            local function before_enqueue(op, ctx)
              local problems = {}
              for _, field in ipairs(ctx.config.required) do
                local value = op.record:get(field)
                if value == nil or value == json.null or value == "" then problems[field] = "is missing" end
              end
              if next(problems) then
                return decide.reject { code = "incomplete", message = "something is missing", fields = problems }
              end
            end

            return { before_enqueue = before_enqueue }
            """#,
        fixtures: [
            (
                "refuses",
                [
                    "name": "a record without a title is refused, and the field named",
                    "hook": "before_enqueue",
                    "given": ["operation": ["kind": "insert", "record": ["id": "1", "title": ""]]],
                    "expect": [
                        "decision": [
                            "decision": "reject", "code": "incomplete", "fields": ["title": "is missing"],
                        ]
                    ],
                ]
            ),
            (
                "accepts",
                [
                    "name": "one with a title is stored",
                    "hook": "before_enqueue",
                    "given": ["operation": ["kind": "insert", "record": ["id": "1", "title": "milk"]]],
                    "expect": ["decision": .null],
                ]
            ),
        ])

    static let afterPull = ScaffoldTemplate(
        summary: "Fits pulled records to what the application expects.",
        hooks: ["after_pull": .object],
        schema: schema([
            (
                "trim", "Fields whose texts are stored without blanks around them.",
                [
                    "type": "array", "items": ["type": "string"], "default": ["title"],
                ]
            )
        ]),
        main: #"""
            -- Runs for each pulled record before it is stored. It may not wait. Deleted records pass whatever it says.

            local function after_pull(rec, ctx)
              for _, field in ipairs(ctx.config.trim) do
                local value = rec:get(field)
                if type(value) == "string" then rec:set(field, text.trim(value)) end
              end
            end

            return { after_pull = after_pull }
            """#,
        fixtures: [
            (
                "trims",
                [
                    "name": "blanks around a title are not stored",
                    "hook": "after_pull",
                    "given": ["record": ["id": "1", "title": "  milk "]],
                    "expect": ["record": ["id": "1", "title": "milk"]],
                ]
            )
        ])
}
