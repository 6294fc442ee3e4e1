internal import SluiceCore

/// A conflict as scripts see it, and the record that a merge comes to.
struct ConflictDocument: Sendable {
    let conflict: Conflict
    let check: RecordCheck

    /// The fields that differ between a side and the base; nil where there is no base.
    private func changes(of side: JSON?) -> [String]? {
        guard let side, let base = conflict.base else { return nil }
        return Self.names(base, side).filter { !check.isSystem($0) && side[$0] != base[$0] }
    }

    /// The names of both, in the order of the first.
    private static func names(_ first: JSON, _ second: JSON) -> [String] {
        first.names + second.names.filter { first[$0] == nil }
    }

    /// The fields that both sides changed, to different values. Without a base it is all that differs.
    var bothChanged: [String] {
        guard let client = conflict.client, let server = conflict.server else { return [] }
        return Self.names(server, client).filter { name in
            guard !check.isSystem(name), client[name] != server[name] else { return false }
            guard let base = conflict.base else { return true }
            return client[name] != base[name] && server[name] != base[name]
        }
    }

    /// The document.
    var json: JSON {
        func list(_ names: [String]?) -> JSON { JSON((names ?? []).map { JSON($0) }) }
        let operation = conflict.operation
        var document = JSON(members: [
            ("table", JSON(conflict.table)), ("id", JSON(conflict.recordID)),
            ("kind", JSON(operation.kind.rawValue)), ("status", JSON(conflict.status)),
            ("attempt", JSON(operation.attempts)), ("operation", JSON(operation.id)),
            ("queued_at", JSON(operation.createdAt.description)), ("deleted", JSON(conflict.isDeletedOnServer)),
            ("maybe_applied", JSON(conflict.maybeApplied)), ("newer", JSON(newer)),
            ("client_changed", list(changes(of: conflict.client))),
            ("server_changed", list(changes(of: conflict.server))), ("both_changed", list(bothChanged)),
        ])
        if let client = conflict.client { document["client"] = client }
        if let server = conflict.server { document["server"] = server }
        if let base = conflict.base { document["base"] = base }
        return document
    }

    /// The side that was changed last: by the clock of the server, and of this machine when the change was queued.
    private var newer: String {
        let column = check.dialect.columns.updatedAt
        guard let server = conflict.server?[column]?.string.flatMap({ Timestamp($0) }) else { return "client" }
        return conflict.operation.createdAt > server ? "client" : "server"
    }

    /// The record of `c:merge{…}`: the server's, with what only the client changed and what the rules say of the rest.
    /// Values go from record to record as they are.
    func merged(_ fields: JSON) throws -> JSON {
        guard let client = conflict.client, let server = conflict.server, !conflict.isDeletedOnServer else {
            throw ScriptFailure(.badResult, "there are no two records to merge")
        }
        var merged = server
        let both = bothChanged
        for name in changes(of: client) ?? [] where !both.contains(name) { merged[name] = client[name] }
        for name in both {
            guard let rule = fields[name] else {
                throw ScriptFailure(.badResult, "the merge says nothing of \(name), which both sides changed")
            }
            switch rule["side"]?.string {
            case "client": merged[name] = client[name]
            case "server": break
            case nil: merged[name] = rule["value"] ?? .null
            case let side?: throw ScriptFailure(.badResult, "there is no side \(side)")
            }
        }
        return try check.checked(merged, from: [client, server], id: conflict.recordID)
    }

    /// Refuses a table in which fields are missing that both sides have: a part of a record would be the loss of the
    /// rest.
    private func requireWhole(_ record: JSON, _ removed: JSON?) throws {
        let named = Set((removed?.elements ?? []).compactMap(\.string))
        let missing = (conflict.client?.names ?? []).filter { name in
            !check.isSystem(name) && conflict.server?[name] != nil && record[name] == nil && !named.contains(name)
        }
        guard let first = missing.first else { return }
        throw ScriptFailure(
            .badResult,
            "decide.merge leaves out \(missing.joined(separator: ", ")), which both sides have: begin with c.server, or "
                + "say that it is to go with remove = { \"\(first)\" }")
    }

    /// The decision that the hook's answer comes to.
    func decision(_ result: HookReturn) throws -> HookAnswer {
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
        case "merge":
            try check.requireWrite()
            if let fields = decision.json["fields"] {
                value = .merge(try merged(fields))
            } else {
                let record = try decision.record()
                if decision.json["built"]?.bool == true { try requireWhole(record, decision.json["remove"]) }
                value = .merge(
                    try check.checked(
                        record, from: [conflict.client, conflict.server, conflict.base], id: conflict.recordID))
            }
        default: value = .next
        }
        return decision.answer(value)
    }
}
