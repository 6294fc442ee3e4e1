/// Shows the final request to whoever sends it, and waits, before its first byte is sent: a push records here what
/// goes out. If that fails, nothing is sent.
struct Seal: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response {
        try await request.context.seal?(request)
        return try await next(request)
    }
}
