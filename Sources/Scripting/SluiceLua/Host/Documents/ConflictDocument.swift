package import SluiceCore

/// A conflict as scripts see it, and the record that results from a merge.
package struct ConflictDocument: Sendable {
    let conflict: Conflict
    let check: RecordCheck

    package init(conflict: Conflict, check: RecordCheck) {
        self.conflict = conflict
        self.check = check
    }

    /// Returns the fields that differ between a side and the base; nil without a base.
    private func changes(of side: JSON?) -> [PropertyName]? {
        guard let side, let base = conflict.base else { return nil }
        return Self.names(base, side).filter { !check.isSystem($0) && side[$0] != base[$0] }
    }

    /// Returns the names of both, in the order of the first.
    private static func names(_ first: JSON, _ second: JSON) -> [PropertyName] {
        first.names + second.names.filter { first[$0] == nil }
    }

    /// The fields that both sides changed, to different values. Without a base it is every field that differs.
    package var bothChanged: [PropertyName] {
        guard let client = conflict.client, let server = conflict.server else { return [] }
        return Self.names(server, client).filter { name in
            guard !check.isSystem(name), client[name] != server[name] else { return false }
            guard let base = conflict.base else { return true }
            return client[name] != base[name] && server[name] != base[name]
        }
    }

    /// The conflict as a document for the script.
    package var json: JSON {
        func list(_ names: [PropertyName]?) -> JSON { JSON((names ?? []).map { JSON($0) }) }
        let operation = conflict.operation
        var document = JSON(members: [
            ("table", JSON(conflict.table)), ("id", JSON(conflict.recordID)),
            ("kind", JSON(operation.kind.rawValue)), ("status", JSON(conflict.status)),
            ("attempt", JSON(operation.attempts)), ("operation", JSON(operation.id)),
            ("queued_at", JSON(operation.createdAt.description)), ("deleted", JSON(conflict.isDeletedOnServer)),
            ("maybe_applied", JSON(conflict.maybeApplied)), ("equal_edit", JSON(conflict.isEqualEdit)),
            ("newer", JSON(newer)),
            ("client_changed", list(changes(of: conflict.client))),
            ("server_changed", list(changes(of: conflict.server))), ("both_changed", list(bothChanged)),
        ])
        if let client = conflict.client { document["client"] = client }
        if let server = conflict.server { document["server"] = server }
        if let base = conflict.base { document["base"] = base }
        return document
    }

    /// The side changed last: by the server's clock, and by this machine's when the change was queued.
    private var newer: String {
        let column = check.dialect.columns.updatedAt
        guard let server = conflict.server?[column]?.string.flatMap({ Timestamp($0) }) else { return "client" }
        return conflict.operation.createdAt > server ? "client" : "server"
    }

    /// Returns the record of `c:merge{…}`: the server's record with the client's own changes. The rules decide all
    /// other fields, and fields with a rule in any case. Values are copied unchanged.
    func merged(_ fields: JSON) throws -> JSON {
        guard let client = conflict.client, let server = conflict.server, !conflict.isDeletedOnServer else {
            throw ScriptFailure(.badResult, "there are no two records to merge")
        }
        var merged = server
        let both = bothChanged
        let isBoth = Set(both)
        for name in changes(of: client) ?? [] where !isBoth.contains(name) { merged[name] = client[name] }
        for name in both {
            guard let rule = fields[name] else {
                throw ScriptFailure(.badResult, "the merge says nothing of \(name), which both sides changed")
            }
            try follow(rule, name, client, server, &merged)
        }
        for (name, rule) in fields.members ?? [] where !isBoth.contains(name) && !check.isSystem(name) {
            try follow(rule, name, client, server, &merged)
        }
        return try check.checked(merged, from: [client, server], id: conflict.recordID)
    }

    private func follow(_ rule: JSON, _ name: PropertyName, _ client: JSON, _ server: JSON, _ merged: inout JSON) throws
    {
        switch rule["side"]?.string {
        case "client": merged[name] = client[name]
        case "server": merged[name] = server[name]
        case nil: merged[name] = rule["value"] ?? .null
        case let side?: throw ScriptFailure(.badResult, "there is no side \(side)")
        }
    }

    /// Returns the decision for the hook's answer.
    package func decision(_ result: HookReturn) throws -> HookAnswer {
        guard let decision = try DecisionDocument(result, of: .onConflict) else {
            return HookAnswer(ConflictDecision.next, "next")
        }
        let value: ConflictDecision
        switch decision.name {
        case "server": value = .server
        case "client": value = .client
        case "delete":
            try check.requireWrite()
            value = .delete
        case "discard": value = .discard
        case "defer": value = .defer
        case "ask": value = .ask
        case "abort": value = .abort
        case "merge":
            try check.requireWrite()
            if let fields = decision.json["fields"] {
                // The rules may set a value of neither side for a field that only one side changed.
                value = .replace(try merged(fields))
            } else {
                let given = try decision.record()
                try decision.requireWhole(of: [conflict.client, conflict.server], check)
                value = .merge(
                    try check.checked(
                        given, from: [conflict.client, conflict.server, conflict.base], id: conflict.recordID))
            }
        default: value = .next
        }
        var answer = decision.answer(value)
        answer.record = value.given
        return answer
    }
}
