internal import SluiceCore
internal import SluiceLua

extension ScaffoldTemplate {
    static let beforePush = ScaffoldTemplate(
        summary: "Has changes of some tables wait for a while.",
        hooks: ["before_push": .object],
        schema: schema([
            (
                "tables", "The tables whose changes wait.",
                [
                    "type": "array", "items": ["type": "string"], "default": ["photo"],
                ]
            ),
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

    static let pushError = ScaffoldTemplate(
        summary: "Tries again what a busy server did not take.",
        hooks: ["on_push_error": .object],
        schema: schema([
            (
                "pause", "How long to wait before the next try.",
                [
                    "type": "string", "format": "duration", "default": "30s",
                ]
            )
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

    static let schedule = ScaffoldTemplate(
        summary: "Waits while nothing is urgent.",
        hooks: ["on_schedule": .object],
        schema: schema([
            (
                "pending", "From how many queued changes on it does not wait.",
                [
                    "type": "integer", "minimum": 1, "default": 10,
                ]
            ),
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
