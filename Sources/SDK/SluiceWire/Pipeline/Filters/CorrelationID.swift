internal import HTTPTypes

/// Gives every request an id in `X-Correlation-ID`, which connects logs of client and server. All attempts of a
/// request carry one id; a request that has one keeps it.
struct CorrelationID: RequestTransform {
    static let field = HTTPField.Name("X-Correlation-ID")
    let makeID: @Sendable () -> String

    func request(_ request: SyncRequest) -> SyncRequest {
        guard let field = Self.field, request.head.headerFields[field] == nil else { return request }
        var request = request
        request.head.headerFields[field] = makeID()
        return request
    }
}
