internal import HTTPTypes
internal import SluiceBase

/// Requests the system columns on a wire that sends them only on request. It appends `__systemProperties=*` to the
/// query, unless the query has the parameter already, in any case.
///
/// Servers may send more columns than requested. From the answers to online requests the filter removes the surplus,
/// as the clients of Mobile Services do. A push or a pull needs version, time of change and tombstone. So it requests
/// them regardless of the selection, and its answers stay unchanged.
struct SystemProperties: RequestTransform {
    private static let parameter = "__systemProperties"

    let dialect: Dialect
    let selection: SystemProperty.Selection

    func request(_ request: SyncRequest) -> SyncRequest {
        guard let (table, path) = asks(request), Self.asked(by: path) == nil else { return request }
        let values = values(for: table, request.context)
        if values.isEmpty { return request }
        var request = request
        let separator = path.contains("?") ? path.hasSuffix("?") || path.hasSuffix("&") ? "" : "&" : "?"
        let list = values.map { PercentEncoding.query($0) }.joined(separator: ",")
        request.head.path = "\(path)\(separator)\(Self.parameter)=\(list)"
        return request
    }

    func response(_ response: SyncResponse, to request: SyncRequest) -> SyncResponse {
        guard let (_, path) = asks(request) else { return response }
        return reduced(response, to: Self.asked(by: path) ?? [], for: request.context)
    }

    /// Returns the table and the path of a request that has to ask for the columns; nil for others.
    private func asks(_ request: SyncRequest) -> (table: String, path: String)? {
        guard dialect.asksForSystemProperties, let table = request.context.table,
            [.get, .post, .patch, .put, .delete].contains(request.head.method), let path = request.head.path
        else { return nil }
        return (table, path)
    }

    /// Returns the columns that a query requests itself; nil if it requests none.
    private static func asked(by path: String) -> [String]? {
        let parts = QueryString(ofPath: path).parts.filter {
            QueryString.name(of: $0).lowercased() == parameter.lowercased()
        }
        guard !parts.isEmpty else { return nil }
        return parts.flatMap { part in
            PercentEncoding.decoded(part.drop { $0 != "=" }.dropFirst()).split(separator: ",").map(String.init)
        }
    }

    private func values(for table: String, _ context: SyncRequest.Context) -> [String] {
        let values = context.systemProperties?.map(\.text) ?? selection.values(for: table)
        if context.source == .online || values.contains("*") { return values }
        let asked = Set(values.map(Self.plain))
        let needed = [dialect.columns.version, dialect.columns.updatedAt, dialect.columns.deleted]
        return values + needed.map(\.text).filter { !asked.contains(Self.plain($0)) }
    }

    /// Returns the answer without the system columns that were not requested.
    private func reduced(_ response: SyncResponse, to asked: [String], for context: SyncRequest.Context) -> SyncResponse
    {
        guard context.source == .online, !asked.contains("*"), 200..<300 ~= response.status, !response.body.isEmpty
        else { return response }
        let asked = Set(asked.map(Self.plain))
        let surplus = dialect.columns.ofServer.filter { !asked.contains(Self.plain($0.text)) }
        guard !surplus.isEmpty, let body = try? response.body.json, let body = reduced(body, by: surplus) else {
            return response
        }
        var response = response
        response.body = MessageBody(json: body)
        return response
    }

    /// Returns a record, rows, or an object that holds rows, without those members; nil if there is none of them.
    private func reduced(_ body: JSON, by names: [PropertyName]) -> JSON? {
        if let rows = body.elements {
            let reduced = rows.map { without($0, names) }
            return reduced.contains { $0 != nil } ? JSON(zip(reduced, rows).map { $0 ?? $1 }) : nil
        }
        for name in dialect.shape.rows {
            guard let rows = body[name], rows.kind == .array else { continue }
            guard let reduced = reduced(rows, by: names) else { return nil }
            var body = body
            body[name] = reduced
            return body
        }
        return without(body, names)
    }

    private func without(_ record: JSON, _ names: [PropertyName]) -> JSON? {
        let there = names.filter { record[$0] != nil }
        guard !there.isEmpty else { return nil }
        var record = record
        for name in there { record[name] = nil }
        return record
    }

    /// Returns a column's name in lower case and without leading underscores: servers treat `__version` and `version`
    /// alike.
    private static func plain(_ name: String) -> String { String(name.lowercased().drop { $0 == "_" }) }
}

/// Removes the server's own properties from the bodies of POST, PATCH and PUT to tables, null or not: every member
/// whose name begins with two underscores, and the wire's system columns other than the id. Servers refuse bodies that
/// hold them. `deleted` stays in an undelete.
struct StripSystemProperties: RequestTransform {
    let dialect: Dialect

    func request(_ request: SyncRequest) -> SyncRequest {
        guard request.context.table != nil, [.post, .patch, .put].contains(request.head.method),
            !request.body.isEmpty, var body = try? request.body.json
        else { return request }
        let names = body.names.filter { name in
            dialect.isSystemProperty(name)
                && !(name == dialect.columns.deleted && request.context.action == .undelete)
        }
        guard !names.isEmpty else { return request }
        for name in names { body[name] = nil }
        var request = request
        request.body = MessageBody(json: body)
        return request
    }
}
