import Sluice

struct RequestLog: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response { try await next(request) }
}

struct Session: Sendable {
    var token: String { get async { "t" } }
    var expiry: Timestamp? { get async { nil } }
    func renew() async throws -> String? { nil }
}
