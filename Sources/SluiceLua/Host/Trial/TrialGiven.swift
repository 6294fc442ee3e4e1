internal import HTTPTypes
internal import SluiceCore

/// What a hook is tried with, from JSON in which only what matters is named.
struct TrialGiven {
    let given: JSON
    let now: Timestamp

    private func refusal(_ reason: String) -> SluiceError { SluiceError(.invalidArgument, "given: \(reason)") }

    /// A member, which has to be an object; empty where it is left out.
    func object(_ name: String) throws -> JSON {
        guard let value = given[name] else { return .object }
        guard value.kind == .object else { throw refusal("\(name) is an object") }
        return value
    }

    // MARK: - exchanges

    func request() throws -> Request {
        let json = try object("request")
        guard let method = HTTPRequest.Method(json["method"]?.string ?? "GET") else { throw refusal("no such method") }
        let path = json["path"]?.string ?? "/tables/todo"
        var request = Request(
            HTTPRequest(
                method: method, scheme: json["scheme"]?.string ?? "https",
                authority: json["host"]?.string ?? "example.com", path: path))
        if let query = json["query"]?.string, !query.isEmpty { request.head.path = "\(path)?\(query)" }
        request.head.headerFields = try Self.fields(json["headers"])
        request.body = Self.body(json["body"])
        let source = json["source"]?.string ?? "online"
        let kind = json["kind"]?.string ?? "custom"
        guard let source = RequestContext.Source(rawValue: source), let kind = RequestContext.Action(rawValue: kind)
        else { throw refusal("no such source or kind: \(source), \(kind)") }
        request.context = RequestContext(
            source: source, action: kind, table: json["table"]?.string, recordID: json["record_id"]?.string,
            operationID: json["operation"]?.string, version: json["version"]?.string,
            attempt: Int(json["attempt"]?.int ?? 0))
        request.context.systemProperties = json["system_properties"]?.elements?.compactMap(\.string)
        request.context.tags = Set(json["tags"]?.elements?.compactMap(\.string) ?? [])
        return request
    }

    func response() throws -> Response { try Self.response(try object("response")) }

    /// An answer from `{status, headers, body}`.
    static func response(_ json: JSON) throws -> Response {
        let status = json["status"]?.int ?? 200
        guard (100...599).contains(status) else { throw SluiceError(.invalidArgument, "no such status: \(status)") }
        return Response(
            HTTPResponse(status: .init(code: Int(status)), headerFields: try fields(json["headers"])),
            body: body(json["body"]))
    }

    /// A text as bytes, any other value as JSON, null as nothing.
    static func body(_ json: JSON?) -> Body {
        guard let json, !json.isNull else { return .empty }
        return json.string.map { Body(bytes: Array($0.utf8)) } ?? Body(json: json)
    }

    private static func fields(_ json: JSON?) throws -> HTTPFields {
        var fields = HTTPFields()
        let list = json?.elements?.map { ($0[0]?.string ?? "", $0[1]?.string ?? "") }
        let named = json?.members?.map { ($0.name, $0.value.string ?? $0.value.description) }
        for (name, value) in list ?? named ?? [] { fields.append(try RequestEditor.field(name, value)) }
        return fields
    }

    // MARK: - operations

    func operation(_ json: JSON) throws -> TableOperation {
        let record = json["record"]
        let kind = json["kind"]?.string ?? "update"
        guard let kind = TableOperation.Kind(rawValue: kind) else { throw refusal("no such kind: \(kind)") }
        var operation = TableOperation(
            id: json["operation"]?.string ?? "op-1", sequence: json["sequence"]?.int ?? 1,
            table: json["table"]?.string ?? "todo", recordID: json["id"]?.string ?? record?["id"]?.string ?? "1",
            kind: kind, createdAt: json["queued_at"]?.string.flatMap { Timestamp($0) } ?? now)
        operation.attempts = Int(json["attempt"]?.int ?? 1)
        operation.tags = Set(json["tags"]?.elements?.compactMap(\.string) ?? [])
        operation.group = json["group"]?.string
        return operation
    }

    func change() throws -> EnqueuedChange {
        let json = try object("operation")
        let operation = try operation(json)
        return EnqueuedChange(
            table: operation.table, recordID: operation.recordID, kind: operation.kind, record: json["record"],
            before: json["before"], tags: operation.tags, group: operation.group, attempt: operation.attempts)
    }

    func conflict(_ dialect: Dialect) throws -> Conflict {
        let json = try object("conflict")
        func side(_ name: String) -> JSON? { json[name].flatMap { $0.isNull ? nil : $0 } }
        let (client, server) = (side("client"), side("server"))
        var operation = json
        if operation["id"] == nil, let id = client?["id"] ?? server?["id"] { operation["id"] = id }
        operation["record"] = nil
        return Conflict(
            operation: try self.operation(operation), client: client, server: server, base: side("base"),
            maybeApplied: json["maybe_applied"]?.bool ?? false, status: Int(json["status"]?.int ?? 412),
            isDeletedOnServer: json["deleted"]?.bool ?? (server?[dialect.columns.deleted]?.bool ?? (server == nil)))
    }

    func failure() throws -> PushFailure {
        let json = try object("error")
        var operation = json["operation"] ?? .object
        for name in ["table", "id", "kind", "attempt"] where operation[name] == nil { operation[name] = json[name] }
        if operation["id"] == nil { operation["id"] = json["record"]?["id"] }
        return PushFailure(
            operation: try self.operation(operation), record: json["record"], code: .serverFailure,
            message: json["message"]?.string ?? "failed", status: json["status"]?.int.map { Int($0) },
            retryAfter: json["retry_after"]?.double.map { .milliseconds(Int64($0 * 1000)) },
            body: json["body"].map { Self.body($0).bytes } ?? [], mayBeApplied: json["maybe_applied"]?.bool ?? false)
    }

    // MARK: - pulls and schedules

    func row(_ record: JSON, _ dialect: Dialect) -> PulledRow {
        PulledRow(
            id: record["id"]?.string ?? "1", version: record[dialect.columns.version]?.string,
            updatedAt: record[dialect.columns.updatedAt]?.string,
            isTombstone: record[dialect.columns.deleted]?.bool ?? false, record: record)
    }

    func page(_ dialect: Dialect) throws -> PulledPage {
        let json = try object("page")
        return PulledPage(
            table: json["table"]?.string ?? "todo", queryName: json["query"]?.string,
            rows: (json["rows"]?.elements ?? []).map { row($0, dialect) })
    }

    func question() throws -> JSON {
        var question: JSON = [
            "reason": "timer", "now": TimeFunctions.seconds(now), "next": TimeFunctions.seconds(now), "pulls": true,
            "pending": 0, "failures": 0,
        ]
        for (name, value) in try object("question").members ?? [] { question[name] = value }
        return question
    }
}
