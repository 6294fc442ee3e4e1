internal import HTTPTypes
internal import SluiceBase

/// Sends the user's token, and after a 401 the request once more with a new token. The token goes only to the
/// endpoint's own origin (scheme, host and port). A request with its own credential keeps it.
struct Authentication: Filter {
    let refresh: TokenRefresh
    let scheme: TokenScheme
    let endpoint: Endpoint
    let credentials: CredentialBook

    func handle(_ request: Request, next: Next) async throws -> Response {
        guard let field, endpoint.isOrigin(of: request.head), request.head.headerFields[field] == nil else {
            return try await next(request)
        }
        let token = try await provided(request) { try await refresh.current() }
        let response = try await next(try authorized(request, field, token))
        guard response.status == 401 else { return response }
        let fresh = try await provided(request) { try await refresh.token(inPlaceOf: token) }
        try Task.checkCancellation()
        guard let fresh, fresh != token else { return response }
        return try await next(try authorized(request, field, fresh))
    }

    private var field: HTTPField.Name? { scheme == .bearer ? .authorization : HTTPField.Name("X-ZUMO-AUTH") }

    /// Returns the provider's token. The provider's own errors become `unauthorized`.
    private func provided(_ request: Request, _ body: () async throws -> String?) async throws -> String? {
        do {
            return try await body()
        } catch let error where error is SluiceError || error is CancellationError {
            throw error
        } catch {
            throw SluiceError(
                .unauthorized, "the token provider failed", table: request.context.table,
                recordID: request.context.recordID, operationID: request.context.operationID, cause: error)
        }
    }

    private func authorized(_ request: Request, _ field: HTTPField.Name, _ token: String?) throws -> Request {
        guard let token else { return request }
        credentials.note(token: token)
        let value = scheme == .bearer ? "Bearer \(token)" : token
        guard HTTPField.isValidValue(value) else {
            throw SluiceError(.invalidArgument, "the token holds characters that a header field cannot")
        }
        var request = request
        request.head.headerFields[field] = value
        return request
    }
}
