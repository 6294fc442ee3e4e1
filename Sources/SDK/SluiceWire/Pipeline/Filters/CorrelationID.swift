internal import HTTPTypes

/// Gives every request an id in `X-Correlation-ID`, which connects logs of client and server. All attempts of a
/// request carry one id; a request that has one keeps it.
struct CorrelationID: Filter {
    static let field = HTTPField.Name("X-Correlation-ID")
    let makeID: @Sendable () -> String

    func handle(_ request: Request, next: Next) async throws -> Response {
        guard let field = Self.field, request.head.headerFields[field] == nil else { return try await next(request) }
        var request = request
        request.head.headerFields[field] = makeID()
        return try await next(request)
    }
}
