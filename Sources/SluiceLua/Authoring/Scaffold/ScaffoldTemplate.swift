internal import SluiceCore

/// What a new plugin of a kind begins with.
struct ScaffoldTemplate {
    var summary: String
    var hooks: JSON
    var schema: JSON
    var main: String
    var fixtures: [(file: String, json: JSON)]
    var permissions: JSON?

    static func template(_ kind: ScaffoldKind) -> ScaffoldTemplate {
        switch kind {
        case .conflict: conflict
        case .filter: filter
        case .request: request
        case .response: response
        case .beforeEnqueue: beforeEnqueue
        case .beforePush: beforePush
        case .pushError: pushError
        case .afterPull: afterPull
        case .schedule: schedule
        }
    }

    /// A schema of properties, each with its description, type and default.
    fileprivate static func schema(_ properties: [(name: String, about: String, node: JSON)]) -> JSON {
        let nodes = properties.map { name, about, node in
            var described: JSON = ["description": JSON(about)]
            for (name, value) in node.members ?? [] { described[name] = value }
            return (name, described)
        }
        return ["type": "object", "properties": JSON(members: nodes)]
    }
}

// MARK: - conflicts and records

extension ScaffoldTemplate {
    private static let conflict = ScaffoldTemplate(
        summary: "Merges what two sides changed, field by field.",
        hooks: ["on_conflict": ["match": ["tables": ["*"]]]],
        schema: schema([
            ("longest", "Fields of which the longer text wins.", [
                "type": "array", "items": ["type": "string"], "default": ["title"],
            ])
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

    private static let beforeEnqueue = ScaffoldTemplate(
        summary: "Refuses local changes that leave out what has to be there.",
        hooks: ["before_enqueue": ["match": ["kinds": ["insert", "update"]]]],
        schema: schema([
            ("required", "Fields that a record has to have.", [
                "type": "array", "items": ["type": "string"], "default": ["title"],
            ])
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

    private static let afterPull = ScaffoldTemplate(
        summary: "Fits pulled records to what the application expects.",
        hooks: ["after_pull": .object],
        schema: schema([
            ("trim", "Fields whose texts are stored without blanks around them.", [
                "type": "array", "items": ["type": "string"], "default": ["title"],
            ])
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

    private static let beforePush = ScaffoldTemplate(
        summary: "Has changes of some tables wait for a while.",
        hooks: ["before_push": .object],
        schema: schema([
            ("tables", "The tables whose changes wait.", [
                "type": "array", "items": ["type": "string"], "default": ["photo"],
            ]),
            ("pause", "For how long.", ["type": "string", "format": "duration", "default": "10m"]),
        ]),
        main: #"""
            -- Runs before a queued change is sent. What waits is not lost: it is sent by a later push.

            local function before_push(op, ctx)
              for _, name in ipairs(ctx.config.tables) do
                if op.table == name and op.attempt == 0 then
                  return decide.defer { after = ctx.config.pause, reason = name .. " can wait" }
                end
              end
            end

            return { before_push = before_push }
            """#,
        fixtures: [
            (
                "waits",
                [
                    "name": "a photo waits ten minutes",
                    "hook": "before_push",
                    "given": ["operation": ["table": "photo", "attempt": 0, "record": ["id": "1"]]],
                    "expect": ["decision": ["decision": "defer", "after": 600]],
                ]
            ),
            (
                "goes",
                [
                    "name": "anything else goes at once",
                    "hook": "before_push",
                    "given": ["operation": ["table": "todo", "attempt": 0, "record": ["id": "1"]]],
                    "expect": ["decision": .null],
                ]
            ),
        ])

    private static let pushError = ScaffoldTemplate(
        summary: "Tries again what a busy server did not take.",
        hooks: ["on_push_error": .object],
        schema: schema([
            ("pause", "How long to wait before the next try.", [
                "type": "string", "format": "duration", "default": "30s",
            ])
        ]),
        main: #"""
            -- Runs when an operation did not go through for another reason than a conflict.

            local function on_push_error(e, ctx)
              if e.status ~= 503 then return decide.next() end
              return decide.retry { after = math.max(ctx.config.pause, e.retry_after or 0), reason = "the server is busy" }
            end

            return { on_push_error = on_push_error }
            """#,
        fixtures: [
            (
                "busy",
                [
                    "name": "a busy server is asked again as late as it says",
                    "hook": "on_push_error",
                    "given": ["error": ["status": 503, "retry_after": 90]],
                    "expect": ["decision": ["decision": "retry", "after": 90]],
                ]
            ),
            (
                "other",
                [
                    "name": "other failures are the engine's",
                    "hook": "on_push_error",
                    "given": ["error": ["status": 422]],
                    "expect": ["decision": ["decision": "next"]],
                ]
            ),
        ])

    private static let schedule = ScaffoldTemplate(
        summary: "Waits while nothing is urgent.",
        hooks: ["on_schedule": .object],
        schema: schema([
            ("pending", "From how many queued changes on it does not wait.", [
                "type": "integer", "minimum": 1, "default": 10,
            ]),
            ("pause", "How long it waits.", ["type": "string", "format": "duration", "default": "15m"]),
        ]),
        main: #"""
            -- Asked before each run of the schedule. Nothing returned: the schedule goes on as it would.

            local function on_schedule(ctx)
              local question = ctx.question
              if question.reason ~= "timer" or question.pending >= ctx.config.pending then return nil end
              return decide.wait { after = ctx.config.pause, reason = "little to send" }
            end

            return { on_schedule = on_schedule }
            """#,
        fixtures: [
            (
                "waits",
                [
                    "name": "with little to send it waits",
                    "hook": "on_schedule",
                    "given": ["question": ["pending": 2]],
                    "expect": ["decision": ["decision": "wait", "after": 900]],
                ]
            ),
            (
                "runs",
                [
                    "name": "with much to send it does not",
                    "hook": "on_schedule",
                    "given": ["question": ["pending": 10]],
                    "expect": ["decision": .null],
                ]
            ),
        ])
}

// MARK: - exchanges

extension ScaffoldTemplate {
    private static let header = schema([
        ("header", "The header field.", ["type": "string", "pattern": "^[A-Za-z0-9-]+$", "default": "X-Client"]),
        ("value", "What it says.", ["type": "string", "default": "sluice"]),
    ])

    private static let request = ScaffoldTemplate(
        summary: "Adds a header to requests.", hooks: ["request": ["match": ["methods": ["POST", "PATCH"]]]],
        schema: header,
        main: #"""
            -- Runs before a request is sent. What it does to the request is what is sent.

            local function request(req, ctx)
              req.headers:set(ctx.config.header, ctx.config.value)
            end

            return { request = request }
            """#,
        fixtures: [
            (
                "header",
                [
                    "name": "a change carries the header",
                    "hook": "request",
                    "given": ["request": ["method": "POST", "path": "/tables/todo", "body": ["id": "1"]]],
                    "expect": ["request": ["headers": ["X-Client": "sluice"], "body": ["id": "1"]]],
                ]
            )
        ])

    private static let response = ScaffoldTemplate(
        summary: "Logs answers that are no success.", hooks: ["response": .object],
        schema: schema([
            ("from", "The lowest status that is logged.", ["type": "integer", "minimum": 200, "default": 400])
        ]),
        main: #"""
            -- Runs when an answer has come. What it does to the answer is what the engine sees.

            local function response(res, ctx)
              if res.status < ctx.config.from then return nil end
              ctx.log.warn("the server answered " .. res.status, { path = res.request and res.request.path })
            end

            return { response = response }
            """#,
        fixtures: [
            (
                "logs",
                [
                    "name": "a refusal is logged",
                    "hook": "response",
                    "given": ["request": ["path": "/tables/todo"], "response": ["status": 403]],
                    "expect": [
                        "log": [
                            [
                                "level": "warn", "message": "the server answered 403",
                                "fields": ["path": "/tables/todo"],
                            ]
                        ]
                    ],
                ]
            ),
            (
                "silent",
                [
                    "name": "a success is not",
                    "hook": "response",
                    "given": ["response": ["status": 200]],
                    "expect": ["log": .array],
                ]
            ),
        ])

    private static let filter = ScaffoldTemplate(
        summary: "Sends a request once more when the server was away.", hooks: ["filter": .object],
        schema: schema([
            ("pause", "How long to wait before the second try.", [
                "type": "string", "format": "duration", "default": "500ms",
            ])
        ]),
        main: #"""
            -- Stands around an exchange: next(req) sends the request down the chain and brings the answer. It may be
            -- called again, up to three times.

            local function filter(req, next, ctx)
              local res = next(req)
              local is_safe = req.method == "GET" or req.idempotency_key ~= nil
              if res.status ~= 503 or not is_safe then return res end
              ctx.sleep(ctx.config.pause * 1000)
              return next(req)
            end

            return { filter = filter }
            """#,
        fixtures: [
            (
                "again",
                [
                    "name": "after 503 a list is asked for once more",
                    "hook": "filter",
                    "given": ["request": ["method": "GET", "path": "/tables/todo"]],
                    "host": ["next": [["status": 503], ["status": 200, "body": .array]]],
                    "expect": ["response": ["status": 200, "body": .array]],
                ]
            ),
            (
                "once",
                [
                    "name": "what may have had an effect is not sent twice",
                    "hook": "filter",
                    "given": ["request": ["method": "POST", "path": "/tables/todo", "body": ["id": "1"]]],
                    "host": ["next": [["status": 503]]],
                    "expect": ["response": ["status": 503]],
                ]
            ),
        ])
}
