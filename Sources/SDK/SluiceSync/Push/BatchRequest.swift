package import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// One request for many (OData JSON Format 4.01, section 19): `POST tables/$batch`, with the answers in its response.
struct BatchRequest: Sendable {
    /// A request of the batch.
    struct Part: Sendable {
        /// The operation's id, also the part's id in the batch.
        var id: String
        /// The transaction group, applied all or nothing.
        var group: String?
        var request: SyncRequest
    }

    let parts: [Part]
    let endpoint: Endpoint

    /// Header fields that identify the user: only the batch has them, not its parts.
    private static let credentials: Set<String> = [
        "authorization", "x-zumo-auth", "x-zumo-application", "cookie", "proxy-authorization",
    ]
    /// Header fields that only a part can have.
    private static let ofPart: Set<String> = [
        "if-match", "if-none-match", "repeatability-request-id", "repeatability-first-sent", "content-encoding",
    ]

    /// Whether the request fits in a batch: it targets a table of the endpoint, with JSON or no body.
    static func canHold(_ request: SyncRequest, _ endpoint: Endpoint) -> Bool {
        guard endpoint.isOrigin(of: request.head), url(of: request, endpoint) != nil else { return false }
        return request.body.isEmpty || (try? request.body.json) != nil
    }

    /// Returns the user as text: requests of different users cannot share a batch.
    static func user(of request: SyncRequest) -> String {
        request.head.headerFields.filter { credentials.contains($0.name.canonicalName) }
            .map { "\($0.name.canonicalName): \($0.value)" }.sorted().joined(separator: "\n")
    }

    /// Returns the batch as a request.
    func request() -> SyncRequest {
        var head = HTTPRequest(
            method: .post, scheme: endpoint.scheme, authority: endpoint.authority,
            path: endpoint.target(["tables"]) + "/\(BatchDocument.name)")
        if let query = head.path?.firstIndex(of: "?") {
            // The endpoint's own query stands after the path.
            let target = endpoint.target(["tables"])
            head.path = "\(target[..<query])/\(BatchDocument.name)\(target[query...])"
        }
        // A field that only some parts have belongs to the application's change, and stays on the part.
        for field in parts.first?.request.head.headerFields ?? [:]
        where !Self.ofPart.contains(field.name.canonicalName)
            && parts.allSatisfy({ $0.request.head.headerFields[fields: field.name].contains(field) })
        {
            head.headerFields.append(field)
        }
        head.headerFields[.contentType] = "application/json"
        head.headerFields[.accept] = "application/json"
        var context = SyncRequest.Context(source: .push, action: .custom)
        if let first = parts.first { context.limits = first.request.context.limits }
        let notes = Dictionary(parts.map { ($0.id, $0.request.context.noteSent) }) { first, _ in first }
        context.noteSent = { id, sent in (id.flatMap { notes[$0] } ?? nil)?(nil, sent) }
        let created = Dictionary(parts.map { ($0.id, $0.request.context.noteCreated) }) { first, _ in first }
        context.noteCreated = { id, note in (id.flatMap { created[$0] } ?? nil)?(nil, note) }
        context.partsInDoubt = Set(parts.filter(\.request.context.mayBeApplied).map(\.id))
        context.partsRemade = Set(parts.filter(\.request.context.isRemade).map(\.id))
        context.partsUnderWay = Set(parts.filter(\.request.context.mayBeUnderWay).map(\.id))
        return SyncRequest(head, body: MessageBody(json: ["requests": JSON(parts.map(json))]), context: context)
    }

    private func json(_ part: Part) -> JSON {
        BatchDocument.request(
            part.id, group: part.group, part.request, url: Self.url(of: part.request, endpoint) ?? "",
            fields: part.request.head.headerFields.filter { !Self.credentials.contains($0.name.canonicalName) })
    }

    /// Returns the address relative to the endpoint's: `tables/todos/1`.
    private static func url(of request: SyncRequest, _ endpoint: Endpoint) -> String? {
        guard let path = request.head.path, path.hasPrefix("\(endpoint.path)/tables/") else { return nil }
        return String(path.dropFirst(endpoint.path.count + 1))
    }

    /// Returns each part's own answer. A part missing from the response fails, and its outcome is unknown.
    func answers(in response: SyncResponse) -> [String: Result<SyncResponse, any Error>] {
        let document = try? response.body.json
        guard (200..<300).contains(response.status), let elements = BatchDocument.answers(of: document) else {
            // Refused as a whole: each part gets this answer.
            if response.status >= 300 { return answers(.success(response)) }
            return answers(.failure(Self.broken("the answer to a batch holds no responses")))
        }
        var answers = answers(.failure(Self.broken("the answer to a batch leaves this request out")))
        var answered: Set<String> = []
        for (id, response) in elements {
            guard let id, answers[id] != nil else { continue }
            if !answered.insert(id).inserted {
                answers[id] = .failure(Self.broken("the answer to a batch answers this request twice"))
            } else if let response {
                answers[id] = .success(response)
            }
        }
        return answers
    }

    /// Returns the same answer for each part.
    func answers(_ answer: Result<SyncResponse, any Error>) -> [String: Result<SyncResponse, any Error>] {
        Dictionary(parts.map { ($0.id, answer) }) { first, _ in first }
    }

    private static func broken(_ reason: String) -> SluiceError { SluiceError(.brokenProtocol, reason) }
}

/// The server's support of batches, judged by the last one sent. It is kept for the context's life. While the server
/// refuses batches, only groups try them; after it has stored one as a record, nothing does.
package final class BatchSupport: Sendable {
    /// The conclusion from an answer to a batch.
    enum Verdict: Sendable {
        /// Nothing against batches.
        case taken
        /// The server refuses the address or the method.
        case unknown
        /// The server did something unknown with the batch.
        case mistaken
    }

    /// The header field in which a server announces the maximum of requests in a batch.
    package static let offerName = HTTPField.Name("X-Sluice-Batch")

    private struct State {
        var latest = Verdict.taken
        /// The maximum of requests in a batch announced by the server; nil before any announcement.
        var offered: Int?
    }

    private let state = Mutex(State())

    /// Returns the number of operations allowed in one request now: 1 if the server does not support batches.
    ///
    /// - Parameter wanted: ``SyncOptions/batchSize``.
    func size(_ wanted: Int?) -> Int {
        state.withLock { state in
            guard state.latest == .taken else { return 1 }
            if let wanted { return wanted }
            return state.offered ?? 1
        }
    }

    /// Notes an answer's announcement of batches.
    func noteOffer(in response: SyncResponse) {
        guard let name = Self.offerName, let text = response.head.headerFields[name], let count = Int(text), count > 0
        else { return }
        state.withLock { $0.offered = min(count, BatchDocument.mostParts) }
    }

    /// Whether a batch may be sent. A group is tried again after a refusal: it has no other way, and the server may
    /// support batches by now.
    func mayTake(group: Bool) -> Bool {
        let latest = state.withLock { $0.latest }
        return latest == .taken || (latest == .unknown && group)
    }

    /// Notes an answer to a batch, and returns the conclusion.
    func note(_ response: SyncResponse) -> Verdict {
        let isTaken = (200..<300).contains(response.status)
        let document = isTaken ? try? response.body.json : nil
        let verdict: Verdict =
            [400, 404, 405, 410, 415, 501].contains(response.status)
            ? .unknown : document?.kind == .object && document?["responses"] == nil ? .mistaken : .taken
        // A server that stores a batch as a record would do so each time; a gateway's page may be temporary.
        let isStored = response.status == 201 || document?["id"] != nil
        if isTaken || verdict != .taken {
            state.withLock { $0.latest = verdict == .mistaken && !isStored ? .unknown : verdict }
        }
        return verdict
    }

    /// Whether an answer to a whole batch says nothing about its parts, such as a conflict, a size or a missing record.
    /// That is each status of 4xx except the ones about the user or the server's state, which apply to each part.
    static func saysNothingOfParts(_ response: SyncResponse) -> Bool {
        (400..<500).contains(response.status) && ![402, 403].contains(response.status)
            && !AnswerStatus.isPassing(response.status)
    }
}
