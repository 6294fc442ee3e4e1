internal import HTTPTypes
internal import SluiceCore

/// A request to a table, with its target and its wire.
struct TableRequest: Sendable {
    let served: ServedTables
    let table: BackendTable
    let wire: ServerWire
    let target: RequestTarget
    let request: SyncRequest
    /// The request's id if it is repeatable.
    var repeatable: RepeatableRequest?
    /// The id of a new record if it is assigned before the insert.
    var newID: RecordID?
    /// The atomic group of the change, with its index in it.
    var group: (writes: WriteGroup, part: Int)?

    var head: HTTPRequest { request.head }

    /// The options in `X-ZUMO-Options`, in lower case.
    var options: Set<String> {
        let fields = HTTPField.Name("X-ZUMO-Options").map { head.headerFields[values: $0] } ?? []
        return Set(fields.flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " }.lowercased() })
    }

    /// Whether the request asks for tombstones.
    var includesDeleted: Bool {
        options.contains("include:deleted")
            || target.values("__includedeleted").contains { $0.lowercased() == "true" }
    }

    var asked: Set<PropertyName> { wire.asked(by: target) }

    /// Returns the stored column for a name in a query; nil for a stored name that the wire does not show.
    func column(_ name: PropertyName) -> PropertyName? {
        if name == "id", wire.showsIntegerIDs, table.rules.ids == .integer { return SystemColumn.number }
        return wire.names.stored(name)
            ?? (SystemColumn.all.contains(name) || SystemColumn.hidden.contains(name) ? nil : name)
    }

    /// The rule for undeclared properties in a query, for tables with declared columns.
    var undeclaredColumns: UndeclaredColumns {
        wire.refusesUnknownColumns && table.isTyped ? .refused : .allowed
    }

    func reply(_ status: HTTPResponse.Status, _ stored: JSON) -> Reply {
        wire.reply(status, stored, asked: asked)
    }
}

extension TableRequest {
    /// Authenticates the user and checks the permission for the operation.
    ///
    /// - Throws: ``Refusal``: 401 for an invalid token, and see ``Permission``.
    func session(_ operation: BackendOperation) async throws(Refusal) -> TableSession {
        let principal = try await served.authenticator?.principal(for: head.headerFields)
        try Permission.check(operation, table.rules, principal, methods: methods)
        var repeatable = repeatable
        repeatable?.user = principal?.user ?? ""
        return TableSession(
            table: table, operation: operation, principal: principal,
            scope: RowScope(table.rules, principal, now: served.environment.now()),
            hooks: served.hooks[table.name]?.forRequest(), served: served, repeatable: repeatable, group: group,
            completes: wire.showsKnownProperties)
    }

    /// The methods of the path, with their operations.
    private var methods: [(name: String, operation: BackendOperation)] {
        let isTable = target.segments.count == 2
        let operations: [String: BackendOperation] = [
            "GET": .read, "DELETE": .delete, "POST": isTable ? .insert : .undelete,
        ]
        return (isTable ? wire.tableMethods : wire.recordMethods).split(separator: ", ").map {
            (String($0), operations[String($0)] ?? .update)
        }
    }
}

extension ListParameters {
    /// - Throws: ``Refusal`` (400) with the reason and the place.
    init(_ request: TableRequest) throws {
        try self.init(
            request.target, request.table.rules, request.table.schema,
            bytes: request.served.configuration.limits.pageBytes, undeclared: request.undeclaredColumns,
            includesDeleted: request.options.contains("include:deleted")
        ) { request.column($0) }
    }
}
