internal import SluiceLua

extension PluginAPI {
    static let objects: [Part] = [request, response, headers, query, body] + records + tables + [context]

    private static let request = Part(
        name: "req", type: "sluice.Request", text: "A request on its way to the server.", isModule: false,
        members: [
            writable("method", "string", "`GET`, `POST`. To change it needs the permission `change: request.method`."),
            writable(
                "url", "string",
                "The whole address. To change it needs `change: request.url`, and for another host `http`."),
            writable("scheme", "string", "`https`. As `url`."), writable("host", "string", "Host and port. As `url`."),
            writable("path", "string", "The path without the query. As `url`."),
            field("query", "sluice.Query", "The query."),
            field(
                "headers", "sluice.Headers", "The header fields. Credentials are not among them without `read_headers`."
            ),
            field("body", "sluice.Body", "The body."),
            field("table", "string?", "The table, where the request is about one."),
            field(
                "kind", "string", "What it does: `read`, `lookup`, `insert`, `update`, `delete`, `undelete`, `custom`."),
            field("source", "string", "Who sends it: `online`, `push`, `pull`."),
            field("record_id", "string?", "The record, where it is about one."),
            field("version", "string?", "The version of the record that the change was made on."),
            field("system_properties", "string[]?", "The system columns that the request asks for itself."),
            field("operation", "string?", "The id of the queued operation, on a push."),
            field("idempotency_key", "string?", "What stays the same when the request is sent again; on a push."),
            field("tags", "string[]?", "The tags of the queued operation, on a push."),
            field("attempt", "integer", "How often it has been sent before."),
        ])

    private static let response = Part(
        name: "res", type: "sluice.Response", text: "The server's answer.", isModule: false,
        members: [
            writable("status", "integer", "The status: `200`."),
            field("headers", "sluice.Headers", "The header fields, without cookies."),
            field("body", "sluice.Body", "The body."),
            field("elapsed", "number", "How many seconds it took."),
            field("request", "sluice.Request", "What was sent, to look at; in `response` alone."),
        ])

    private static let headers = Part(
        name: "headers", type: "sluice.Headers",
        text: "Header fields in their order. Names are the same in upper and lower case.", isModule: false,
        members: [
            method("get", [("name", "string")], "string?", "The first value."),
            method("get_all", [("name", "string")], "string[]", "All values."),
            method(
                "set", [("name", "string"), ("value", "string?")], "",
                "Sets a field, the only one of its name then; nil takes it out."),
            method("add", [("name", "string"), ("value", "string")], "", "Adds a field."),
            method("remove", [("name", "string")], "integer", "Takes fields out; how many there were."),
            method("pairs", [], "fun(): string?, string?", "Names and values as they are now, for a `for` loop."),
            method("to_table", [], "string[][]", "A copy as `{{name, value}, …}`."),
        ])

    private static let query = Part(
        name: "query", type: "sluice.Query", text: "The query of an address, by its decoded names.", isModule: false,
        members: [
            method("get", [("name", "string")], "string?", "The first value of that name."),
            method("set", [("name", "string"), ("value", "string?")], "", "Sets a part; nil takes it out."),
            method("text", [], "string", "The query as it is written, without the question mark."),
            method("set_text", [("text", "string")], "", "Puts another, encoded query in its place."),
            method("pairs", [], "fun(): string?, string?", "Names and values, for a `for` loop."),
        ])

    private static let body = Part(
        name: "body", type: "sluice.Body", text: "A body. It is looked at only where the script asks.", isModule: false,
        members: [
            method("len", [], "integer", "How many bytes it has."),
            method("text", [], "string", "The text; an error for what is not UTF-8."),
            method("json", [], "any", "The JSON value as a table; nil for what is no JSON."),
            method("sub", [("from", "integer"), ("to?", "integer")], "string", "A part of the text, as `string.sub`."),
            method("set_text", [("text", "string")], "", "Puts a text in its place."),
            method("set_json", [("value", "any")], "", "Puts a JSON value in its place."),
        ])

    private static let context = Part(
        name: "ctx", type: "sluice.Context", text: "What every hook gets last.", isModule: false,
        members: [
            field("hook", "string", "The hook's name."),
            field("config", "table", "The configuration, with its defaults. Read-only."),
            field("deployment", "sluice.Deployment", "Where the plugin runs: `id` and `labels`."),
            field("log", "sluice.Log", "Writes to the log: `ctx.log.info(message, fields)`."),
            field(
                "trace", "sluice.Trace", "Adds to the trace of the call: `ctx.trace.set(name, value)`, `.event(name)`."),
            field("scratch", "table", "What `request` and `response` of one exchange keep for each other."),
            field("shared", "table", "What all plugins of one exchange keep for each other."),
            field("question", "sluice.ScheduleQuestion?", "What `on_schedule` is asked; nil in other hooks."),
            function("cancelled", [], "boolean", "Whether nobody waits for the call any more."),
            function("deadline", [], "number?", "How many seconds the call has left, waits included."),
            function("fuel_left", [], "integer", "How much fuel the call has left."),
            function("sleep", [("milliseconds", "number")], "", "Waits. Only in hooks that may."),
        ])
}
