internal import SluiceBase

/// Shows the final request to its sender, and waits, before its first byte is sent: a push records here what
/// goes out, and puts the request's id on it. If that fails, nothing is sent. Where no connection came about it says
/// so, attempt by attempt: a server that was never reached has done nothing.
struct Seal: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response {
        let final = try await request.context.seal?(request) ?? request
        do {
            return try await next(final)
        } catch let error as SluiceError where error.cause is RequestNotSent {
            request.context.unsealed?()
            throw error
        }
    }
}
