internal import HTTPTypes

/// Asks for the system columns on a wire that gives them only when asked: `__systemProperties=*`, put behind what the
/// query has already, once, whatever the case in which a query has it already.
struct SystemProperties: Filter {
    let dialect: Dialect
    let selection: SystemPropertySelection

    func handle(_ request: Request, next: Next) async throws -> Response {
        guard dialect.asksForSystemProperties, let table = request.context.table,
            [.get, .post, .patch, .put].contains(request.head.method), let path = request.head.path
        else { return try await next(request) }
        let values = request.context.systemProperties ?? selection.values(for: table)
        let query = path.firstIndex(of: "?").map { path[path.index(after: $0)...] }
        guard !values.isEmpty, !Self.asks(query ?? "") else { return try await next(request) }
        let parameter = "__systemProperties=\(values.map(PercentEncoding.query).joined(separator: ","))"
        let separator = query.map { $0.isEmpty || $0.hasSuffix("&") ? "" : "&" } ?? "?"
        var request = request
        request.head.path = path + separator + parameter
        return try await next(request)
    }

    private static func asks(_ query: Substring) -> Bool {
        query.split(separator: "&").contains { part in
            PercentEncoding.decoded(part.prefix { $0 != "=" }).lowercased() == "__systemproperties"
        }
    }
}
