internal import HTTPTypes
internal import SluiceBase
internal import SluiceSync
internal import SluiceWire
internal import Synchronization

/// The outer end of a probe's requests: keeps its bounds, and sees each exchange as it is on the wire.
///
/// A probe that was not told to write gets nothing but reads past it, whatever asks for more.
final class ProbeTransport: Transport {
    /// The observations about all exchanges.
    struct Seen: Sendable {
        var requests = 0
        /// The latest difference of the server's `Date` from this machine's clock, in seconds; nil without a usable one.
        var clockError: Int64?
        /// Whether an answer to a read had none.
        var lacksDate = false
        /// Whether an answer had a credential of its request.
        var echoesCredentials = false
        /// The links of pages that name another origin, that lead to their own page, or to another resource.
        var foreignLink: String?
        var circularLink: String?
        var lostLink: String?
        var slowest: (path: String, ticks: Int64)?
        /// The size that the server announces for batches.
        var batchOffer: Int?
        /// The statuses of the answers to batches.
        var batches: [Int] = []
    }

    /// A mark in a body in place of which half an emoji goes out.
    static let halfEmojiMark = "sluice-half-an-emoji"

    private struct State {
        var seen = Seen()
        var bounds: ProbeBounds
        var isOver = false
    }

    private let inner: any Transport
    private let endpoint: Endpoint
    private let mayWrite: Bool
    /// Whether links are read by an adapter, which knows their forms.
    private let isService: Bool
    private let environment: SyncEnvironment
    private let start: Timestamp
    private let state: Mutex<State>

    init(
        _ inner: any Transport, endpoint: Endpoint, bounds: ProbeBounds, mayWrite: Bool, isService: Bool,
        environment: SyncEnvironment
    ) {
        self.inner = inner
        self.endpoint = endpoint
        state = Mutex(State(bounds: bounds))
        self.mayWrite = mayWrite
        self.isService = isService
        self.environment = environment
        start = environment.steady()
    }

    var seen: Seen { state.withLock { $0.seen } }
    /// Whether a bound was reached, so that the probe has to end.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Allows some more requests, by which the probe's own rows are removed.
    func allowCleaning() {
        state.withLock { state in
            state.bounds.requests = state.seen.requests + 60
            state.bounds.duration = start.duration(to: environment.steady()) + .seconds(30)
        }
    }

    /// - Throws: ``SluiceError`` of code `operationRefused` for a change that the probe was not told to make,
    ///   `limitReached` past its bounds, and those of the inner transport.
    func send(_ request: SyncRequest) async throws -> SyncResponse {
        guard mayWrite || [.get, .head].contains(request.head.method) else {
            throw SluiceError(.operationRefused, "the probe was not told to write")
        }
        let asked = environment.steady()
        try state.withLock { state in
            state.seen.requests += 1
            let isLate = start.duration(to: asked) > state.bounds.duration
            guard state.seen.requests <= state.bounds.requests, !isLate else {
                state.isOver = true
                throw SluiceError(.limitReached, "the probe's bounds of requests or time are reached")
            }
        }
        let response = try await inner.send(Self.breaking(request))
        note(response, to: request, ticks: environment.steady().ticks - asked.ticks)
        return response
    }

    private func note(_ response: SyncResponse, to request: SyncRequest, ticks: Int64) {
        let path = request.head.path ?? ""
        let links = PageLinks(response, to: path, endpoint: endpoint, isService: isService)
        let date = response.head.headerFields[.date].flatMap { HTTPDate.timestamp($0) }
        let now = environment.now()
        state.withLock { state in
            if let date {
                state.seen.clockError = (date.ticks - now.ticks) / Timestamp.ticksPerSecond
            } else if request.head.method == .get {
                state.seen.lacksDate = true
            }
            if Self.echoes(response, request) { state.seen.echoesCredentials = true }
            state.seen.foreignLink = state.seen.foreignLink ?? links.foreign
            state.seen.circularLink = state.seen.circularLink ?? links.circular
            state.seen.lostLink = state.seen.lostLink ?? links.lost
            if ticks > state.seen.slowest?.ticks ?? 0 {
                state.seen.slowest = (String(path.prefix { $0 != "?" }), ticks)
            }
            if path.prefix(while: { $0 != "?" }).hasSuffix("/$batch") { state.seen.batches.append(response.status) }
            if let offer = BatchSupport.offerName.flatMap({ response.head.headerFields[$0] }) {
                state.seen.batchOffer = Int(offer)
            }
        }
    }

    /// Whether the answer repeats the value of a field of its request that holds a credential.
    private static func echoes(_ response: SyncResponse, _ request: SyncRequest) -> Bool {
        let secrets = request.head.headerFields.filter { CredentialNames.isCredential($0.name) }
            .compactMap { field in field.value.split(separator: " ").last.map(String.init) }.filter {
                $0.utf8.count >= 8
            }
        guard !secrets.isEmpty else { return false }
        let text = String(decoding: response.body.bytes, as: UTF8.self)
        return secrets.contains { secret in
            text.contains(secret) || response.head.headerFields.contains { $0.value.contains(secret) }
        }
    }

    /// Puts half of a surrogate pair in the place of the mark.
    private static func breaking(_ request: SyncRequest) -> SyncRequest {
        guard !request.body.isEmpty, let start = request.body.bytes.firstRange(of: Array(halfEmojiMark.utf8)) else {
            return request
        }
        var bytes = request.body.bytes
        bytes.replaceSubrange(start, with: Array("\\ud83d".utf8))
        var request = request
        request.body = MessageBody(bytes: bytes)
        return request
    }
}

/// The links to next pages in an answer, as far as a client could go astray by them.
struct PageLinks {
    var foreign: String?
    var circular: String?
    var lost: String?

    private static let names = [
        "nextLink", "@odata.nextLink", "@nextLink", "__next", "@odata.deltaLink", "@deltaLink", "__delta",
    ]

    init(_ response: SyncResponse, to path: String, endpoint: Endpoint, isService: Bool) {
        guard response.status == 200 else { return }
        var links = LinkHeader.next(in: response).map { [$0] } ?? []
        let text = response.body.bytes
        // A link is a member of the answer itself, or of v2's `d`.
        if text.first != UInt8(ascii: "["), let document = try? JSON(parsing: text) {
            for object in [document, document["d"] ?? .null] {
                links += Self.names.compactMap { object[$0]?.string }
            }
        }
        for link in links {
            if Self.names(another: endpoint, link) { foreign = link }
            if !isService, case .address(let linked, _) = PageLink(link).form {
                if PageLink(link).target(from: path, endpoint: endpoint) == path { circular = link }
                if !PageLink.isSame(linked, path.prefix { $0 != "?" }, below: endpoint.path) { lost = link }
            }
        }
    }

    /// Whether the link begins with an origin other than the endpoint's.
    private static func names(another endpoint: Endpoint, _ link: String) -> Bool {
        guard let separator = link.firstRange(of: "://"), !link[..<separator.lowerBound].contains("=") else {
            return false
        }
        let authority = link[separator.upperBound...].prefix { $0 != "/" && $0 != "?" }
        return !endpoint.isOrigin(scheme: String(link[..<separator.lowerBound]), authority: String(authority))
    }
}
