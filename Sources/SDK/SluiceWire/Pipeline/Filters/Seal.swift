internal import SluiceBase

/// Shows the final request to its sender, and waits, before its first byte is sent: a push records here what
/// goes out, and puts the request's id on it. If that fails, nothing is sent. Where no connection came about, or the
/// answer shows that nothing was done, it says so, attempt by attempt: the next one is then no repeat of something that
/// may have been done.
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
