internal import SluiceLua

extension PluginAPI {
    private static let options = (name: "options?", type: "table")

    /// Global functions beyond Lua's own.
    static let globals: [Member] = [
        function(
            "print", [("...", "any")], "",
            "Writes a line at the level `debug`, as `log.debug` does: the values as `tostring` has them, a tab between two."
        )
    ]

    static let modules: [Part] = [
        Part(
            name: "decide", type: "sluice.Decide",
            text:
                "What hooks answer with. Each takes a table of options; `reason` is kept in the decision log. An option that a decision does not have, or of another type, is an error.",
            isModule: true,
            members: [
                function(
                    "respond", [("options", "table")], "sluice.Decision",
                    "Answers the request: `status`, `headers`, `body` (a text) or `json`. Of a push it needs the permission `change: push.answer`."
                ),
                function(
                    "retry", [options], "sluice.Decision", "Again, `after` seconds: the request, or the operation."),
                function("fail", [("options", "table")], "sluice.Decision", "The request fails with `message`."),
                function(
                    "reject", [("options", "table")], "sluice.Decision",
                    "The write is refused: `message`, `code`, and `fields` with what is wrong with each."),
                function(
                    "local_only", [options], "sluice.Decision", "The write is stored, and the server never hears of it."
                ),
                function("skip", [options], "sluice.Decision", "The operation waits for the next push."),
                function(
                    "defer", [options], "sluice.Decision",
                    "The operation waits `after` seconds; a conflict waits for the next push."),
                function(
                    "change_action", [("kind", "string"), ("record?", "any"), options], "sluice.Decision",
                    "The operation becomes one of that kind, with that whole record. As of `merge`, a table names in `remove` what it leaves out."
                ),
                function(
                    "batch_key", [("key", "string"), options], "sluice.Decision",
                    "A hint which operations belong together. It changes nothing yet."),
                function("server", [options], "sluice.Decision", "The server's record stands."),
                function(
                    "client", [options], "sluice.Decision",
                    "What was changed here is sent on top of the server's record."),
                function(
                    "merge", [("record", "any"), options], "sluice.Decision",
                    "That whole record is stored and sent, and a field that it leaves as the base has it is of the side that changed it, where one alone did. A table that leaves out fields which both sides have names them in `remove`."
                ),
                function("delete", [options], "sluice.Decision", "The record is deleted here and there."),
                function("discard", [options], "sluice.Decision", "The local change is given up."),
                function("ask", [options], "sluice.Decision", "The operation is held until a person decides."),
                function("next", [options], "sluice.Decision", "The next handler decides."),
                function(
                    "cancel_and_discard", [options], "sluice.Decision",
                    "The operation is given up, and its change with it."),
                function(
                    "cancel_and_update", [("record", "any"), options], "sluice.Decision",
                    "The operation is given up, and that whole record is what the application sees. As of `merge`, a table names in `remove` what it leaves out."
                ),
                function("park", [options], "sluice.Decision", "The operation is parked with the reason."),
                function("abort", [options], "sluice.Decision", "The rest of the push is not done."),
                function("drop", [options], "sluice.Decision", "The row is not stored."),
                function(
                    "refuse", [("options", "table")], "sluice.Decision",
                    "The request to the server's table is refused: `status`, 400 to 599 and 400 by default, and `message`."
                ),
                function("push", [options], "sluice.Decision", "Push now."),
                function("pull", [options], "sluice.Decision", "Push and pull now: `tables`, or all."),
                function(
                    "wait", [("options", "table")], "sluice.Decision",
                    "Nothing before `after` seconds, or before `at`, a time."),
            ]),
        Part(
            name: "json", type: "sluice.JSON", text: "JSON values.", isModule: true,
            members: [
                function("encode", [("value", "any")], "string", "The value as JSON text."),
                function(
                    "decode", [("text", "string")], "any", "The value of a text; nil and a message for what is no JSON."
                ),
                field("null", "any", "JSON's null. A field that is null is equal to it; one that is missing is nil."),
                function("array", [("list", "table")], "table", "Marks a table as an array, which an empty one needs."),
                function("object", [("members", "table")], "table", "Marks a table as an object."),
            ]),
        Part(
            name: "time", type: "sluice.Time", text: "Points in time, as seconds since 1970 in UTC.", isModule: true,
            members: [
                function("now", [], "number", "The time now. Needs the permission `clock`."),
                function("parse", [("text", "string")], "number?", "The time that an ISO 8601 text says."),
                function(
                    "format", [("seconds", "number"), ("digits?", "integer")], "string",
                    "The time as ISO 8601, with three fraction digits or as many as asked for. Years 1 to 9999."),
                function("add", [("time", "number"), ("seconds", "number")], "number", "The time so much later."),
            ]),
        Part(
            name: "crypto", type: "sluice.Crypto",
            text:
                "Digests and encodings of text, or of a body: `req.body` in the place of a text is taken as its bytes, whatever they are.",
            isModule: true,
            members: [
                function(
                    "sha256", [("text", "string|sluice.Body"), ("encoding?", "string")], "string",
                    "SHA-256, as hexadecimal digits or `base64`."),
                function(
                    "hmac_sha256", [("key", "string"), ("text", "string|sluice.Body"), ("encoding?", "string")],
                    "string",
                    "HMAC-SHA-256. The key may be a secret's handle; an empty one is an error."),
                function("base64", [("text", "string|sluice.Body")], "string", "The text in base64."),
                function(
                    "base64_decode", [("text", "string")], "string?",
                    "The text that base64 says; nil if the text is not base64."
                ),
                function("hex", [("text", "string|sluice.Body")], "string", "The bytes as hexadecimal digits."),
                function("uuid", [], "string", "A new UUID. Needs the permission `random`."),
                function(
                    "random", [], "number",
                    "A number from 0 up to but not 1. As Lua's `math.random` it needs the permission `random`."),
            ]),
        Part(
            name: "http", type: "sluice.HTTP",
            text: "Requests of the plugin's own. Needs the permission `http` with the hosts.", isModule: true,
            members: [
                function(
                    "request", [("options", "table")], "table",
                    "Sends `{method, url, headers, body | json}` and waits for `{status, headers, body}`: four times a call, 256 KiB each, no redirects. `Host`, `Content-Length` and what else says how bytes travel cannot be set."
                )
            ]),
        Part(
            name: "kv", type: "sluice.KeyValues",
            text:
                "Values that last, of this plugin alone. What a call writes is kept when it has ended well. Needs the permission `kv`.",
            isModule: true,
            members: [
                function("get", [("key", "string")], "any", "A value."),
                function(
                    "set", [("key", "string"), ("value", "any"), ("seconds?", "number")], "",
                    "Sets a value, for so long; nil takes it out."),
                function("incr", [("key", "string"), ("by?", "integer")], "integer", "Adds to a whole number."),
                function(
                    "ttl", [("key", "string")], "number?",
                    "How many seconds a value has left; nil for one without an end."),
            ]),
        Part(
            name: "secrets", type: "sluice.Secrets",
            text: "Secrets of the deployment. Needs the permission `secrets`, or a configuration that names them.",
            isModule: true,
            members: [
                function(
                    "get", [("name", "string")], "string",
                    "A handle: a text in whose place the secret is put in headers that leave over TLS or to this machine, and as a key of `crypto.hmac_sha256`. Anywhere else it is a text that says nothing. A secret that the deployment does not have is an error."
                ),
                function(
                    "find", [("name", "string")], "string?",
                    "The same; nil for a secret that the deployment does not have."),
            ]),
        Part(
            name: "store", type: "sluice.Store", text: "The local store, to read. Needs the permission `tables`.",
            isModule: true,
            members: [
                function("get", [("table", "string"), ("id", "string")], "table?", "A record."),
                function(
                    "count", [("table", "string"), ("filter?", "string")], "integer",
                    "How many records match an OData filter."),
            ]),
        Part(
            name: "text", type: "sluice.Text", text: "Texts.", isModule: true,
            members: [
                function("trim", [("text", "string")], "string", "Without spaces at both ends."),
                function(
                    "split", [("text", "string"), ("separator", "string")], "string[]", "The parts between separators."),
                function("lines", [("text", "string")], "string[]", "The lines."),
                function("starts_with", [("text", "string"), ("start", "string")], "boolean", "Whether it begins so."),
                function("ends_with", [("text", "string"), ("ending", "string")], "boolean", "Whether it ends so."),
                function(
                    "diff3", [("client", "string"), ("server", "string"), ("base", "string")], "string?",
                    "Both texts merged line by line; nil where both changed the same lines."),
                function(
                    "levenshtein", [("a", "string"), ("b", "string")], "integer",
                    "How many characters differ, for texts of up to 1000."),
            ]),
        Part(
            name: "log", type: "sluice.Log",
            text:
                "The log: 100 lines of 2 KiB a call, those of `print` among them. What JSON cannot say is shown in words: a line fails no hook. Also there as `ctx.log`.",
            isModule: true,
            members: ["debug", "info", "warn", "error"].map {
                function($0, [("message", "string"), ("fields?", "table")], "", "Writes a line.")
            }),
    ]
}
