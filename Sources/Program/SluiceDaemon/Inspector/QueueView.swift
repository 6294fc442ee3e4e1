internal import Sluice

/// The queue, and an operator's actions on its operations.
struct QueueView: Sendable {
    private static let page = 100

    private let context: SyncContext
    private var queue: SyncQueue { context.queue }

    init(_ endpoint: InspectedEndpoint) { context = endpoint.session.context }

    /// Returns a page of the queue in sending order, with the latest abandoned operations.
    func queue(skip: Int) async throws -> JSON {
        guard skip >= 0 else { throw SluiceError(.invalidArgument, "skip cannot be negative") }
        let operations = try await queue.operations(skip: skip, top: Self.page)
        let audit = try await queue.audit().suffix(20).reversed()
        return [
            "count": JSON(try await queue.count()), "skip": JSON(skip), "page": JSON(Self.page),
            "operations": JSON(operations.map(\.shown)),
            "audit": JSON(
                audit.map { entry -> JSON in
                    [
                        "at": JSON(entry.at.description), "what": JSON(entry.what),
                        "table": JSON(entry.operation.table), "record": JSON(entry.operation.recordID),
                        "kind": JSON(entry.operation.kind.rawValue),
                    ]
                }),
        ]
    }

    /// Returns one operation with the fields of its record, and its body as editable text.
    func operation(_ id: String) async throws -> JSON {
        guard let operation = try await queue.operation(id) else {
            throw SluiceError(.invalidArgument, "there is no such operation in the queue")
        }
        let copies = try await queue.copies(of: operation)
        let body = try await queue.body(of: operation)
        var json = operation.shown
        json["text"] = body.map { JSON($0.pretty) } ?? .null
        json["fields"] =
            FieldComparison(
                dialect: context.options.dialect, base: copies.base, local: body,
                server: operation.failure?.serverRecord ?? copies.mirror
            ).json
        return json
    }

    func act(_ name: String, _ body: JSON) async throws -> JSON {
        let revision = body["revision"]?.int.map { Int(clamping: $0) }
        switch name {
        case "queue/retry": try await queue.retry(try body.text("id"))
        case "queue/retry-all": return ["retried": JSON(try await queue.retryAll())]
        case "queue/discard": try await queue.discard(try body.text("id"), revision: revision)
        case "queue/edit":
            guard let record = try? JSON(parsing: body.text("text")), record.kind == .object else {
                throw SluiceError(.invalidArgument, "the record is no JSON object")
            }
            try await queue.edit(try body.text("id"), to: record, revision: revision)
        case "queue/undo":
            try await queue.undo(RecordID(body.text("record")), in: body.text("table"))
        default: throw SluiceError(.invalidArgument, "there is no action \(name)")
        }
        return .object
    }
}

extension TableOperation {
    /// The operation as the page shows it, without its body.
    var shown: JSON {
        var json: JSON = [
            "id": JSON(id), "table": JSON(table), "record": JSON(recordID), "kind": JSON(kind.rawValue),
            "state": JSON(state.rawValue), "revision": JSON(revision), "attempts": JSON(attempts),
            "createdAt": JSON(createdAt.description), "uncertain": JSON(isUncertain),
        ]
        if let failure {
            json["reason"] = JSON(failure.message)
            json["code"] = JSON(failure.code)
            json["status"] = failure.status.map { JSON($0) }
        }
        json["group"] = group.map { JSON($0) }
        json["notBefore"] = notBefore.map { JSON($0.description) }
        if !user.isEmpty { json["user"] = JSON(SessionUser.text(user)) }
        return json
    }
}

extension JSON {
    /// The text with one member a line, for people to edit.
    var pretty: String {
        guard let members, !members.isEmpty else { return description }
        return "{\n" + members.map { "  \(JSON($0.name)): \($0.value)" }.joined(separator: ",\n") + "\n}"
    }
}
