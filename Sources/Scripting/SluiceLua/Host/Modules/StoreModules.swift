internal import SluiceCore

extension HostModule {
    /// `secrets`: handles of the deployment's secrets.
    static let secrets = HostModule(
        "secrets", "sluice.Secrets",
        "Secrets of the deployment. Needs the permission `secrets`, or a configuration that names them.",
        permission: .secrets,
        [
            .host(
                "get", [("name", "string")], "string",
                "A handle: a text in whose place the secret is put in headers that leave over TLS or to this machine, and as a key of `crypto.hmac_sha256`. Anywhere else it is a text that says nothing. A secret that the deployment does not have is an error."
            ) { call in
                let (name, handle) = try secret(call)
                // Without a refusal, a missing secret would become the text "nil" in a header, or the empty key of a
                // signature.
                guard let handle else {
                    throw ScriptFailure(
                        .runtime, "the deployment has no secret \(name); secrets.find(name) returns nil then")
                }
                return .value(JSON(handle))
            },
            .host(
                "find", [("name", "string")], "string?",
                "The same; nil for a secret that the deployment does not have."
            ) { .value(try secret($0).handle.map { JSON($0) }) },
        ])

    private static func secret(_ call: HostFunctionCall) throws -> (name: String, handle: String?) {
        let name = try call.arguments.text(0, "a secret's name")
        guard call.host.plan.secrets.contains(name) else {
            throw Denied("the plugin has no permission for the secret \(name.prefix(64))")
        }
        return (name, call.host.secrets.handles[name])
    }

    /// `store`: reads of the local store, for tables that the plugin may read.
    static let store = HostModule(
        "store", "sluice.Store", "The local store, to read. Needs the permission `tables`.", permission: .tables,
        [
            .host("get", [("table", "string"), ("id", "string")], "table?", "A record.") { call in
                let table = try readableTable(call)
                return .wait(.record(table: table, id: RecordID(try call.arguments.text(1, "a table and an id"))))
            },
            .host(
                "count", [("table", "string"), ("filter?", "string")], "integer",
                "How many records match an OData filter."
            ) { call in
                let table = try readableTable(call)
                guard let filter = try call.arguments.optionalText(1, "a filter that is text") else {
                    return .wait(.count(TableQuery(table)))
                }
                guard filter.utf8.count <= maximumFilter else {
                    throw ScriptFailure(.runtime, "a filter has at most \(maximumFilter) bytes")
                }
                return .wait(.count(TableQuery(table, filter: try QueryExpression(odata: filter))))
            },
        ])

    private static let maximumFilter = 8 << 10

    /// Returns the table of a call if the plugin may read it.
    private static func readableTable(_ call: HostFunctionCall) throws -> String {
        _ = try call.requireWait()
        let permissions = call.host.permissions
        let table = try call.arguments.text(0, "the name of a table")
        try SyncTables.validate(table)
        let isAllowed = try Match(tables: Array(permissions.tables.keys)).matches(MatchSubject(table: table))
        guard !permissions.tables.isEmpty, isAllowed else {
            throw Denied("\(call.arguments.function) needs the permission tables for \(table)")
        }
        guard call.host.settings.hasStore else {
            throw ScriptFailure(.runtime, "the host has given plugins no store")
        }
        return table
    }
}
