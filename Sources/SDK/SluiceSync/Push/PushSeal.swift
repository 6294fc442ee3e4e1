internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// The innermost filter of a push: it records what goes out before the first byte, all requests of a page in one
/// transaction, and gives each its id. If that fails, nothing is sent. For an attempt without a connection, or with an
/// answer that proves that nothing was done, the next attempt is no repeat of one that may have been done.
final class PushSeal: PageFilter {
    /// An operation while its request is under way.
    struct Flight: Sendable {
        var item: PushItem
        /// The body before the filters.
        let body: JSON
        /// The earlier send to repeat, to learn its outcome; nil for the operation itself.
        let repeated: SentBody?
        /// The number of seals.
        fileprivate(set) var count = 0
        /// Whether the last attempt is known not to have reached the server.
        fileprivate var wasUnsent = false
        /// Whether an attempt before the last may have reached it.
        private var wasSentBefore = false

        init(_ item: PushItem, body: JSON = .null, repeating repeated: SentBody? = nil) {
            (self.item, self.body, self.repeated) = (item, body, repeated)
        }

        /// Whether any attempt may have reached the server.
        var wasSent: Bool { wasSentBefore || (count > 0 && !wasUnsent) }

        fileprivate mutating func wasSealed(as operation: TableOperation) {
            wasSentBefore = wasSent
            item.operation = operation
            count += 1
            wasUnsent = false
        }
    }

    private let store: any LocalStore
    private let committer: PushCommitter
    private let endpoint: Endpoint
    /// Whether an adapter reports the requests that it actually sends.
    private let isAdapted: Bool
    private let flights = Mutex<[String: Flight]>([:])

    init(store: any LocalStore, committer: PushCommitter, endpoint: Endpoint, isAdapted: Bool) {
        self.store = store
        self.committer = committer
        self.endpoint = endpoint
        self.isAdapted = isAdapted
    }

    /// Begins the flight of an operation, and marks its request.
    func begin(_ flight: Flight, _ request: inout SyncRequest) {
        let id = flight.item.operation.id
        flights.withLock { $0[id] = flight }
        request.context.member = id
        request.context.noteSent = { [weak self] _, sent in self?.change(id) { $0.item.request = sent } }
        request.context.noteCreated = { [weak self] _, note in self?.change(id) { $0.item.created = note } }
    }

    /// Ends the flight of an operation.
    func end(_ id: String) -> Flight? { flights.withLock { $0.removeValue(forKey: id) } }

    private func change(_ id: String, _ change: (inout Flight) -> Void) {
        flights.withLock { flights in
            guard var flight = flights[id] else { return }
            change(&flight)
            flights[id] = flight
        }
    }

    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers {
        if !page.isWhole { return page.requests.map { _ in .skipped } }
        let under = flights.withLock { flights in
            page.requests.map { request in request.context.member.flatMap { flights[$0] } }
        }
        guard under.contains(where: { $0 != nil }) else { return await next(page) }
        let sealed: [Sealed]
        do {
            sealed = try await store.write(at: .sealed, committer.environment) { writer in
                let sealed = try zip(page.requests, under).map { try self.seal($0, $1, in: writer) }
                // A group is sealed whole or not at all.
                if page.group != nil, sealed.contains(where: \.isRefused) {
                    throw Refused(places: sealed.map(\.isRefused))
                }
                return sealed
            }
        } catch let error as Refused {
            return error.places.map { $0 ? .failure(SealRefused()) : .skipped }
        } catch {
            return page.requests.map { _ in .failure(error) }
        }
        return await send(page, sealed, next)
    }

    private func send(
        _ page: RequestPage, _ sealed: [Sealed], _ next: RequestPage.Next
    ) async -> RequestPage.Answers {
        var (outgoing, places): ([SyncRequest], [Int]) = ([], [])
        for (place, one) in sealed.enumerated() {
            guard let request = one.request else { continue }
            outgoing.append(request)
            places.append(place)
            guard let operation = one.operation else { continue }
            change(operation.id) { flight in
                flight.wasSealed(as: operation)
                flight.item.request = isAdapted ? nil : SyncRequest.Sent(request, to: endpoint)
            }
        }
        var answers: RequestPage.Answers = page.requests.map { _ in .failure(SealRefused()) }
        let came = outgoing.isEmpty ? [] : await next(RequestPage(outgoing, group: page.group))
        // A success beside parts that count as skipped contradicts them: a proxy may have sent the group twice.
        let mayBeDone = page.group != nil && came.contains { $0.isSuccess }
        for (place, answer) in zip(places, came) {
            answers[place] = answer
            guard let id = sealed[place].operation?.id,
                answer.showsNothingDone || (answer.isSkipped && !mayBeDone)
            else { continue }
            change(id) { $0.wasUnsent = true }
        }
        return answers
    }

    /// A request as it goes out; none if it is refused, and no operation if it is no flight's own.
    private struct Sealed {
        var request: SyncRequest?
        var operation: TableOperation?
        var isRefused: Bool { request == nil }
    }

    private struct Refused: Error { let places: [Bool] }

    private func seal(_ request: SyncRequest, _ flight: Flight?, in writer: any StoreWriter) throws -> Sealed {
        guard let flight else { return Sealed(request: request) }
        if let sent = flight.repeated {
            let repeated = FinalRequest(request).repeating(sent)
            return Sealed(request: repeated.map { sent.identify($0, as: flight.item.operation.requestID) })
        }
        guard
            let outgoing = try committer.seal(
                flight.item, request: flight.body, final: FinalRequest(request), wasUnsent: flight.wasUnsent,
                in: writer)
        else { return Sealed() }
        var sealed = outgoing.request
        sealed.context.mayBeUnderWay =
            outgoing.operation.isUncertain
            && (flight.wasSent || flight.item.operation.mayBeUnderWay(at: committer.environment.now()))
        return Sealed(request: sealed, operation: outgoing.operation)
    }
}

/// The sealing of a request was refused: the record was edited since it was read, or a repeat would differ.
struct SealRefused: Error {}

extension Result<SyncResponse, any Error> {
    /// The answer to a request that was not sent, because the others of its group cannot be.
    static var skipped: Self { .success(SyncResponse(HTTPResponse(status: .init(code: 424)))) }

    fileprivate var isSkipped: Bool { (try? get())?.status == 424 }

    fileprivate var isSuccess: Bool { (200..<300).contains((try? get())?.status ?? 0) }

    /// Whether it proves that the server has done nothing.
    var showsNothingDone: Bool {
        switch self {
        case .success(let response): AnswerStatus.showsNothingDone(response.status)
        case .failure(let error): (error as? SluiceError)?.cause is RequestNotSent
        }
    }
}

extension TableOperation {
    /// Whether one of its bodies was first sent so short a time ago that the server may still carry it out, or that a
    /// copy of its data may lag behind it.
    func mayBeUnderWay(at now: Timestamp) -> Bool {
        sent.contains { ReplacedVersions.isWithinLag($0.firstSent, of: now) }
    }
}
