internal import SluiceLua

/// The plugin API, described once. The page of the documentation, the editor's stubs and the test of both against a
/// machine are generated from it.
enum PluginAPI {
    /// A member of an object or a module.
    package struct Member: Sendable {
        /// The form of a member.
        package enum Form: Sendable, Hashable {
            /// Read as `object.name`; nil if it is missing.
            case field(isWritable: Bool)
            /// Called as `object:name(…)`.
            case method
            /// Called as `module.name(…)`.
            case function
        }

        /// The name.
        package let name: String
        package let form: Form
        /// Parameters as in a stub, with a question mark after the name of an optional one: `name: string`.
        package let parameters: [(name: String, type: String)]
        /// The type of the field or of the returned value; empty for none.
        package let type: String
        /// A description.
        package let text: String
    }

    /// An object that hooks get, or a module available in every hook.
    package struct Part: Sendable {
        /// Its name in the documentation: `req`, `crypto`.
        package let name: String
        /// Its class in the stubs: `sluice.Request`.
        package let type: String
        /// A description.
        package let text: String
        /// Whether it is a global.
        let isModule: Bool
        /// Its members.
        package let members: [Member]
    }

    /// A hook, with its parameters and results.
    package struct Hook: Sendable {
        package let kind: HookKind
        package let parameters: [(name: String, type: String)]
        package let returns: String
        /// A description of the time of the call.
        package let text: String
    }

    static func field(_ name: String, _ type: String, _ text: String) -> Member {
        Member(name: name, form: .field(isWritable: false), parameters: [], type: type, text: text)
    }

    static func writable(_ name: String, _ type: String, _ text: String) -> Member {
        Member(name: name, form: .field(isWritable: true), parameters: [], type: type, text: text)
    }

    static func method(
        _ name: String, _ parameters: [(name: String, type: String)] = [], _ type: String = "", _ text: String
    ) -> Member {
        Member(name: name, form: .method, parameters: parameters, type: type, text: text)
    }

    static func function(
        _ name: String, _ parameters: [(name: String, type: String)] = [], _ type: String = "", _ text: String
    ) -> Member {
        Member(name: name, form: .function, parameters: parameters, type: type, text: text)
    }

    /// The version of the API in manifests.
    package static let version = "1.0"

    /// All objects and modules.
    package static var parts: [Part] { objects + modules }
}

extension PluginAPI {
    /// The objects for the hooks around a server's tables.
    static let tables: [Part] = [tableRequest, tableQuery, tableAnswer]

    private static let tableRequest = Part(
        name: "req of a table", type: "sluice.TableRequest",
        text:
            "A request to a server's table, in `read`, `insert`, `update` and `delete`. What `next(req)` carries out is the request as the script has made it.",
        isModule: false,
        members: [
            field("table", "string", "The table."),
            field("kind", "string", "`read`, `lookup`, `insert`, `update`, `undelete` or `delete`."),
            field("id", "string?", "The record it is about; nil for a list."),
            field("user", "string?", "The user; nil where the request has none."),
            field("claims", "table?", "All that the user's token says."),
            field(
                "record", "sluice.Record?", "What an insert or update says of the record. Write to it to change that."),
            field("stored", "sluice.Record?", "The record as it is stored, before a change. Read-only."),
            field(
                "replaces", "boolean", "Whether an update replaces all fields instead of changing those of `record`."),
            field(
                "repeated", "boolean",
                "Whether the change was carried out before, and the answer is to be made once more: `next` changes nothing."
            ),
            field("query", "sluice.TableQuery?", "The query of a list."),
            writable(
                "filter", "string?",
                "A filter of OData that takes records away from the request: one that does not match is as if it were not there."
            ),
            method("set", [("name", "string"), ("value", "any")], "", "Sets a field of the record."),
        ])

    private static let tableQuery = Part(
        name: "req.query of a table", type: "sluice.TableQuery", text: "The query of a list.", isModule: false,
        members: [
            field("filter", "string?", "Its filter, as OData v4 writes it."),
            field("skip", "integer", "How many records are passed over."),
            field("top", "integer?", "The most records that are asked for."),
            field("select", "string[]?", "The fields that are asked for."),
            field("includes_deleted", "boolean", "Whether deleted records are asked for."),
        ])

    private static let tableAnswer = Part(
        name: "answer of a table", type: "sluice.TableAnswer",
        text:
            "What a request to a server's table has brought. What is written to its records changes the answer and not what is stored.",
        isModule: false,
        members: [
            field("record", "sluice.Record?", "The first record: the one, where the request is about one."),
            method("count", [], "integer", "How many records there are."),
            method("row", [("index", "integer")], "sluice.Record?", "A record, from 1."),
            method("rows", [], "fun(): integer?, sluice.Record?", "All records with their places, for a `for` loop."),
        ])
}

extension PluginAPI {
    /// All hooks, in the order of the documentation.
    package static let hooks: [Hook] = [
        hook(
            .filter, [("req", "sluice.Request"), ("next", "fun(req: sluice.Request): sluice.Response")],
            "sluice.Response",
            "Around one exchange: `next(req)` sends the request on and waits for the answer, up to three times."),
        hook(.request, [("req", "sluice.Request")], "", "Before a request is sent."),
        hook(.response, [("res", "sluice.Response")], "", "When an answer has come."),
        hook(
            .toWire, [("value", "any"), ("field", "string")], "any",
            "For a field's value on its way to the server, except null."),
        hook(
            .fromWire, [("value", "any"), ("field", "string")], "any",
            "For a field's value from the server, except null."),
        hook(.beforeEnqueue, [("op", "sluice.Operation")], "sluice.Operation", "Before a local write is queued."),
        hook(.beforePush, [("op", "sluice.Operation")], "", "Before a queued operation is sent."),
        hook(
            .onConflict, [("c", "sluice.Conflict")], "",
            "When the server refuses a change because the record has changed."),
        hook(.onPushError, [("e", "sluice.PushError")], "", "When an operation failed for another reason."),
        hook(.afterPull, [("rec", "sluice.Record")], "sluice.Record", "Before a pulled record is stored."),
        hook(.afterPullPage, [("page", "sluice.Page")], "", "Before a page of pulled records is stored."),
        hook(.onSchedule, [], "", "When to push and pull: see `ctx.question`."),
        hook(.onEvent, [("ev", "sluice.Event")], "", "When something has happened."),
        table(.read, "On a server: around a request that reads a table, a list or one record."),
        table(.insert, "On a server: around a request that makes a record."),
        table(.update, "On a server: around a request that changes a record, or brings a deleted one back."),
        table(.delete, "On a server: around a request that deletes a record."),
        hook(.initialize, [], "", "Once for each machine, when the plugin is loaded."),
    ]

    private static func table(_ kind: HookKind, _ text: String) -> Hook {
        hook(
            kind,
            [
                ("req", "sluice.TableRequest"),
                ("next", "fun(req: sluice.TableRequest): sluice.TableAnswer"),
            ], "sluice.TableAnswer", text)
    }

    private static func hook(
        _ kind: HookKind, _ parameters: [(name: String, type: String)], _ object: String, _ text: String
    ) -> Hook {
        let returns = [object] + (kind.decisions.isEmpty ? [] : ["sluice.Decision"])
        return Hook(
            kind: kind, parameters: parameters + [("ctx", "sluice.Context")],
            returns: returns.filter { !$0.isEmpty }.joined(separator: "|"), text: text)
    }

    /// The rules of `c:merge`, each with its effect.
    static let mergeRules: [(name: String, text: String)] = [
        ("server", "the server's value"), ("client", "the local value"),
        ("newest", "the value of the side that was changed last"),
        ("oldest", "the value of the other side"),
        ("max", "the larger of two numbers or texts; asks where two numbers beyond 2^53 cannot be told apart"),
        ("min", "the smaller of two numbers or texts; asks as `max` does"),
        (
            "sum_delta",
            "the server's number and what was added here; asks where an earlier send may have taken effect, and where the sum is not exact: beyond 64 bits, or with a fraction among the numbers beyond 2^53"
        ),
        ("union", "a list with the elements of both, without those that one side took out"),
        ("concat_lines", "a text with the lines of both"),
        ("text3", "both texts merged line by line; asks where both changed the same lines"),
        ("ask", "a person decides about the operation"),
    ]
}

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
            field("table", "string?", "The table; in `to_wire` and `from_wire`."),
            field("question", "sluice.ScheduleQuestion?", "What `on_schedule` is asked; nil in other hooks."),
            function("cancelled", [], "boolean", "Whether nobody waits for the call any more."),
            function("deadline", [], "number?", "How many seconds the call has left, waits included."),
            function("fuel_left", [], "integer", "How much fuel the call has left."),
            function("sleep", [("milliseconds", "number")], "", "Waits. Only in hooks that may."),
        ])
}
