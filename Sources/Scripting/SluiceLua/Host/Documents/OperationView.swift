package import SluiceCore

/// A local change as scripts see it, queued or about to be stored: `op`.
package enum OperationView {
    package static func document(of change: EnqueuedChange) -> JSON {
        var document = JSON(members: [
            ("id", JSON(change.recordID)), ("table", JSON(change.table)), ("kind", JSON(change.kind.rawValue)),
            ("attempt", JSON(change.attempt)), ("tags", tags(change.tags)),
        ])
        if let record = change.record { document["record"] = record }
        if let before = change.before { document["before"] = before }
        if let group = change.group { document["group"] = JSON(group) }
        return document
    }

    package static func document(of operation: TableOperation, record: JSON?, dialect: Dialect) -> JSON {
        var document = JSON(members: [
            ("id", JSON(operation.recordID)), ("operation", JSON(operation.id)), ("table", JSON(operation.table)),
            ("kind", JSON(operation.kind.rawValue)), ("sequence", JSON(operation.sequence)),
            ("attempt", JSON(operation.attempts)), ("queued_at", JSON(operation.createdAt.description)),
            ("tags", tags(operation.tags)),
        ])
        if let record { document["record"] = record }
        if let version = record?[dialect.columns.version] { document["version"] = version }
        if let group = operation.group { document["group"] = JSON(group) }
        if let failure = operation.failure {
            document["last_error"] = ["code": JSON(failure.code), "message": JSON(failure.message)]
        }
        return document
    }

    package static func document(of failure: PushResult.Failure, dialect: Dialect) -> JSON {
        let operation = failure.operation
        var document = JSON(members: [
            ("table", JSON(operation.table)), ("id", JSON(operation.recordID)),
            ("kind", JSON(operation.kind.rawValue)), ("code", JSON(failure.code.description)),
            ("message", JSON(failure.message)), ("attempt", JSON(operation.attempts)),
            ("failed_attempts", JSON(operation.failedAttempts)), ("is_network", JSON(failure.isNetwork)),
            ("is_auth", JSON(failure.isUnauthorized)), ("maybe_applied", JSON(failure.mayBeApplied)),
            ("state", JSON(failure.state.rawValue)),
            ("body", JSON(String(decoding: failure.body, as: UTF8.self))),
            ("operation", Self.document(of: operation, record: nil, dialect: dialect)),
        ])
        if let status = failure.status { document["status"] = JSON(status) }
        if let pause = failure.retryAfter { document["retry_after"] = JSON(pause / .seconds(1)) }
        if let record = failure.record { document["record"] = record }
        return document
    }

    private static func tags(_ tags: Set<String>) -> JSON { JSON(tags.sorted().map { JSON($0) }) }

    /// Returns the kind of `decide.change_action`.
    static func kind(_ decision: DecisionDocument) throws -> TableOperation.Kind {
        let text = decision.json["kind"]?.string ?? ""
        guard let kind = TableOperation.Kind(rawValue: text == "replace" ? "update" : text) else {
            throw ScriptFailure(.badResult, "decide.change_action takes insert, update, delete or undelete")
        }
        return kind
    }
}
