internal import HTTPTypes
public import SluiceCore
internal import SluiceTesting

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A store and the clients of a trial: one that meets the hostile server, and one that meets an honest server in its
/// place.
struct HostileScene: Sendable {
    static let table = "items"
    static let queryName = "all"
    /// What every secret of the trial begins with.
    static let secret = "secret-"
    /// A name and a value that the application adds to all its requests.
    static let field = (name: "X-Application-Secret", value: "\(secret)field")
    static let token = "\(secret)token"

    /// All that must not change unawares.
    struct State: Sendable, Equatable {
        var rows: [JSON]
        var cursors: [JSON]
        var operations: [TableOperation]
    }

    let hostile: HostileCase
    let store: any LocalStore
    let context: SyncContext
    let honest: SyncContext
    let model: ModelServer

    init(server: HostileServer, store: any LocalStore, trial: HostileTrial) async throws {
        hostile = trial.hostile
        self.store = store
        let limits = trial.hostile.limits
        let retry = RetryPolicy(
            attempts: limits.attempts, firstPause: .milliseconds(1), maximumPause: .milliseconds(20))
        let endpoint = try Endpoint(server.url)
        let client = SluiceClient(
            endpoint: endpoint, transport: trial.transport, filters: [SecretField(), Clock()] + trial.filters,
            options: ClientOptions(tokenProvider: Tokens(), retry: retry, limits: limits.exchange))
        // The honest server's time is its own; the device's is the same, and moves on until the other one is met.
        let start = Timestamp(ticks: 17_000_000_000_000_000)
        func environment(_ seconds: Int64) -> SyncEnvironment {
            var environment = SyncEnvironment.system
            environment.now = { Timestamp(ticks: start.ticks + seconds * Timestamp.ticksPerSecond) }
            return environment
        }
        model = ModelServer(start: start)
        var options = SyncOptions(pageSize: 50, environment: environment(10))
        options.pull.maximumPages = limits.pages
        options.batchSize = trial.hostile.call == .batch ? 4 : 1
        var traits = ModelServer.Traits()
        traits.issuesChangeTokens = trial.hostile.call == .track
        model.set(traits)
        var later = options
        later.environment = environment(41)
        context = try await SyncContext(client: client, store: store, options: later)
        honest = try await SyncContext(
            client: SluiceClient(endpoint: endpoint, transport: model), store: store, options: options)
    }

    /// Brings the store in step with the honest server, and makes the changes that wait.
    func prepare() async throws {
        model.seed(Self.table, [["id": "a", "text": "one"], ["id": "b", "text": "two"]])
        try await honest.pull(TableQuery(Self.table), named: Self.queryName)
        try await honest.table("notes").insert(["id": "note", "text": "mine"])
        let items = try honest.table(Self.table)
        switch hostile.call {
        case .insert: try await items.insert(["id": "new", "text": "mine"])
        case .update: try await items.update(["id": "a", "text": "mine"])
        case .delete: try await items.delete(id: "a")
        case .batch: for id in hostile.call.recordIDs { try await items.insert(["id": JSON(id), "text": "mine"]) }
        case .pull, .pullAll, .track, .reconcile, .pages, .lookup: break
        }
    }

    /// Does what the case says.
    ///
    /// - Returns: the ids of the records that an online call has given; nil for any other call.
    func act() async throws -> [String]? {
        let query = TableQuery(Self.table)
        switch hostile.call {
        case .pull, .track: try await context.pull(query, named: Self.queryName)
        case .reconcile: try await context.reconcile(query, named: Self.queryName)
        case .pullAll: try await context.pull(query)
        case .insert, .update, .delete, .batch:
            let result = try await context.push(tables: [Self.table])
            if let error = result.error { throw error }
        case .pages:
            var ids: [String] = []
            guard let client = context.client else { return ids }
            for try await record in client.table(Self.table).records(query) { ids.append(record["id"]?.string ?? "") }
            return ids
        case .lookup:
            guard let record = try await context.client?.table(Self.table).lookup(id: "a") else { return [] }
            return [record["id"]?.string ?? ""]
        }
        return nil
    }

    /// What the store holds.
    func state() async throws -> State {
        try await store.read { reader in
            State(
                rows: try reader.records(matching: TableQuery(Self.table, order: [.init("id")])),
                // All but when the server was asked: it was, whatever it said.
                cursors: try reader.records(matching: TableQuery(Cursor.schema.name, order: [.init("id")]))
                    .map { cursor in
                        var cursor = cursor
                        cursor["pulledAt"] = nil
                        return cursor
                    },
                operations: try QueueReader(reader).all())
        }
    }

    /// Meets an honest server in the hostile one's place: what it has must arrive, and what was kept must go through.
    func heal(_ state: State, _ report: inout HostileReport) async throws {
        model.seed(Self.table, [["id": "late", "text": "three"]])
        let kept = state.operations.filter { $0.table == Self.table }
        for operation in kept { try await honest.queue.retry(operation.id) }
        if hostile.call.isPush, !kept.isEmpty {
            let result = try await honest.push(tables: [Self.table])
            report.demand(
                result.applied == kept.count && result.failures.isEmpty,
                "the operation does not go through to an honest server: "
                    + (result.error.map { "\($0)" } ?? result.failures.first?.failure?.message ?? "\(result)"))
            for id in kept.map(\.recordID) {
                let record = model.rows(Self.table)[id]
                let arrived = hostile.call == .delete ? record?["deleted"] == true : record?["text"] == "mine"
                report.demand(arrived, "the honest server has the record as \(record?.description ?? "nothing")")
            }
        }
        do {
            try await honest.pull(TableQuery(Self.table), named: Self.queryName, allowsMassRemoval: true)
            let here = try await honest.table(Self.table).lookup(id: "late")
            report.demand(here != nil, "a row of an honest server does not arrive: the cursor is past it")
        } catch let error as SluiceError {
            report.violations.append("an honest server cannot be pulled from any more: \(error)")
        }
    }

    /// A filter as an application may have it: it adds its field to every request, wherever that goes.
    private struct SecretField: RequestTransform {
        func request(_ request: SyncRequest) -> SyncRequest {
            var request = request
            if let name = HTTPField.Name(HostileScene.field.name) {
                request.head.headerFields[name] = HostileScene.field.value
            }
            return request
        }
    }

    /// Has answers bear a date that say none, so that the cursors of cases which are about something else move.
    private struct Clock: RequestTransform {
        func request(_ request: SyncRequest) -> SyncRequest { request }

        func response(_ response: SyncResponse, to request: SyncRequest) -> SyncResponse {
            var response = response
            if response.head.headerFields[.date] == nil {
                response.head.headerFields[.date] = "Tue, 14 Nov 2023 22:13:31 GMT"
            }
            return response
        }
    }

    /// Gives a new token each time the last was refused.
    private actor Tokens: TokenProvider {
        private var count = 1
        func token() -> String? { "\(HostileScene.token)-\(count)" }
        func refresh(refused: String?) -> String? {
            count += 1
            return token()
        }
    }
}

/// Holds a client of Sluice against a hostile server: your transport, your store, your filters.
///
/// The trial makes a store that was in step with an honest server, puts the change that the case is about into its
/// queue, and an operation of another table beside it. Then the client meets the hostile server, with a token and a
/// header field of the application's that nobody else may see. Last it meets an honest server again, from which all has
/// to arrive, and to which all has to go that was kept.
///
/// ```swift
/// for hostile in HostileCase.all {
///     let report = try await HostileTrial(hostile, transport: AsyncHTTPTransport()).run()
///     precondition(report.holds, report.description)
/// }
/// ```
public struct HostileTrial: Sendable {
    let hostile: HostileCase
    let transport: any Transport
    let filters: [any RequestFilter]
    let makeStore: @Sendable () async throws -> any LocalStore

    /// A trial.
    ///
    /// - Parameters:
    ///   - transport: what the client talks through; the trial itself talks HTTP to nobody.
    ///   - filters: filters of the application's.
    ///   - makeStore: makes an empty store.
    public init(
        _ hostile: HostileCase, transport: any Transport, filters: [any RequestFilter] = [],
        store makeStore: @escaping @Sendable () async throws -> any LocalStore = { MemoryStore() }
    ) {
        self.hostile = hostile
        self.transport = transport
        self.filters = filters
        self.makeStore = makeStore
    }

    /// Runs the trial.
    ///
    /// - Throws: ``SluiceError`` if it cannot be run at all: no port, a store that cannot be made. What does not hold
    ///   is told by the report.
    public func run() async throws -> HostileReport {
        try await HostileServer.run(hostile) { server in
            let store = try await makeStore()
            let scene = try await HostileScene(server: server, store: store, trial: self)
            try await scene.prepare()
            var report = HostileReport(hostile: hostile)
            let before = try await scene.state()
            try await meet(scene, &report)
            let after = try await scene.state()
            HostileVerdict(hostile: hostile, before: before, after: after, server: server).judge(&report)
            try await scene.heal(after, &report)
            try await store.close()
            return report
        }
    }

    /// Does what the case says, and measures.
    private func meet(_ scene: HostileScene, _ report: inout HostileReport) async throws {
        let meter = hostile.limits.memory == nil ? nil : MemoryMeter()
        let start = ContinuousClock.now
        do {
            let given = try await withThrowingTaskGroup(of: [String]?.self) { group in
                group.addTask { try await scene.act() }
                group.addTask { [hostile] in
                    try await Task.sleep(for: hostile.limits.duration)
                    throw Overdue()
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
            if let given {
                report.demand(
                    given == hostile.outcome.rows ?? [], "the application was given the records \(given)")
            }
        } catch is Overdue {
            report.violations.append("the client was not done after \(hostile.limits.duration)")
        } catch let error as SluiceError {
            report.error = error
        } catch {
            report.violations.append("an error of another type than Sluice's: \(error)")
        }
        report.duration = ContinuousClock.now - start
        report.memory = meter?.growth
    }

    private struct Overdue: Error {}
}

/// Measures by how much the process grows, as the kernel of Linux tells it. Other work in the process counts in.
struct MemoryMeter {
    private let start: Int

    /// Begins to measure; nil where the system does not tell.
    init?() {
        // Sets the peak back to what is held now: proc(5), clear_refs.
        guard let file = fopen("/proc/self/clear_refs", "w") else { return nil }
        let isSet = fputs("5", file) >= 0
        guard fclose(file) == 0, isSet, let peak = Self.peak else { return nil }
        start = peak
    }

    /// By how many bytes the resident memory has grown at the most.
    var growth: Int? { Self.peak.map { max(0, $0 - start) } }

    private static var peak: Int? {
        guard let file = fopen("/proc/self/status", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("VmHWM:") { return Int(text.filter(\.isNumber)).map { $0 * 1024 } }
        }
        return nil
    }
}
