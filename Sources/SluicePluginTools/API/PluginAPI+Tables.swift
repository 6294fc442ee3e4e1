extension PluginAPI {
    /// What the hooks around a server's tables get.
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
