internal import SluiceLua

extension PluginAPI {
    /// Global functions beyond Lua's own.
    static let globals = HostModule.globals.map(member)

    /// The modules, from the descriptions of their host.
    static let modules = HostModule.documented.map { module in
        Part(
            name: module.name, type: module.type, text: module.text, isModule: true,
            members: module.members.map(member))
    }

    private static func member(_ member: HostMember) -> Member {
        member.parameters.map { function(member.name, $0, member.type, member.text) }
            ?? field(member.name, member.type, member.text)
    }
}

extension PluginAPI {
    static let records: [Part] = [record, operation, conflict, failure, page, event, question]

    private static let record = Part(
        name: "rec", type: "sluice.Record",
        text:
            "A record: `rec.title` reads a field, `rec.title = \"x\"` writes it, nil takes it out. A method has its name before a field; `rec:get(name)` reads any, `pairs(rec)` goes through all.",
        isModule: false,
        members: [
            method("get", [("name", "string")], "any", "A field, whatever its name."),
            method("set", [("name", "string"), ("value", "any")], "", "Sets a field, whatever its name."),
            method("fields", [], "string[]", "The names of the fields, in their order."),
            method("changed", [], "boolean", "Whether the script wrote to it."),
            method("to_table", [], "table", "A copy as a table."),
            method(
                "get_raw", [("name", "string")], "any", "A number as its text, for what a number of Lua cannot hold."),
            field("id", "string", "The id. Read-only."),
            field("version", "string?", "The server's version. Read-only."),
            field("updated_at", "string?", "When the server changed it. Read-only."),
            field("created_at", "string?", "When the server made it. Read-only."),
            field("deleted", "boolean?", "Whether it is marked as deleted. Read-only."),
        ])

    private static let operation = Part(
        name: "op", type: "sluice.Operation", text: "A local change, about to be queued or sent.", isModule: false,
        members: [
            field("id", "string", "The record's id."), field("table", "string", "The table."),
            field("kind", "string", "`insert`, `update`, `delete` or `undelete`."),
            field("record", "sluice.Record?", "The record as it is to be; nil for a delete."),
            field("before", "sluice.Record?", "The record before the change; in `before_enqueue`."),
            field("tags", "string[]", "What the application says of it."),
            field("group", "string?", "The group it is part of."),
            field("attempt", "integer", "How often it was sent; in `before_enqueue` which try this is."),
            field("operation", "string?", "The operation's id; in `before_push`."),
            field("sequence", "integer?", "Its place in the queue; in `before_push`."),
            field("queued_at", "string?", "When it was made; in `before_push`."),
            field("version", "string?", "The version of its record; in `before_push`."),
            field("last_error", "table?", "`code` and `message` of the last failure; in `before_push`."),
            method("set", [("name", "string"), ("value", "any")], "", "Sets a field of the record."),
        ])

    private static let conflict = Part(
        name: "c", type: "sluice.Conflict", text: "A change that the server refused because the record has changed.",
        isModule: false,
        members: [
            field("table", "string", "The table."), field("id", "string", "The record's id."),
            field("kind", "string", "What the change does."),
            field(
                "status", "integer",
                "`409` or `412`; `404` and `410` for what is gone; `500` for a repeated creation that an OData service "
                    + "failed while it has the row."),
            field("attempt", "integer", "How often it was sent."), field("operation", "string", "The operation's id."),
            field("queued_at", "string", "When the change was made."),
            field(
                "client", "sluice.Record?",
                "A copy of the local record, another one each time it is read; nil where it was deleted here."),
            field(
                "server", "sluice.Record?",
                "A copy of the server's record, another one each time it is read; nil where it has none."),
            field(
                "base", "sluice.Record?",
                "The last record that both agreed on; nil where it is not known. Read-only."),
            field("deleted", "boolean", "Whether the server's record is gone or marked as deleted."),
            field("newer", "string", "The side that was changed last: `client` or `server`."),
            field("maybe_applied", "boolean", "Whether an earlier send may have taken effect."),
            field(
                "equal_edit", "boolean",
                "Whether the server has the same change by another: only hooks with `equal_edits` in the manifest are asked."
            ),
            field("client_changed", "string[]", "The fields that differ between client and base."),
            field("server_changed", "string[]", "The fields that differ between server and base."),
            field("both_changed", "string[]", "The fields that both changed, to different values."),
            method(
                "merge", [("rules", "table<string, sluice.FieldRule|table<string, sluice.FieldRule>>")],
                "sluice.Decision",
                "Merges field by field: what one side changed is that side's, and a rule decides what both did. `default` is the rule for fields without one; those in the table `always` are followed where one side alone changed a field, too, and those in the table `equal` where both made the same change."
            ),
            method(
                "default_policy", [], "sluice.Decision", "Leaves it to the next handler, then to the configured policy."
            ),
        ])

    private static let failure = Part(
        name: "e", type: "sluice.PushError", text: "An operation that failed and met no conflict.", isModule: false,
        members: [
            field("table", "string", "The table."), field("id", "string", "The record's id."),
            field("kind", "string", "What the operation does."),
            field("status", "integer?", "The answer's status; nil without one."),
            field("code", "string", "The reason: `rejected`, `network`, `unauthorized`."),
            field("message", "string", "The reason, for a person."),
            field("body", "string", "The answer's body, its first 64 KiB."),
            field("attempt", "integer", "How often it was sent."),
            field("failed_attempts", "integer", "How often in a row it failed for a reason of its own."),
            field("is_network", "boolean", "Whether the server could not be reached."),
            field("is_auth", "boolean", "Whether the credentials are the reason."),
            field("retry_after", "number?", "How many seconds the server asked to be left alone."),
            field("maybe_applied", "boolean", "Whether the server may have done it all the same."),
            field("state", "string", "What becomes of it if nobody decides: `pending` or `parked`."),
            field("operation", "table", "The operation: see `op`."),
            field("record", "sluice.Record?", "The record; nil for a delete."),
        ])

    private static let page = Part(
        name: "page", type: "sluice.Page",
        text: "Rows of the server's that are about to be stored. Write to a row to change it.", isModule: false,
        members: [
            field("table", "string", "The table."), field("query", "string?", "The pull's name."),
            method("count", [], "integer", "How many rows there are."),
            method("row", [("index", "integer")], "sluice.Record?", "A row, from 1."),
            method("rows", [], "fun(): integer?, sluice.Record?", "All rows with their places, for a `for` loop."),
            method(
                "drop", [("index", "integer"), ("reason?", "string")], "",
                "Leaves a row out. One that is marked as deleted passes all the same."),
        ])

    private static let event = Part(
        name: "ev", type: "sluice.Event", text: "Something that happened; the hook only looks.", isModule: false,
        members: [
            field("kind", "string", "`status`, `progress` or `changes`."),
            field(
                "status", "string?",
                "Of a status: `idle`, `offline`, `pulling`, `pushing`, `waiting`, `needs_attention`."),
            field("until", "number?", "Of the status `waiting`: until when, in seconds since 1970."),
            field("held", "integer?", "Of the status `needs_attention`: how many operations wait for a person."),
            field("step", "string?", "Of progress: `pushing` or `pulling`."),
            field("rows", "integer?", "Of progress: how many rows are done."),
            field("bytes", "integer?", "Of progress: how many bytes went over the line."),
            field("total", "integer?", "Of progress: how many rows there are, where that is known."),
            field("table", "string?", "Of progress: the table, where it is about one."),
            field("tables", "string[]?", "Of changes: the tables."),
            field("count", "integer?", "Of changes: how many."),
        ])

    private static let question = Part(
        name: "ctx.question", type: "sluice.ScheduleQuestion",
        text: "What `on_schedule` is asked. Times are seconds since 1970.",
        isModule: false,
        members: [
            field("reason", "string", "`start`, `change`, `timer`, `network` or `request`."),
            field("now", "number", "The time."), field("next", "number", "When the schedule would run next."),
            field("pulls", "boolean", "Whether that run would pull too."),
            field("pending", "integer", "How many operations wait."),
            field("failures", "integer", "How often in a row a run has failed."),
            field("not_before", "number?", "Until when the server asked to be left alone."),
        ])
}
