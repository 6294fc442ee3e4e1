internal import HTTPTypes
internal import SluiceCore

/// Whether a request may do what it asks for at all, before any record is looked at.
enum Access {
    /// - Parameter methods: the methods of the request's path, with what they do.
    /// - Throws: ``Refusal``: 405 for an operation that is disabled, the table's status (401 where it says nothing) for
    ///   a request without a user where one is needed.
    static func check(
        _ operation: BackendOperation, _ rules: BackendConfiguration.Table, _ principal: Principal?,
        methods: [(name: String, operation: BackendOperation)] = []
    ) throws(Refusal) {
        switch rules.access[operation] {
        case .anonymous: return
        case .authenticated:
            if principal != nil { return }
            var refusal = Refusal(
                HTTPResponse.Status(code: rules.unauthorizedStatus),
                "the table needs a user for this (\(operation.rawValue)); send a token")
            if rules.unauthorizedStatus == 401 { refusal.headers[.wwwAuthenticate] = "Bearer" }
            throw refusal
        case .disabled:
            var refusal = Refusal(.methodNotAllowed, "the table does not allow this (\(operation.rawValue))")
            // RFC 9110, section 15.5.6 wants the others named.
            refusal.headers[.allow] = methods.filter { rules.access[$0.operation] != .disabled }.map(\.name)
                .joined(separator: ", ")
            throw refusal
        }
    }
}

extension TableRequest {
    /// Finds out whom the request comes from and whether it may do the operation.
    ///
    /// - Throws: ``Refusal``: 401 for a token that is not valid, and see ``Access``.
    func session(_ operation: BackendOperation) async throws(Refusal) -> TableSession {
        let principal = try await backend.authenticator?.principal(for: head.headerFields)
        try Access.check(operation, table.rules, principal, methods: methods)
        var repeatable = repeatable
        repeatable?.user = principal?.user ?? ""
        return TableSession(
            table: table, operation: operation, principal: principal,
            scope: RowScope(table.rules, principal, now: backend.environment.now()),
            hooks: backend.hooks[table.name]?.forRequest(), backend: backend, repeatable: repeatable, group: group,
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
