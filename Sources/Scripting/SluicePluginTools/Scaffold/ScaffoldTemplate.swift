internal import SluiceCore
internal import SluiceLua

/// The initial content of a new plugin of a kind.
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
        case .table: table
        }
    }

    /// Returns a schema of properties, each with its description, type and default.
    static func schema(_ properties: [(name: String, about: String, node: JSON)]) -> JSON {
        let nodes = properties.map { name, about, node in
            var described: JSON = ["description": JSON(about)]
            for (name, value) in node.members ?? [] { described[name] = value }
            return (name, described)
        }
        return ["type": "object", "properties": JSON(members: nodes)]
    }
}

/// The kind of plugin that `sluice plugin new` creates.
public enum ScaffoldKind: String, Sendable, Hashable, CaseIterable {
    /// Decides conflicts.
    case conflict
    /// Wraps requests.
    case filter
    /// Handles requests before they are sent.
    case request
    /// Handles answers.
    case response
    /// Handles local writes before they are queued.
    case beforeEnqueue = "before_enqueue"
    /// Handles operations before they are sent.
    case beforePush = "before_push"
    /// Decides about operations that failed.
    case pushError = "push_error"
    /// Handles pulled records before they are stored.
    case afterPull = "after_pull"
    /// Decides when to push and pull.
    case schedule
    /// Wraps the requests to a table of a server.
    case table
}

extension ScaffoldTemplate {
    static let table = ScaffoldTemplate(
        summary: "Says on the server what a record has to have, and who sees all of it.",
        hooks: ["read": .object, "insert": .object],
        schema: schema([
            (
                "required", "Fields that a new record has to have.",
                [
                    "type": "array", "items": ["type": "string"], "default": ["title"],
                ]
            ),
            (
                "private", "Fields that only the users in `readers` see.",
                [
                    "type": "array", "items": ["type": "string"], "default": ["notes"],
                ]
            ),
            (
                "readers", "Users who see all fields.",
                [
                    "type": "array", "items": ["type": "string"], "default": JSON([JSON]()),
                ]
            ),
        ]),
        main: #"""
            -- Runs in `sluice serve`, around the requests for its tables. `next` carries the request out.

            local function shown(answer, req, ctx)
              local readers = {}
              for _, reader in ipairs(ctx.config.readers) do readers[reader] = true end
              if readers[req.user or ""] then return answer end
              for _, record in answer:rows() do
                for _, field in ipairs(ctx.config.private) do record[field] = nil end
              end
              return answer
            end

            local function read(req, next, ctx)
              return shown(next(req), req, ctx)
            end

            local function insert(req, next, ctx)
              for _, field in ipairs(ctx.config.required) do
                local value = req.record[field]
                if value == nil or value == json.null or value == "" then
                  return decide.refuse { status = 422, message = field .. " is missing" }
                end
              end
              return shown(next(req), req, ctx)
            end

            return { read = read, insert = insert }
            """#,
        fixtures: [
            (
                "refuses",
                [
                    "name": "a record without a title is refused",
                    "hook": "insert",
                    "given": ["request": ["table": "todos", "record": ["id": "1", "title": ""]]],
                    "expect": [
                        "decision": ["decision": "refuse", "status": 422, "message": "title is missing"]
                    ],
                ]
            ),
            (
                "hides",
                [
                    "name": "the notes are not shown to everybody",
                    "hook": "read",
                    "given": ["request": ["table": "todos", "user": "ann"]],
                    "host": [
                        "next": [["body": [["id": "1", "title": "milk", "notes": "for Bob"]]]]
                    ],
                    "expect": ["page": ["rows": [["id": "1", "title": "milk"]]]],
                ]
            ),
        ])
}

extension ScaffoldTemplate {
    static let header = schema([
        ("header", "The header field.", ["type": "string", "pattern": "^[A-Za-z0-9-]+$", "default": "X-Client"]),
        ("value", "What it says.", ["type": "string", "default": "sluice"]),
    ])

    static let request = ScaffoldTemplate(
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

    static let response = ScaffoldTemplate(
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

    static let filter = ScaffoldTemplate(
        summary: "Sends a request once more when the server was away.", hooks: ["filter": .object],
        schema: schema([
            (
                "pause", "How long to wait before the second try.",
                [
                    "type": "string", "format": "duration", "default": "500ms",
                ]
            )
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
