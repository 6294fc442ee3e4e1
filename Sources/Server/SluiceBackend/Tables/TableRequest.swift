internal import HTTPTypes
internal import SluiceCore

/// A request to a table: what it asks for, and in which wire.
struct TableRequest: Sendable {
    let served: ServedTables
    let table: BackendTable
    let wire: ServerWire
    let target: RequestTarget
    let request: Request
    /// Its id, where it may come again.
    var repeatable: RepeatableRequest?
    /// The id of a new record, where it is known before.
    var newID: RecordID?
    /// The changes that this one is carried out with, and which of them it is.
    var group: (writes: WriteGroup, part: Int)?

    var head: HTTPRequest { request.head }

    /// The words of `X-ZUMO-Options`, in small letters.
    var options: Set<String> {
        let fields = HTTPField.Name("X-ZUMO-Options").map { head.headerFields[values: $0] } ?? []
        return Set(fields.flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " }.lowercased() })
    }

    /// Whether tombstones are asked for.
    var includesDeleted: Bool {
        options.contains("include:deleted")
            || target.values("__includedeleted").contains { $0.lowercased() == "true" }
    }

    var asked: Set<PropertyName> { wire.asked(by: target) }

    /// The stored column that a name in a query means; nil for a stored name that the wire does not have.
    func column(_ name: PropertyName) -> PropertyName? {
        if name == "id", wire.showsIntegerIDs, table.rules.ids == .integer { return SystemColumn.number }
        return wire.names.stored(name)
            ?? (SystemColumn.all.contains(name) || SystemColumn.hidden.contains(name) ? nil : name)
    }

    /// What a query may say of other properties than those that the table declares, if it declares any.
    var undeclaredColumns: UndeclaredColumns {
        wire.refusesUnknownColumns && table.isTyped ? .refused : .allowed
    }

    func reply(_ status: HTTPResponse.Status, _ stored: JSON) -> Reply {
        wire.reply(status, stored, asked: asked)
    }
}

extension TableRequest {
    /// Finds out whom the request comes from and whether it may do the operation.
    ///
    /// - Throws: ``Refusal``: 401 for a token that is not valid, and see ``Permission``.
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

    /// The methods of the path, with what they do.
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
