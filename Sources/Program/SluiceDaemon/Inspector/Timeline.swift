internal import HTTPTypes
internal import Sluice
internal import Synchronization

/// The newest exchanges with servers, in memory: endpoint, time, duration and size. The values of queries and the
/// bodies are left out unless the configuration asks for them. Header fields are never kept, because they hold
/// credentials.
final class Timeline: Sendable {
    /// An exchange that ended.
    private struct Exchange {
        var sequence = 0
        var json: JSON
    }

    private static let most = 500
    private static let mostBody = 2048

    private let environment: SyncEnvironment
    private let hasBodies: Bool
    private let exchanges = Mutex<(last: Int, kept: [Exchange])>((0, []))

    init(environment: SyncEnvironment, hasBodies: Bool) {
        (self.environment, self.hasBodies) = (environment, hasBodies)
    }

    /// A filter that notes each request that leaves, and its answer.
    func filter(endpoint: String) -> any RequestFilter {
        TimelineFilter(timeline: self, endpoint: endpoint, environment: environment)
    }

    /// The exchanges after a number, the oldest first.
    func json(after sequence: Int) -> JSON {
        let kept = exchanges.withLock { $0.kept.filter { $0.sequence > sequence } }
        return [
            "bodies": JSON(hasBodies),
            "exchanges": JSON(kept.map { $0.json.setting(["sequence": JSON($0.sequence)]) }),
        ]
    }

    fileprivate func add(
        _ request: SyncRequest, to endpoint: String, at: Timestamp, took: Duration,
        _ result: Result<SyncResponse, any Error>
    ) {
        let context = request.context
        var json: JSON = [
            "endpoint": JSON(endpoint), "at": JSON(at.description), "method": JSON(request.head.method.rawValue),
            "path": JSON(Self.path(request.head.path ?? "/", isWhole: hasBodies)),
            "action": JSON(context.action.rawValue), "attempt": JSON(context.attempt),
            "milliseconds": JSON(Double(took.wholeNanoseconds) / 1e6),
        ]
        json["table"] = context.table.map { JSON($0) }
        json["record"] = context.recordID.map { JSON($0) }
        json["operation"] = context.operationID.map { JSON($0) }
        json["sent"] = request.body.untouchedBytes.map { JSON($0.count) }
        if hasBodies { json["request"] = Self.beginning(request.body) }
        switch result {
        case .success(let response):
            json["status"] = JSON(response.status)
            json["received"] = response.body.untouchedBytes.map { JSON($0.count) }
            if hasBodies { json["response"] = Self.beginning(response.body) }
        case .failure(let error):
            json["error"] = JSON((error as? SluiceError)?.code.description ?? "failed")
        }
        exchanges.withLock { exchanges in
            exchanges.last += 1
            exchanges.kept.append(Exchange(sequence: exchanges.last, json: json))
            if exchanges.kept.count > Self.most { exchanges.kept.removeFirst() }
        }
    }

    /// Returns the path without the values of the query's parameters, except numbers.
    static func path(_ path: String, isWhole: Bool) -> String {
        guard !isWhole, let mark = path.firstIndex(of: "?") else { return path }
        let parts = path[path.index(after: mark)...].split(separator: "&").map { part -> String in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, !pair[1].allSatisfy({ $0.isASCII && $0.isNumber }) else { return String(part) }
            return "\(pair[0])=…"
        }
        return path[..<mark] + "?" + parts.joined(separator: "&")
    }

    private static func beginning(_ body: MessageBody) -> JSON? {
        guard let bytes = body.untouchedBytes, !bytes.isEmpty else { return nil }
        return JSON(String(decoding: bytes.prefix(mostBody), as: UTF8.self) + (bytes.count > mostBody ? "…" : ""))
    }
}

private struct TimelineFilter: PageFilter {
    let timeline: Timeline
    let endpoint: String
    let environment: SyncEnvironment

    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers {
        let (at, start) = (environment.now(), ContinuousClock.now)
        let answers = await next(page)
        for (request, answer) in zip(page.requests, answers) {
            timeline.add(request, to: endpoint, at: at, took: start.duration(to: .now), answer)
        }
        return answers
    }
}
