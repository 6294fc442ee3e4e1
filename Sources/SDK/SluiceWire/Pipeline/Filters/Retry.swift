internal import HTTPTypes
internal import SluiceBase

/// Sends a request again after a temporary failure: see ``RetryPolicy``. Those of a page that failed go again together;
/// a group goes again whole or not at all.
struct Retry: PageFilter {
    let policy: RetryPolicy
    let environment: SyncEnvironment
    let pace: ServerPace

    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers {
        var page = page
        var answers: RequestPage.Answers = []
        var due = Array(page.requests.indices)
        for attempt in 0... {
            let isLast = attempt + 1 >= policy.attempts
            let came = await next(page.taking(due))
            if attempt == 0 { answers = came }
            for (index, answer) in zip(due, came) { answers[index] = answer }
            var (again, longest): ([Int], Duration?) = ([], nil)
            for index in due {
                let (repeats, asked) = judge(answers[index], to: page.requests[index])
                guard repeats else { continue }
                again.append(index)
                longest = [longest, asked].compactMap(\.self).max()
            }
            if isLast { break }
            // A group is one request; the others are sent one by one, as far as the budget goes.
            if page.group == nil {
                again = Array(again.prefix { _ in pace.takeRepeat() })
            } else if !page.taking(again).isWhole || !pace.takeRepeat() {
                break
            }
            if again.isEmpty { break }
            do {
                try await environment.sleep(policy.pause(after: attempt, random: environment.random(), asked: longest))
            } catch {
                for index in again { answers[index] = .failure(error) }
                break
            }
            for index in again { page.requests[index].context.attempt += 1 }
            due = again
        }
        return answers
    }

    /// Returns whether the answer calls for a repeat, and the pause that it asks for.
    private func judge(
        _ answer: Result<SyncResponse, any Error>, to request: SyncRequest
    ) -> (repeats: Bool, asked: Duration?) {
        switch answer {
        case .success(let response):
            let asked = pace.note(response, environment)
            return (asked ?? .zero <= policy.maximumPause && repeats(response, to: request), asked)
        case .failure(let error as SluiceError): return (repeats(error, of: request), nil)
        case .failure: return (false, nil)
        }
    }

    /// Whether sending the request twice has the same effect as sending it once. A push recognises its own effect by
    /// the operation's id, the record's id and its version.
    private func isRepeatable(_ request: SyncRequest) -> Bool {
        switch request.context.action {
        case .read, .lookup: return true
        case .custom where request.head.method == .get || request.head.method == .head: return true
        default: return request.context.source == .push && request.context.operationID != nil
        }
    }

    private func repeats(_ response: SyncResponse, to request: SyncRequest) -> Bool {
        switch response.status {
        // Refused for the rate of requests: the server has done nothing.
        case 429: true
        case 408, 502, 503, 504: isRepeatable(request)
        default: false
        }
    }

    private func repeats(_ error: SluiceError, of request: SyncRequest) -> Bool {
        if error.code == .network && error.cause is RequestNotSent { return true }
        return error.code.isNetwork && isRepeatable(request)
    }
}
