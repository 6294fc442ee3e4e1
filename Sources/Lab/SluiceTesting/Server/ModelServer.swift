internal import HTTPTypes
public import SluiceCore
internal import Synchronization

/// A tables server in memory, as a ``Transport``: sync tests talk to it instead of a socket.
///
/// It speaks the Mobile Apps protocol (`azure-v2`) and shares no code with the embedded backend or with the engine's
/// wire, so that a mistake in one does not hide in the other. ``onRequest(_:)`` adds faults.
///
/// ```swift
/// let server = ModelServer()
/// server.seed("todos", [["id": "1", "text": "buy milk"]])
/// let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server)
/// ```
public final class ModelServer: Transport {
    /// A fault that a test applies to a request or its answer.
    public enum Fault: Sendable {
        /// No fault: the request is answered.
        case none
        /// The request is lost before the server sees it.
        case loseRequest
        /// The server acts on the request, and the answer is lost.
        case loseAnswer
        /// The server does nothing, and this response is returned.
        case answer(SyncResponse)
        /// The server acts on the request, and this response is returned in place of its own.
        case answerAfter(SyncResponse)
    }

    /// An optional capability of the server.
    public enum Feature: Sendable, Hashable {
        /// Accepts several requests in one: `POST /tables/$batch`.
        case batches
        /// Remembers the answer to each request with an id, and returns it to a repeat.
        case requestIDs
    }

    /// The traits of the server.
    public struct Traits: Sendable, Hashable {
        /// Whether lists come with change tokens for clients that request them.
        public var issuesChangeTokens = false
        /// Whether the server answers requests for digests of its tables.
        public var givesDigests = false
        /// Whether the server sorts by the requested order; otherwise rows come in the order of their insertion.
        public var sorts = true
        /// Whether rows with the same time come in the order of their ids; otherwise the row inserted last comes first.
        public var sortsTiesByID = true
        /// The largest batch size that the server announces; nil for no announcement.
        public var saysBatchSize: Int?

        /// Creates a server that sorts, and has no other trait.
        public init() {}
    }

    private let state: Mutex<State>

    fileprivate struct State {
        var traits = Traits()
        var epoch = 1
        var tables: [String: ModelTable] = [:]
        var hook: (@Sendable (SyncRequest) async -> Fault)?
        var log: [SyncRequest] = []
        var ticks: Int64
        var version: Int64 = 0
        var pageSize: Int
        var features: Set<Feature> = []
        /// The ticks by which the web server's clock is ahead of the clock that stamps rows.
        var ahead: Int64 = 0
        var memory = ModelMemory()

        /// Returns an unused version, and a time later than all before.
        mutating func stamp() -> ModelStamp {
            version += 1
            ticks += 10_000
            return ModelStamp(version: "v\(version)", time: Timestamp(ticks: ticks), number: version)
        }
    }

    /// Creates a server without rows.
    ///
    /// - Parameters:
    ///   - pageSize: the largest number of rows in a response.
    ///   - start: the server's first time; each change adds a millisecond.
    public init(pageSize: Int = 50, start: Timestamp = Timestamp(ticks: 17_000_000_000_000_000)) {
        state = Mutex(State(ticks: start.ticks, pageSize: pageSize))
    }

    /// Sets the optional capabilities; at first there are none.
    public func offer(_ features: Set<Feature>) { state.withLock { $0.features = features } }

    /// Sets the traits of the server.
    public func set(_ traits: Traits) { state.withLock { $0.traits = traits } }

    /// Invalidates the change tokens issued so far.
    public func expireTokens() { state.withLock { $0.epoch += 1 } }

    /// Calls `hook` for every request before it is answered.
    public func onRequest(_ hook: (@Sendable (SyncRequest) async -> Fault)?) { state.withLock { $0.hook = hook } }

    /// The requests so far, lost ones included, in the order of their arrival.
    public var requests: [SyncRequest] { state.withLock { $0.log } }

    /// The requests so far as `METHOD path`, decoded, without the query.
    public var calls: [String] {
        requests.map { "\($0.head.method) \(($0.head.path ?? "").split(separator: "?")[0])" }
    }

    /// Forgets the requests so far.
    public func clearLog() { state.withLock { $0.log = [] } }

    /// Returns all rows of a table by id, deleted ones included, in their wire form.
    public func rows(_ table: String) -> [RecordID: JSON] {
        state.withLock { ($0.tables[table]?.rows ?? [:]).mapValues(\.wire) }
    }

    /// Adds or changes rows, as another client would.
    public func seed(_ table: String, _ records: [JSON]) {
        state.withLock { state in
            for record in records {
                guard let id = record["id"]?.textID else { continue }
                let stamp = state.stamp()
                var row = state.tables[table, default: ModelTable()].rows[id] ?? ModelRow(id: id, createdAt: stamp.time)
                row.merge(record)
                row.isDeleted = false
                row.stamp(stamp)
                state.tables[table, default: ModelTable()].rows[id] = row
            }
        }
    }

    /// Marks a row as deleted, as another client would.
    public func softDelete(_ table: String, _ id: RecordID) {
        state.withLock { state in
            let stamp = state.stamp()
            state.tables[table]?.rows[id]?.isDeleted = true
            state.tables[table]?.rows[id]?.stamp(stamp)
        }
    }

    /// Removes a row without a tombstone.
    public func hardDelete(_ table: String, _ id: RecordID) {
        state.withLock { _ = $0.tables[table]?.rows.removeValue(forKey: id) }
    }

    /// Marks a row as deleted, but leaves its time and its position among the changes unchanged.
    public func deleteUntold(_ table: String, _ id: RecordID) {
        state.withLock { $0.tables[table]?.rows[id]?.isDeleted = true }
    }

    /// Changes the shape of a table's rows as a database migration does: versions and times stay.
    public func reshape(_ table: String, to name: String? = nil, _ change: @Sendable (JSON) -> JSON = { $0 }) {
        state.withLock { state in
            guard var shaped = state.tables.removeValue(forKey: table) else { return }
            shaped.rows = shaped.rows.mapValues { row in
                var row = row
                row.fields = change(row.fields)
                return row
            }
            state.tables[name ?? table] = shaped
        }
    }

    /// Sets the time of change of several rows to the same value.
    public func restamp(_ table: String, _ ids: [RecordID], at time: Timestamp) {
        state.withLock { state in for id in ids { state.tables[table]?.rows[id]?.updatedAt = time } }
    }

    /// Moves the clock that stamps rows and answers, forward or back.
    public func setClock(by duration: Duration) { state.withLock { $0.ticks += Self.ticks(duration) } }

    /// Moves the web server's clock, the source of `Date`, ahead of the clock that stamps rows.
    public func setDateAhead(by duration: Duration) { state.withLock { $0.ahead = Self.ticks(duration) } }

    private static func ticks(_ duration: Duration) -> Int64 {
        duration.components.seconds * Timestamp.ticksPerSecond + duration.components.attoseconds / 100_000_000_000
    }

    /// Answers a request, with the fault that the hook returns.
    public func send(_ request: SyncRequest) async throws -> SyncResponse {
        let hook = state.withLock { state in
            state.log.append(request)
            return state.hook
        }
        switch await hook?(request) ?? .none {
        case .none: return answer(request)
        case .loseRequest: throw SluiceError(.network, "the request was lost")
        case .answer(let response): return response
        case .loseAnswer:
            _ = answer(request)
            throw SluiceError(.network, "the answer was lost")
        case .answerAfter(let response):
            _ = answer(request)
            return response
        }
    }

    private func answer(_ request: SyncRequest) -> SyncResponse {
        state.withLock { state in
            var response = Self.answer(request, &state)
            if let size = state.traits.saysBatchSize, let name = HTTPField.Name("X-Sluice-Batch") {
                response.head.headerFields[name] = String(size)
            }
            return response
        }
    }

    private static func answer(_ request: SyncRequest, _ state: inout State) -> SyncResponse {
        guard state.features.contains(.batches), ModelBatch.isBatch(request) else { return state.answer(request) }
        guard let batch = ModelBatch(request) else { return .model(400, ["error": "that is no batch"]) }
        return state.answer(batch)
    }
}

extension ModelServer.State {
    fileprivate mutating func answer(_ request: SyncRequest) -> SyncResponse {
        let remembers = features.contains(.requestIDs)
        if remembers, let known = memory.answer(to: request) { return known.accepted(request) }
        let call = ModelCall(request)
        guard let name = call.table else { return .model(404, ["error": "no such route"]) }
        tables[name, default: ModelTable()].pageSize = pageSize
        tables[name]?.traits = traits
        tables[name]?.epoch = epoch
        let stamp = stamp()
        var response = tables[name, default: ModelTable()].answer(call, stamp: stamp)
        response.head.headerFields[.date] = ModelDate.text(Timestamp(ticks: ticks + ahead))
        if remembers { memory.remember(response, to: request) }
        return remembers ? response.accepted(request) : response
    }

    /// Answers each part of a batch. The parts of a group take effect together or not at all.
    fileprivate mutating func answer(_ batch: ModelBatch) -> SyncResponse {
        var answers: [(id: String, response: SyncResponse)] = []
        var failed: Set<String> = []
        var rest = batch.parts[...]
        while let first = rest.first {
            let parts = rest.prefix { $0.id == first.id || ($0.group != nil && $0.group == first.group) }
            rest = rest.dropFirst(parts.count)
            let before = self
            for part in parts {
                let isSkipped =
                    part.dependsOn.contains(where: failed.contains) || parts.contains { failed.contains($0.id) }
                let response = isSkipped ? .model(424, ["error": "another part failed"]) : answer(part.request)
                if response.status >= 400 { failed.insert(part.id) }
                answers.append((part.id, response))
            }
            if parts.contains(where: { failed.contains($0.id) }), parts.count > 1 {
                self = before
                for index in answers.indices.suffix(parts.count) where answers[index].response.status < 400 {
                    answers[index].response = .model(424, ["error": "another part failed"])
                }
            }
        }
        return ModelBatch.answer(answers)
    }
}

/// The version, time and number that a change gives a row.
struct ModelStamp {
    var version: String
    var time: Timestamp
    /// The position of the change among all changes.
    var number: Int64
}
