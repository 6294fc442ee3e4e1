internal import HTTPTypes
internal import SluiceBase

/// Sends the user's token, and after a 401 the request once more with a new token; those of a page go once more together. The token goes only to the
/// endpoint's own origin (scheme, host and port). A request with its own credential keeps it.
struct Authentication: PageFilter {
    let refresh: TokenRefresh
    let scheme: ClientOptions.TokenScheme
    let endpoint: Endpoint
    let credentials: CredentialBook

    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers {
        guard let field else { return await next(page) }
        let own = page.requests.indices.filter {
            endpoint.isOrigin(of: page.requests[$0].head) && page.requests[$0].head.headerFields[field] == nil
        }
        guard let first = own.first else { return await next(page) }
        let context = page.requests[first].context
        var sent = page
        let token: String?
        do {
            token = try await provided(context) { try await refresh.current() }
            for index in own { sent.requests[index] = try authorized(page.requests[index], field, token) }
        } catch {
            return page.requests.map { _ in .failure(error) }
        }
        var answers = await next(sent)
        let refused = own.filter {
            if case .success(let response) = answers[$0] { response.status == 401 } else { false }
        }
        guard !refused.isEmpty else { return answers }
        var again = page.taking(refused)
        do {
            let fresh = try await provided(context) { try await refresh.token(inPlaceOf: token) }
            try Task.checkCancellation()
            guard let fresh, fresh != token else { return answers }
            again.requests = try again.requests.map { try authorized($0, field, fresh) }
        } catch {
            for index in refused { answers[index] = .failure(error) }
            return answers
        }
        for (index, answer) in zip(refused, await next(again)) { answers[index] = answer }
        return answers
    }

    private var field: HTTPField.Name? { scheme == .zumo ? HTTPField.Name("X-ZUMO-AUTH") : .authorization }

    /// Returns the provider's token. The provider's own errors become `unauthorized`.
    private func provided(_ context: SyncRequest.Context, _ body: () async throws -> String?) async throws -> String? {
        do {
            return try await body()
        } catch let error where error is SluiceError || error is CancellationError {
            throw error
        } catch {
            throw SluiceError(
                .unauthorized, "the token provider failed", table: context.table, recordID: context.recordID,
                operationID: context.operationID, cause: error)
        }
    }

    private func authorized(_ request: SyncRequest, _ field: HTTPField.Name, _ token: String?) throws -> SyncRequest {
        guard let token else { return request }
        if scheme == .basic, !token.contains(":") {
            throw SluiceError(.invalidArgument, "a token for HTTP Basic is name:password (RFC 7617)")
        }
        credentials.note(token: token)
        let value =
            switch scheme {
            case .zumo: token
            case .bearer: "Bearer \(token)"
            case .basic: "Basic \(Base64.text(token.utf8))"
            }
        // Neither the password alone nor the encoded pair may stand in an error.
        if scheme == .basic {
            for part in [value.dropFirst(6), token.drop { $0 != ":" }.dropFirst()] where !part.isEmpty {
                credentials.note(token: String(part))
            }
        }
        guard HTTPField.isValidValue(value) else {
            throw SluiceError(.invalidArgument, "the token holds characters that a header field cannot")
        }
        var request = request
        request.head.headerFields[field] = value
        return request
    }
}
