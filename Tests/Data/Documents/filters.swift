import Sluice

struct RequestLog: RequestFilter {
    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        try await next(request)
    }
}

struct Session: Sendable {
    var token: String { get async { "t" } }
    var expiry: Timestamp? { get async { nil } }
    func renew() async throws -> String? { nil }
}
