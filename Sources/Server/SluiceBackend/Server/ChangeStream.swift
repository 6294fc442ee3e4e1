internal import HTTPTypes
internal import SluiceCore

/// The changes of a table as server-sent events: `GET /tables/NAME/changes` with `Accept: text/event-stream`.
///
/// Each event is a page of changes, the same as in a list with a change token, for the same user and by the same rules.
/// Its id is the token, so that a returning client continues with `Last-Event-ID`.
struct ChangeStream: Sendable {
    /// The answer to a request for a stream.
    enum Answer: Sendable {
        /// The stream's first bytes; ``next(_:)`` returns the rest.
        case stream(first: [UInt8], ChangeStream)
        /// The request is refused.
        case refusal(SyncResponse)
    }

    private static let name = "changes"
    /// The time that a stream waits for an unavailable database.
    private static let pause = Duration.seconds(1)

    let table: String
    private let backend: Backend
    private let head: HTTPRequest
    private let parameters: [(name: String, value: String)]
    private var token: String
    private var generation: Int

    /// Whether a request asks for a stream. A record may have the id `changes`, so `Accept` must name the form.
    static func isAsked(by head: HTTPRequest) -> Bool {
        guard head.method == .get else { return false }
        let segments = RequestTarget(head).segments
        guard segments.count == 3, segments[0] == "tables", segments[2] == name else { return false }
        return head.headerFields[values: .accept].contains { $0.lowercased().contains("text/event-stream") }
    }

    /// Begins a stream after the event in `Last-Event-ID` or `$deltatoken`, or else now.
    static func begin(_ head: HTTPRequest, _ backend: Backend) async -> Answer {
        let target = RequestTarget(head)
        let generation = backend.served.signals.generation(of: target.segments[1])
        var stream = ChangeStream(
            table: target.segments[1], backend: backend, head: head,
            parameters: target.parameters.filter { $0.name.lowercased() != "$deltatoken" }, token: "",
            generation: generation)
        let known =
            HTTPField.Name("Last-Event-ID").flatMap { head.headerFields[$0] } ?? target.values("$deltatoken").first
        let response = await stream.list(token: known, isFirst: known == nil)
        guard response.status == 200, let token = Self.token(of: response) else {
            return .refusal(response.status == 200 ? Self.unsupported(response) : response)
        }
        stream.token = token
        let page = known == nil ? [] : stream.event(response)
        return .stream(first: page + Self.bytes("event: ready\nid: \(token)\ndata: {}\n\n"), stream)
    }

    /// Returns the next bytes: changes, or a heartbeat; nil at the end.
    mutating func next() async -> [UInt8]? {
        while !Task.isCancelled {
            let seen = backend.served.signals.generation(of: table)
            let response = await list(token: token, isFirst: false)
            if response.status == 503 {
                // The database is unavailable or busy: the stream waits for it.
                guard (try? await Pause.wait(for: Self.pause)) != nil else { return nil }
                return sign
            }
            guard response.status == 200, let token = Self.token(of: response) else {
                // The token is no longer valid, or the user has lost access: the client's next request gets the reason.
                return generation < 0 ? nil : end(response)
            }
            let event = token == self.token ? [] : event(response)
            self.token = token
            if !event.isEmpty { return event }
            generation = seen
            switch await backend.served.signals.wait(for: table, since: seen) {
            case .changed: continue
            case .heartbeat: return sign
            case .ended: return nil
            }
        }
        return nil
    }

    /// A heartbeat.
    private var sign: [UInt8] { Self.bytes(": \(backend.served.environment.now())\n\n") }

    private mutating func end(_ response: SyncResponse) -> [UInt8] {
        generation = -1
        return Self.bytes("event: end\ndata: {\"status\":\(response.status)}\n\n")
    }

    /// Reads a page with an ordinary list request, so that users, access, views and hooks apply.
    private func list(token: String?, isFirst: Bool) async -> SyncResponse {
        var head = head
        var parameters = parameters
        if let token { parameters.append((name: "$deltatoken", value: token)) }
        if isFirst, let latest = await backend.served.newestChange(of: table) {
            // The condition on the time makes the run begin with the next commit.
            let wire = try? ServerWire.of(head, RequestTarget(head))
            let column = wire?.names.wire(SystemColumn.updatedAt)?.text ?? SystemColumn.updatedAt.text
            let condition = "\(column) gt cast(\(latest),Edm.DateTimeOffset)"
            let index = parameters.firstIndex { $0.name.lowercased() == "$filter" }
            let filter = index.map { "(\(parameters[$0].value)) and \(condition)" } ?? condition
            if let index {
                parameters[index].value = filter
            } else {
                parameters.append((name: "$filter", value: filter))
            }
        }
        let text = parameters.map { "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))" }
            .joined(separator: "&")
        let path = RequestTarget(head).path.dropLast("/\(Self.name)".count)
        head.path = text.isEmpty ? String(path) : "\(path)?\(text)"
        if let prefer = HTTPField.Name("Prefer") { head.headerFields[prefer] = "odata.track-changes" }
        // The read follows a commit and must see it.
        return await backend.served.turns.take { [head] in
            await ReadFloor.$isLatest.withValue(true) { await backend.respond(to: SyncRequest(head)) }
        }
    }

    /// Returns a page as an event; empty for a page without rows.
    private func event(_ response: SyncResponse) -> [UInt8] {
        guard let token = Self.token(of: response), let body = try? JSON(parsing: response.body.bytes) else {
            return []
        }
        let rows = body.kind == .array ? body : body["items"] ?? body["results"] ?? .array
        if rows.count == 0 { return [] }
        return Self.bytes("event: changes\nid: \(token)\ndata: ") + rows.bytes() + Self.bytes("\n\n")
    }

    private static func token(of response: SyncResponse) -> String? {
        HTTPField.Name("X-Sluice-Delta-Token").flatMap { response.head.headerFields[$0] }
    }

    private static func unsupported(_ response: SyncResponse) -> SyncResponse {
        var response = response
        response.head.status = .init(code: 501)
        response.body = MessageBody(
            bytes: bytes(#"{"error":"this list has no change tokens, so its changes cannot be followed"}"#))
        return response
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}
