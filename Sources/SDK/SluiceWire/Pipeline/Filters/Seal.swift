internal import SluiceBase

/// Shows the final request to its sender, and waits, before its first byte is sent. A push records the request here,
/// and adds the request's id. If that fails, nothing is sent. For each attempt without a connection, or with an answer
/// that proves that nothing was done, it calls `unsealed`. The next attempt is then no repeat of one that may have
/// been done.
struct Seal: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response {
        let final = try await request.context.seal?(request) ?? request
        do {
            let response = try await next(final)
            if AnswerStatus.showsNothingDone(response.status) { request.context.unsealed?() }
            return response
        } catch let error as SluiceError where error.cause is RequestNotSent {
            request.context.unsealed?()
            throw error
        }
    }
}
