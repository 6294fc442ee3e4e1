internal import SluiceCore
internal import SluiceLua

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
