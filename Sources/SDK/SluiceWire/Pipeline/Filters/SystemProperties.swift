internal import HTTPTypes
internal import SluiceBase

/// Asks for the system columns on a wire that gives them only when asked: `__systemProperties=*`, put after what the
/// query has already, once, whatever the case in which a query has it already.
///
/// Servers may send more than was asked for. Of the answers to online requests the filter takes out what was not, as
/// the clients of Mobile Services do. A push or a pull cannot do without version, time of change and tombstone, so
/// these are asked for whatever the selection is, and its answers stay as they are.
struct SystemProperties: Filter {
    private static let parameter = "__systemProperties"

    let dialect: Dialect
    let selection: SystemPropertySelection

    func handle(_ request: Request, next: Next) async throws -> Response {
        guard dialect.asksForSystemProperties, let table = request.context.table,
            [.get, .post, .patch, .put, .delete].contains(request.head.method), let path = request.head.path
        else { return try await next(request) }
        if let asked = Self.asked(by: path) {
            return reduced(try await next(request), to: asked, for: request.context)
        }
        let values = values(for: table, request.context)
        var request = request
        if !values.isEmpty {
            let separator = path.contains("?") ? path.hasSuffix("?") || path.hasSuffix("&") ? "" : "&" : "?"
            let list = values.map { PercentEncoding.query($0) }.joined(separator: ",")
            request.head.path = "\(path)\(separator)\(Self.parameter)=\(list)"
        }
        return reduced(try await next(request), to: values, for: request.context)
    }

    /// The columns that a query asks for itself; nil if it does not.
    private static func asked(by path: String) -> [String]? {
        let parts = QueryString(ofPath: path).parts.filter {
            QueryString.name(of: $0).lowercased() == parameter.lowercased()
        }
        guard !parts.isEmpty else { return nil }
        return parts.flatMap { part in
            PercentEncoding.decoded(part.drop { $0 != "=" }.dropFirst()).split(separator: ",").map(String.init)
        }
    }

    private func values(for table: String, _ context: RequestContext) -> [String] {
        let values = context.systemProperties?.map(\.text) ?? selection.values(for: table)
        if context.source == .online || values.contains("*") { return values }
        let asked = Set(values.map(Self.plain))
        let needed = [dialect.columns.version, dialect.columns.updatedAt, dialect.columns.deleted]
        return values + needed.map(\.text).filter { !asked.contains(Self.plain($0)) }
    }

    /// The answer without the system columns that were not asked for.
    private func reduced(_ response: Response, to asked: [String], for context: RequestContext) -> Response {
        guard context.source == .online, !asked.contains("*"), 200..<300 ~= response.status, !response.body.isEmpty
        else { return response }
        let asked = Set(asked.map(Self.plain))
        let columns = [dialect.columns.version, dialect.columns.updatedAt, dialect.columns.deleted]
        let surplus = (columns + (dialect.createdAtColumn.map { [$0] } ?? [])).filter {
            !asked.contains(Self.plain($0.text))
        }
        guard !surplus.isEmpty, let body = try? response.body.json, let body = reduced(body, by: surplus) else {
            return response
        }
        var response = response
        response.body = Body(json: body)
        return response
    }

    /// A record, rows, or an object that holds rows, without those members; nil if there is none of them.
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

    /// A column's name without case and without underscores before it: servers take `__version` and `version` alike.
    private static func plain(_ name: String) -> String { String(name.lowercased().drop { $0 == "_" }) }
}
