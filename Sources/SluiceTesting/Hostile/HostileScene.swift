internal import HTTPTypes
internal import SluiceCore

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
        try await honest.pull(Query(Self.table), named: Self.queryName)
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
        let query = Query(Self.table)
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
                rows: try reader.records(matching: Query(Self.table, order: [.init("id")])),
                // All but when the server was asked: it was, whatever it said.
                cursors: try reader.records(matching: Query(Cursor.schema.name, order: [.init("id")]))
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
            try await honest.pull(Query(Self.table), named: Self.queryName, allowsMassRemoval: true)
            let here = try await honest.table(Self.table).lookup(id: "late")
            report.demand(here != nil, "a row of an honest server does not arrive: the cursor is past it")
        } catch let error as SluiceError {
            report.violations.append("an honest server cannot be pulled from any more: \(error)")
        }
    }

    /// A filter as an application may have it: it adds its field to every request, wherever that goes.
    private struct SecretField: Filter {
        func handle(_ request: Request, next: Next) async throws -> Response {
            var request = request
            if let name = HTTPField.Name(HostileScene.field.name) {
                request.head.headerFields[name] = HostileScene.field.value
            }
            return try await next(request)
        }
    }

    /// Has answers bear a date that say none, so that the cursors of cases which are about something else move.
    private struct Clock: Filter {
        func handle(_ request: Request, next: Next) async throws -> Response {
            var response = try await next(request)
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
