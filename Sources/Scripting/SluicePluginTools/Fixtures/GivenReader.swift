internal import HTTPTypes
internal import SluiceCore
internal import SluiceLua

/// Turns the input of a fixture into the engine's input of a hook. Missing members get the defaults of
/// docs/plugin-tools.md.
struct GivenReader {
    let dialect: Dialect
    let now: Timestamp

    // MARK: - exchanges

    private static let requestNames = [
        "method", "url", "scheme", "host", "path", "query", "headers", "body", "table", "record_id", "operation",
        "kind",
        "source", "attempt", "idempotency_key", "tags", "version",
    ]

    func request(_ place: JSONPlace) throws(SluiceError) -> SyncRequest {
        let members = try place.members(Self.requestNames)
        guard let method = HTTPRequest.Method(try members["method"]?.text() ?? "GET") else {
            throw place.refusal("no such method")
        }
        var scheme = try members["scheme"]?.text() ?? "https"
        var host = try members["host"]?.text() ?? "example.com"
        var path = try members["path"]?.text(upTo: 65_536) ?? "/tables/todo"
        if let url = try members["url"]?.text(upTo: 65_536) {
            guard let address = try? PluginAddress(url) else {
                throw place.child(JSON(url), "url").expected("an address")
            }
            (scheme, host, path) = (address.scheme, address.authority, address.path)
        }
        if let query = members["query"]?.value.string, !query.isEmpty { path += "?\(query)" }
        var request = SyncRequest(HTTPRequest(method: method, scheme: scheme, authority: host, path: path))
        request.head.headerFields = try members["headers"].map(FixtureMessage.headers) ?? HTTPFields()
        request.body = FixtureMessage.body(members["body"]?.value)
        if let kind = members["kind"] {
            let names = SyncRequest.Context.Action.allCases.map(\.rawValue)
            request.context.action = SyncRequest.Context.Action(rawValue: try kind.choice(of: names)) ?? .custom
        }
        if let source = members["source"] {
            request.context.source =
                SyncRequest.Context.Source(rawValue: try source.choice(of: ["online", "push", "pull"])) ?? .online
        }
        request.context.table = try members["table"]?.text()
        request.context.recordID = try id(members["record_id"])
        // An operation's request id is the operation's id followed by the revision.
        let operation = try members["operation"]?.text()
        request.context.operationID = try members["idempotency_key"]?.text() ?? operation.map { "\($0)-1" }
        request.context.version = members["version"]?.value.string
        request.context.attempt = try members["attempt"]?.integer(in: 0...1_000) ?? 0
        request.context.tags = try members["tags"].map(tags) ?? []
        return request
    }

    private func tags(_ place: JSONPlace) throws(SluiceError) -> Set<String> {
        var tags: Set<String> = []
        for tag in try place.items(upTo: 64) { tags.insert(try tag.text()) }
        return tags
    }

    /// Reads a record; nil if it is missing or null.
    private func record(_ place: JSONPlace?) throws(SluiceError) -> JSON? {
        guard let place, !place.value.isNull else { return nil }
        guard place.value.kind == .object else { throw place.expected("a record, such as {\"id\": \"1\"}, or null") }
        return place.value
    }

    // MARK: - operations

    private static let operationNames = [
        "id", "operation", "table", "kind", "record", "before", "version", "attempt", "queued_at", "sequence", "tags",
        "group", "last_error",
    ]

    func operation(_ place: JSONPlace) throws(SluiceError) -> (operation: TableOperation, record: JSON?, before: JSON?)
    {
        let members = try place.members(Self.operationNames)
        let (record, before) = (try record(members["record"]), try record(members["before"]))
        var operation = TableOperation(
            id: try members["operation"]?.text() ?? "op-1",
            sequence: Int64(try members["sequence"]?.integer(in: 0...Int.max) ?? 1),
            table: try members["table"]?.text() ?? "todo",
            recordID: try id(members["id"]) ?? record?["id"]?.textID ?? before?["id"]?.textID ?? "1",
            kind: try kind(members["kind"]), createdAt: try time(members["queued_at"]))
        operation.attempts = try members["attempt"]?.integer(in: 0...1_000) ?? 1
        operation.tags = try members["tags"].map(tags) ?? []
        operation.group = try members["group"]?.text()
        if let failure = members["last_error"] {
            let parts = try failure.members(["code", "message"])
            operation.failure = .init(
                code: try parts["code"]?.text() ?? "server", message: try parts["message"]?.text() ?? "failed")
        }
        return (operation, record, before)
    }

    func change(_ place: JSONPlace) throws(SluiceError) -> EnqueuedChange {
        let (operation, record, before) = try operation(place)
        return EnqueuedChange(
            table: operation.table, recordID: operation.recordID, kind: operation.kind, record: record, before: before,
            tags: operation.tags, group: operation.group, attempt: operation.attempts)
    }

    private func kind(_ place: JSONPlace?) throws(SluiceError) -> TableOperation.Kind {
        guard let place else { return .update }
        return TableOperation.Kind(rawValue: try place.choice(of: TableOperation.Kind.allCases.map(\.rawValue)))
            ?? .update
    }

    private func time(_ place: JSONPlace?) throws(SluiceError) -> Timestamp {
        guard let place else { return now }
        guard let time = place.value.string.flatMap({ Timestamp($0) }) else { throw place.expected("a time") }
        return time
    }

    private func id(_ place: JSONPlace?) throws(SluiceError) -> RecordID? {
        guard let place else { return nil }
        return .string(try place.text())
    }

    // MARK: - conflicts and failures

    func conflict(_ place: JSONPlace) throws(SluiceError) -> Conflict {
        let members = try place.members([
            "table", "id", "kind", "status", "attempt", "operation", "queued_at", "maybe_applied", "equal_edit",
            "deleted", "client",
            "server", "base",
        ])
        var sides: [JSON?] = []
        for name in ["client", "server", "base"] { sides.append(try record(members[name])) }
        let id = try id(members["id"]) ?? sides.compactMap { $0?["id"]?.textID }.first ?? "1"
        var operation = TableOperation(
            id: try members["operation"]?.text() ?? "op-1", sequence: 1, table: try members["table"]?.text() ?? "todo",
            recordID: id, kind: try kind(members["kind"]), createdAt: try time(members["queued_at"]))
        operation.attempts = try members["attempt"]?.integer(in: 0...1_000) ?? 1
        let isMarked = sides[1]?[dialect.columns.deleted]?.bool == true || sides[1]?["deleted"]?.bool == true
        return Conflict(
            operation: operation, client: sides[0], server: sides[1], base: sides[2],
            maybeApplied: try members["maybe_applied"]?.flag() ?? false,
            status: try members["status"]?.integer(in: 0...599) ?? 412,
            isDeletedOnServer: try members["deleted"]?.flag() ?? (sides[1] == nil || isMarked),
            isEqualEdit: try members["equal_edit"]?.flag() ?? false)
    }

    /// Reads a failure and its document for the script. Values in the fixture take precedence over derived ones.
    func failure(_ place: JSONPlace) throws(SluiceError) -> (failure: PushResult.Failure, document: JSON) {
        let members = try place.members([
            "table", "id", "kind", "status", "code", "message", "attempt", "failed_attempts", "is_network", "is_auth",
            "maybe_applied", "state", "retry_after", "body", "operation", "record",
        ])
        var described = members["operation"]?.value ?? .object
        for name in ["table", "id", "kind", "attempt"] where described[name] == nil {
            described[name] = members[name]?.value
        }
        let record = try record(members["record"])
        var (operation, _, _) = try operation(place.child(described, "operation"))
        operation.failedAttempts = try members["failed_attempts"]?.integer(in: 0...1_000) ?? operation.failedAttempts
        let failure = PushResult.Failure(
            operation: operation, record: record,
            code: members["code"]?.value.string.flatMap { SluiceError.Code($0) } ?? .serverFailure,
            message: try members["message"]?.text() ?? "failed",
            status: try members["status"]?.integer(in: 100...599),
            retryAfter: try members["retry_after"]?.seconds(),
            body: FixtureMessage.body(members["body"]?.value).bytes,
            mayBeApplied: try members["maybe_applied"]?.flag() ?? false)
        var document = OperationView.document(of: failure, dialect: dialect)
        document["code"] = members["code"]?.value ?? "server"
        for name in ["is_network", "is_auth", "state"] {
            if let value = members[name]?.value { document[name] = value }
        }
        return (failure, document)
    }

    // MARK: - requests to a server's tables

    func question(of hook: HookKind, _ place: JSONPlace) throws(SluiceError) -> TableQuestion {
        let members = try place.members([
            "table", "kind", "id", "user", "claims", "record", "stored", "replaces", "repeated", "query",
        ])
        let (record, stored) = (try record(members["record"]), try record(members["stored"]))
        let id = try id(members["id"]) ?? record?["id"]?.textID ?? stored?["id"]?.textID
        let kinds: [SyncRequest.Context.Action] =
            switch hook {
            case .insert: [.insert]
            case .update: [.update, .undelete]
            case .delete: [.delete]
            default: id == nil ? [.read, .lookup] : [.lookup, .read]
            }
        var question = TableQuestion(table: try members["table"]?.text() ?? "todo", kind: kinds[0])
        if let kind = members["kind"] {
            question.kind = SyncRequest.Context.Action(rawValue: try kind.choice(of: kinds.map(\.rawValue))) ?? kinds[0]
        }
        question.recordID = question.kind == .read ? nil : id ?? "1"
        question.user = try members["user"]?.text()
        question.claims = members["claims"]?.value
        (question.record, question.stored) = (record, stored)
        question.replaces = try members["replaces"]?.flag() ?? false
        question.isRepeated = try members["repeated"]?.flag() ?? false
        if let query = members["query"] {
            let parts = try query.members(["filter", "top", "skip"])
            question.query = TableQuery(
                question.table, skip: try parts["skip"]?.integer(in: 0...Int.max) ?? 0,
                top: try parts["top"]?.integer(in: 0...Int.max))
            if let text = try parts["filter"]?.text(upTo: 8192) {
                do {
                    question.query?.filter = try QueryExpression(odata: text)
                } catch {
                    throw query.refusal("filter is no filter of OData: \(error)")
                }
            }
        }
        return question
    }

    // MARK: - pulls and schedules

    func row(_ record: JSON) -> PulledRow {
        PulledRow(
            id: record[dialect.columns.id]?.textID ?? "1", version: record[dialect.columns.version]?.string,
            updatedAt: record[dialect.columns.updatedAt]?.string,
            isTombstone: record[dialect.columns.deleted]?.bool == true, record: record)
    }

    func page(_ place: JSONPlace) throws(SluiceError) -> PulledPage {
        let members = try place.members(["table", "rows", "query"])
        var page = PulledPage(
            table: try members["table"]?.text() ?? "todo", queryName: try members["query"]?.text(), rows: [])
        for record in try members["rows"]?.items(upTo: 10_000) ?? [] {
            if let row = try self.record(record) { page.rows.append(self.row(row)) }
        }
        return page
    }

    /// Reads the `ctx.question` of a script.
    func question(_ place: JSONPlace) throws(SluiceError) -> JSON {
        let names = ["reason", "now", "next", "pulls", "pending", "failures", "not_before"]
        let members = try place.members(names)
        var question: JSON = [
            "reason": "timer", "now": TimeFunctions.seconds(now), "next": TimeFunctions.seconds(now), "pulls": true,
            "pending": 0, "failures": 0,
        ]
        for name in names { if let value = members[name]?.value { question[name] = value } }
        return question
    }
}
