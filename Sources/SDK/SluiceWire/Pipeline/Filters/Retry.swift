internal import HTTPTypes
internal import SluiceBase

/// The rules for sending a request again: the number of attempts and the pauses.
///
/// A request is sent again if it failed for the network (code `network` or `timeout`) or was answered 408, 429, 502,
/// 503 or 504. Reads always are, and so are pushes, because each carries an operation that the server's answer
/// identifies. Other requests are only if they cannot have had an effect (429, or no connection).
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of sends of a request; 1 means no repeats. Default 4.
    public var attempts: Int
    /// The longest pause before the second attempt; it doubles with each further one. Default 0.5 s.
    public var firstPause: Duration
    /// The longest pause before any attempt. If a server's `Retry-After` asks for more, its answer is returned at
    /// once, for a caller that can wait that long: see ``SyncScheduler``. Default 30 s.
    public var maximumPause: Duration
    /// The number of repeats that a client may make in addition to a tenth of its answered requests. So when a server
    /// fails altogether, each request is soon sent only once. Default 20.
    public var budget: Int

    /// A policy.
    public init(
        attempts: Int = 4, firstPause: Duration = .milliseconds(500), maximumPause: Duration = .seconds(30),
        budget: Int = 20
    ) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.maximumPause = maximumPause
        self.budget = budget
    }

    /// A policy that sends every request once.
    public static let never = RetryPolicy(attempts: 1)

    /// Returns the pause after an attempt (0 is the first). It is a random part, at least half, of a pause that
    /// doubles each time, so that many clients do not come back at once. It is no shorter than the server asked for.
    package func pause(after attempt: Int, random: Double, asked: Duration?) -> Duration {
        let doubled = firstPause * (1 << min(max(attempt, 0), 20))
        let limit = max(.zero, min(doubled, maximumPause))
        let jittered = limit * (0.5 + 0.5 * min(max(random, 0), 1))
        return min(max(jittered, asked ?? .zero), max(.zero, maximumPause))
    }
}

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
