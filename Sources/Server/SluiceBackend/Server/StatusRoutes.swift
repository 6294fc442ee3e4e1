internal import HTTPTypes
internal import SluiceCore

/// The paths for balancers and monitoring: `/health` reports that the process answers, `/ready` that the database
/// answers and no shutdown has begun, and `/metrics` the counters. They do not count towards a rate limit.
struct StatusRoutes: Sendable {
    let readiness: Readiness
    let streams: OpenStreams
    /// The metrics as a text; nil if they are not served.
    let metrics: (@Sendable () -> String)?

    /// Returns the answer; nil for another path.
    func reply(to head: HTTPRequest) async -> SyncResponse? {
        guard [.get, .head].contains(head.method), var response = await response(to: head) else { return nil }
        if head.method == .head { response.body = .empty }
        return response
    }

    private func response(to head: HTTPRequest) async -> SyncResponse? {
        switch (head.path ?? "").prefix(while: { $0 != "?" }) {
        case "/health": return Self.state("ok", .ok)
        case "/ready":
            guard !streams.hasEnded else { return Self.state("ending", .serviceUnavailable) }
            return await readiness.isReady()
                ? Self.state("ready", .ok) : Self.state("the database does not answer", .serviceUnavailable)
        case "/metrics":
            return metrics.map { metrics in
                Reply(.ok).response(
                    MessageBody(bytes: Array(metrics().utf8)), type: "text/plain; version=0.0.4; charset=utf-8")
            }
        default: return nil
        }
    }

    private static func state(_ state: String, _ status: HTTPResponse.Status) -> SyncResponse {
        var reply = Reply(status, body: ["status": JSON(state)])
        if status == .serviceUnavailable { reply.headers[.retryAfter] = "1" }
        return reply.response
    }
}

/// Checks that the database answers. All callers share one query at a time.
actor Readiness {
    /// The longest wait for an answer, and the time that an answer stays valid.
    private static let patience = Duration.seconds(2)
    private static let age = Duration.seconds(1)
    private static let look = Duration.milliseconds(20)

    private let database: any Storage
    private var isAsking = false
    private var answer: (isReady: Bool, at: ContinuousClock.Instant)?

    init(_ database: any Storage) { self.database = database }

    /// Whether the database has answered recently, or does in time.
    func isReady() async -> Bool {
        let begun = ContinuousClock.now
        if !isAsking, answer.map({ $0.at.duration(to: begun) > Self.age }) ?? true {
            isAsking = true
            Task { await ask() }
        }
        while isAsking, begun.duration(to: .now) < Self.patience {
            guard (try? await Task.sleep(for: Self.look)) != nil else { return false }
        }
        return !isAsking && answer?.isReady == true
    }

    private func ask() async {
        let found = try? await database.read { try BackendCatalog.identity($0) }
        answer = (found != nil, .now)
        isAsking = false
    }
}
