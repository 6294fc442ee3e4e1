internal import HTTPTypes
public import SluiceCore
internal import Synchronization

/// A tables server in memory, behind the ``Transport`` protocol: what a sync test talks to instead of a socket.
///
/// It speaks the Mobile Apps protocol (`azure-v2`) and shares no code with the embedded backend or with the engine's
/// wire, so that a mistake in one does not hide in the other. Faults are put in between with ``onRequest(_:)``.
///
/// ```swift
/// let server = ModelServer()
/// server.seed("todos", [["id": "1", "text": "buy milk"]])
/// let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server)
/// ```
public final class ModelServer: Transport {
    /// What a test does to an exchange.
    public enum Fault: Sendable {
        /// Nothing: the request is answered.
        case none
        /// The request is lost before the server sees it.
        case loseRequest
        /// The server does what it is asked, and the answer is lost.
        case loseAnswer
        /// This is answered instead, and the server does nothing.
        case answer(Response)
        /// The server does what it is asked, and this is answered instead.
        case answerAfter(Response)
    }

    /// What the server can do besides.
    public enum Feature: Sendable, Hashable {
        /// It takes several requests in one: `POST /tables/$batch`.
        case batches
        /// It remembers what requests with an id brought about, and answers a repeat with that.
        case requestIDs
    }

    /// What the server is able to do.
    public struct Traits: Sendable, Hashable {
        /// Whether lists come with change tokens where they are asked for.
        public var issuesChangeTokens = false
        /// Whether it gives digests of its tables.
        public var givesDigests = false
        /// Whether it looks at the order that is asked for; else rows come as they were first stored.
        public var sorts = true
        /// Whether rows of one time come in the order of their ids; else in one of its own.
        public var sortsTiesByID = true
        /// How many requests it says that one batch may have; nil where it says nothing.
        public var saysBatchSize: Int?

        /// A server that sorts, and no more.
        public init() {}
    }

    private let state: Mutex<State>

    fileprivate struct State {
        var traits = Traits()
        var epoch = 1
        var tables: [String: ModelTable] = [:]
        var hook: (@Sendable (Request) async -> Fault)?
        var log: [Request] = []
        var ticks: Int64
        var version: Int64 = 0
        var pageSize: Int
        var features: Set<Feature> = []
        /// By how many ticks the web server's clock is ahead of the one that stamps rows.
        var ahead: Int64 = 0
        var memory = ModelMemory()

        /// A version never used before, and a time later than all before.
        mutating func stamp() -> ModelStamp {
            version += 1
            ticks += 10_000
            return ModelStamp(version: "v\(version)", time: Timestamp(ticks: ticks), number: version)
        }
    }

    /// A server without rows.
    ///
    /// - Parameters:
    ///   - pageSize: the most rows it sends at once.
    ///   - start: its clock, which moves on by a millisecond with each change.
    public init(pageSize: Int = 50, start: Timestamp = Timestamp(ticks: 17_000_000_000_000_000)) {
        state = Mutex(State(ticks: start.ticks, pageSize: pageSize))
    }

    /// Says what the server can do besides; nothing of it to begin with.
    public func offer(_ features: Set<Feature>) { state.withLock { $0.features = features } }

    /// Makes the server one that is able to do that.
    public func set(_ traits: Traits) { state.withLock { $0.traits = traits } }

    /// Forgets the change tokens that were issued so far.
    public func expireTokens() { state.withLock { $0.epoch += 1 } }

    /// Asks `hook` about every request before it is answered.
    public func onRequest(_ hook: (@Sendable (Request) async -> Fault)?) { state.withLock { $0.hook = hook } }

    /// The requests so far, lost ones included, as they arrived.
    public var requests: [Request] { state.withLock { $0.log } }

    /// The requests so far as `METHOD path`, decoded, without the query.
    public var calls: [String] {
        requests.map { "\($0.head.method) \(($0.head.path ?? "").split(separator: "?")[0])" }
    }

    /// Forgets the requests so far.
    public func clearLog() { state.withLock { $0.log = [] } }

    /// All rows of a table, deleted ones included, by id, as they go over the wire.
    public func rows(_ table: String) -> [RecordID: JSON] {
        state.withLock { ($0.tables[table]?.rows ?? [:]).mapValues(\.wire) }
    }

    /// Adds rows, or changes those that are there, as another client would.
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

    /// Takes a row away without a trace.
    public func hardDelete(_ table: String, _ id: RecordID) {
        state.withLock { _ = $0.tables[table]?.rows.removeValue(forKey: id) }
    }

    /// Marks a row as deleted, and leaves its time and its place among the changes as they are.
    public func deleteUntold(_ table: String, _ id: RecordID) {
        state.withLock { $0.tables[table]?.rows[id]?.isDeleted = true }
    }

    /// Changes the shape of a table's rows, as who looks after the database would: their versions and times stay.
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

    /// Gives several rows one and the same time of change.
    public func restamp(_ table: String, _ ids: [RecordID], at time: Timestamp) {
        state.withLock { state in for id in ids { state.tables[table]?.rows[id]?.updatedAt = time } }
    }

    /// Sets the clock that stamps rows and answers, forth or back.
    public func setClock(by duration: Duration) { state.withLock { $0.ticks += Self.ticks(duration) } }

    /// Has the web server's clock, which `Date` comes from, be ahead of the one that stamps rows.
    public func setDateAhead(by duration: Duration) { state.withLock { $0.ahead = Self.ticks(duration) } }

    private static func ticks(_ duration: Duration) -> Int64 {
        duration.components.seconds * Timestamp.ticksPerSecond + duration.components.attoseconds / 100_000_000_000
    }

    /// Answers a request, with the fault that the hook asks for.
    public func send(_ request: Request) async throws -> Response {
        // What the engine does with an attempt holds its store, whose owner may hold this server.
        var logged = request
        (logged.context.seal, logged.context.unsealed) = (nil, nil)
        let hook = state.withLock { [logged] state in
            state.log.append(logged)
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

    private func answer(_ request: Request) -> Response {
        state.withLock { state in
            var response = Self.answer(request, &state)
            if let size = state.traits.saysBatchSize, let name = HTTPField.Name("X-Sluice-Batch") {
                response.head.headerFields[name] = String(size)
            }
            return response
        }
    }

    private static func answer(_ request: Request, _ state: inout State) -> Response {
        guard state.features.contains(.batches), ModelBatch.isBatch(request) else { return state.answer(request) }
        guard let batch = ModelBatch(request) else { return .model(400, ["error": "that is no batch"]) }
        return state.answer(batch)
    }
}

extension ModelServer.State {
    fileprivate mutating func answer(_ request: Request) -> Response {
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

    /// Answers each part; those of a group have an effect together or none.
    fileprivate mutating func answer(_ batch: ModelBatch) -> Response {
        var answers: [(id: String, response: Response)] = []
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

/// What a change gives a row.
struct ModelStamp {
    var version: String
    var time: Timestamp
    /// The place of the change among all.
    var number: Int64
}
