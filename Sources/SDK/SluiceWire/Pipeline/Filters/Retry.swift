internal import HTTPTypes
internal import SluiceBase

/// Sends a request again after a temporary failure: see ``RetryPolicy``.
struct Retry: Filter {
    let policy: RetryPolicy
    let environment: SyncEnvironment
    let pace: ServerPace

    func handle(_ request: Request, next: Next) async throws -> Response {
        var request = request
        var attempt = 0
        while true {
            let isLast = attempt + 1 >= policy.attempts
            let pause: Duration
            do {
                let response = try await next(request)
                let asked = pace.note(response, environment)
                guard !isLast, repeats(response, to: request), asked ?? .zero <= policy.maximumPause, pace.takeRepeat()
                else { return response }
                pause = policy.pause(after: attempt, random: environment.random(), asked: asked)
            } catch let error as SluiceError where !isLast && repeats(error, of: request) {
                guard pace.takeRepeat() else { throw error }
                pause = policy.pause(after: attempt, random: environment.random(), asked: nil)
            }
            try await environment.sleep(pause)
            attempt += 1
            request.context.attempt += 1
        }
    }

    /// Whether sending the request twice has the same effect as sending it once. A push recognises its own effect by
    /// the operation's id, the record's id and its version.
    private func isRepeatable(_ request: Request) -> Bool {
        switch request.context.action {
        case .read, .lookup: return true
        case .custom where request.head.method == .get || request.head.method == .head: return true
        default: return request.context.source == .push && request.context.operationID != nil
        }
    }

    private func repeats(_ response: Response, to request: Request) -> Bool {
        switch response.status {
        // Refused for the rate of requests: the server has done nothing.
        case 429: true
        case 408, 502, 503, 504: isRepeatable(request)
        default: false
        }
    }

    private func repeats(_ error: SluiceError, of request: Request) -> Bool {
        if error.code == .network && error.cause is RequestNotSent { return true }
        return error.code.isNetwork && isRepeatable(request)
    }
}
