internal import SluiceCore
internal import SluiceLua

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
