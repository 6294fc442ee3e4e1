internal import HTTPTypes
internal import SluiceCore
internal import Synchronization

/// A tables server of a simulation: rows with versions and times, soft deletes, and the rules of the chosen wire. It
/// shares no code with the embedded backend or the engine's wire.
final class SimulatedServer: Sendable {
    struct State {
        var tables: [String: [RecordID: SimulatedRow]] = [:]
        var version = 0
        /// The ticks by which the server's clock is behind.
        var behind: Int64 = 0
        var page: Int
        var lastTime = Timestamp(ticks: 0)
        /// The remembered requests that had an effect, for each device.
        var remembered: [Int: ModelMemory] = [:]
        /// Changes with an open outcome, because others of their group may fail.
        var effects: [(change: SimulatedChange, before: SimulatedRow?, after: SimulatedRow)] = []
        var date: (second: Int64, text: String) = (-1, "")
        /// The generation of change tokens: older tokens have expired.
        var epoch = 0
        /// The rows at the operator's last backup.
        var backup: [String: [RecordID: SimulatedRow]]?
        /// The past states that a replica may answer from.
        var replica = SimulatedReplica()
        /// The table that fails at present.
        var outage: TableOutage?
    }

    let setting: SimulationSetting
    /// The OData service of the story, where its wire is one of OData's.
    let service: SimulatedService?
    let dialect: Dialect
    let clock: SimulationClock
    let random: SimulationRandom
    let faults: SimulationFaults
    let oracle: SimulationOracle
    let state: Mutex<State>
    /// The parsed filters, because devices repeat most of them.
    private let filters = Mutex<[ExactName: QueryExpression]>([:])

    init(
        setting: SimulationSetting, dialect: Dialect, clock: SimulationClock, random: SimulationRandom,
        faults: SimulationFaults, oracle: SimulationOracle
    ) {
        self.setting = setting
        service = SimulatedService(setting)
        self.dialect = dialect
        self.clock = clock
        self.random = random
        self.faults = faults
        self.oracle = oracle
        state = Mutex(State(page: setting.serverPage))
    }

    /// A quarter of the commit lag: the most that clock steps, late commits and coarse clocks may each move a time.
    var quarter: Int64 { Int64(setting.commitLag) * Timestamp.ticksPerSecond / 4 }

    /// Answers a request.
    func answer(_ request: SyncRequest, of device: Int, user: Int) -> SyncResponse {
        state.withLock { state in
            if faults.strikes(.pageSize) { state.page = 1 + random.below(8) }
            if faults.strikes(.clockBack), state.behind < quarter {
                state.behind += Int64(random.below(Int(max(1, quarter - state.behind))))
                oracle.clockWentBack()
            }
            if setting.tellsTime, state.behind < 2 * 3600 * Timestamp.ticksPerSecond, faults.strikes(.clockSetBack) {
                state.behind += Int64(600 + random.below(3000)) * Timestamp.ticksPerSecond
                oracle.clockWentBack()
            }
            if faults.strikes(.forgetRequests) {
                state.remembered = [:]
                state.epoch += 1
            }
            beginOutage(&state)
            var response: SyncResponse
            if request.head.method == .get, var stale = stale(state) {
                response = respond(to: request, of: device, user: user, &stale)
            } else {
                response = respond(to: request, of: device, user: user, &state)
            }
            tell(&state)
            if setting.takesBatches, let name = HTTPField.Name("X-Sluice-Batch") {
                response.head.headerFields[name] = "4"
            }
            if setting.tellsTime {
                let ahead = setting.traits.contains(.clockAhead) ? 12 * quarter : 0
                response.head.headerFields[.date] = Self.date(clock.now.ticks - state.behind + ahead, &state)
            }
            return response
        }
    }

    /// Answers a request in the form of the wire.
    private func respond(to request: SyncRequest, of device: Int, user: Int, _ state: inout State) -> SyncResponse {
        if let service { return serve(request, service, device, user: user, &state) }
        guard ModelBatch.isBatch(request) else { return answer(request, device, user: user, &state) }
        let batch = setting.takesBatches ? ModelBatch(request) : nil
        return batch.map { answer($0, device, user: user, &state) } ?? .model(404, ["error": "no such route"])
    }

    /// Returns the text of that time: the last one, if it is the same second.
    private static func date(_ ticks: Int64, _ state: inout State) -> String {
        let second = ticks / Timestamp.ticksPerSecond
        if state.date.second != second { state.date = (second, ModelDate.text(Timestamp(ticks: ticks))) }
        return state.date.text
    }

    /// Reports the effects of a request or of another client to the checker.
    private func tell(_ state: inout State) {
        for (change, before, after) in state.effects { oracle.effect(change, before: before, after: after) }
        if !state.effects.isEmpty { oracle.requestEnded() }
        state.effects = []
    }

    /// Answers a request of the tables wire.
    ///
    /// - Parameter isAlone: whether no other request fails together with this one.
    func answer(
        _ request: SyncRequest, _ device: Int, user: Int, isAlone: Bool = true, _ state: inout State
    ) -> SyncResponse {
        var call = ModelCall(request)
        call.id = call.id.map(setting.ids.known)
        guard let table = call.table else { return .model(404, ["error": "no such route"]) }
        if let status = outage(of: table, isRow: call.id != nil, &state) { return .model(status, ["error": "not now"]) }
        if call.method == .get {
            guard let id = call.id else { return list(call, table, state) }
            if id == "$digest", setting.offersDigests { return digest(call, table, state) }
            guard let row = state.tables[table]?[id], !row.isDeleted else {
                return .model(404, ["error": "The item does not exist"])
            }
            return reply(200, row)
        }
        if setting.remembersRequests, let known = state.remembered[device]?.answer(to: request) { return known }
        if isAlone, let lie = lie(about: call, table, state) { return lie }
        var change = SimulatedChange(
            call: call, table: table, device: device, user: user,
            requestID: request.context.operationID ?? call.repeatability)
        var response = self.change(&change, &state)
        if setting.remembersRequests, call.repeatability != nil {
            if let name = HTTPField.Name("Repeatability-Result") { response.head.headerFields[name] = "accepted" }
            state.remembered[device, default: ModelMemory()].remember(response, to: request)
        }
        return response
    }

    /// Returns the query of a list.
    func query(_ call: ModelCall) throws -> TableQuery {
        try call.query { text in
            if let known = filters.withLock({ $0[ExactName(text)] }) { return known }
            let filter = try QueryExpression(odata: setting.ids.known(text))
            filters.withLock { $0[ExactName(text)] = filter }
            return filter
        }
    }

    func reply(_ status: Int, _ row: SimulatedRow) -> SyncResponse {
        .model(status, row.wire, version: "v\(row.version)" + (setting.traits.contains(.marksTags) ? "-gzip" : ""))
    }

    /// Gives a changed row its version and time, and records the effect for the checker.
    func commit(_ row: inout SimulatedRow, _ change: SimulatedChange, time: Timestamp? = nil, _ state: inout State) {
        let before = state.tables[change.table]?[row.id]
        remember(&state)
        state.version += 1
        row.version = state.version
        row.commit = state.version
        row.updatedAt = time ?? self.time(&state)
        row.isTimed = change.device != nil || !leavesUntimed
        if setting.traits.contains(.keepsAuthors) { row.fields[Self.author] = JSON("write \(row.version)") }
        row.finish(dialect, setting, service)
        state.tables[change.table, default: [:]][row.id] = row
        state.effects.append((change, before, row))
    }

    /// The column that names the last write of a row, where the server keeps one.
    static let author: PropertyName = "author"

    /// Whether a row that another client writes gets no time now.
    private var leavesUntimed: Bool {
        !setting.traits.isDisjoint(with: [.untimedFirst, .untimedLast]) && random.below(2) == 0
    }

    /// Returns the time of a change.
    private func time(_ state: inout State) -> Timestamp {
        var ticks = clock.now.ticks - state.behind
        if faults.strikes(.lateCommit) { ticks -= Int64(random.below(Int(quarter))) }
        // Finer than a millisecond, as in databases.
        let grain = Int64(setting.grain) * 10_000
        ticks = setting.grain == 1 ? ticks + Int64(random.below(10_000)) : ticks - ticks % grain
        if faults.strikes(.equalTimes), ticks - state.lastTime.ticks < quarter, ticks > state.lastTime.ticks {
            ticks = state.lastTime.ticks
        }
        state.lastTime = Timestamp(ticks: ticks)
        return state.lastTime
    }

    /// Sets the largest number of rows in a page.
    func setPage(_ page: Int) { state.withLock { $0.page = page } }

    /// Whether the server has invalidated its earlier change tokens.
    var hasRestarted: Bool { state.withLock { $0.epoch > 0 } }

    /// All rows of a table.
    func rows(_ table: String) -> [SimulatedRow] { state.withLock { Array(($0.tables[table] ?? [:]).values) } }

    /// Changes rows as another client would, all at the same time.
    func edit(_ table: String, _ edits: [(id: RecordID, fields: JSON?)]) {
        state.withLock { state in
            let time = edits.count > 1 ? self.time(&state) : nil
            for (id, fields) in edits {
                let id = setting.ids.known(id)
                let change = SimulatedChange(table: table, id: id)
                var row = state.tables[table]?[id] ?? SimulatedRow(id: id, createdAt: clock.now)
                if fields == nil, row.isDeleted || row.version == 0 { continue }
                if let fields { row.merge(fields, dialect, setting) }
                row.isDeleted = fields == nil
                commit(&row, change, time: time, &state)
            }
            tell(&state)
        }
    }

    /// Removes a row without a trace.
    func forget(_ id: RecordID, in table: String) {
        state.withLock { state in
            let id = setting.ids.known(id)
            if state.tables[table]?.removeValue(forKey: id) != nil { oracle.forgot(RecordKey(table: table, id: id)) }
        }
    }
}

/// The size of the server's pages.
extension SimulatedServer {
    /// The limit of servers with small pages: some refuse larger ones, some fail on them.
    static let fewRows = 2

    /// Whether a requested page may fail because it is too large.
    var limitsPages: Bool {
        !setting.traits.isDisjoint(with: [.refusesLargePages, .failsLargePages, .hasLargeRows])
    }

    /// Returns the size of a page; nil where the request exceeds the server's limit.
    func pageSize(_ top: Int?, _ state: State) -> Int? {
        if setting.traits.contains(.refusesLargePages), let top, top > Self.fewRows { return nil }
        let most = setting.traits.contains(.variesPages) ? 1 + random.below(state.page) : state.page
        return min(top ?? most, most)
    }

    /// Whether the server manages a page of that many rows.
    func isSendable(_ count: Int) -> Bool { !setting.traits.contains(.failsLargePages) || count <= Self.fewRows }
}

/// A table that fails for a while.
struct TableOutage {
    let table: String
    let status: Int
    /// The number of requests that still fail; nil for all until the table is mended.
    var left: Int?

    private static let statuses = [404, 403, 500]

    init(_ table: String, choosing random: SimulationRandom, left: Int?) {
        self.table = table
        status = Self.statuses[random.below(Self.statuses.count)]
        self.left = left
    }
}

extension SimulatedServer {
    /// Makes one of the tables fail for some requests, at random.
    func beginOutage(_ state: inout State) {
        guard faults.strikes(.tableFails), state.outage == nil else { return }
        let table = random.below(2) == 0 ? "items" : "notes"
        state.outage = TableOutage(table, choosing: random, left: 1 + random.below(8))
    }

    /// Makes that table fail until it is mended.
    func breakDown(_ table: String) {
        state.withLock { $0.outage = TableOutage(table, choosing: random, left: nil) }
    }

    func mend() { state.withLock { $0.outage = nil } }

    /// Returns the status for a request to a table while it fails.
    func outage(of table: String, isRow: Bool, _ state: inout State) -> Int? {
        guard let outage = state.outage, outage.table == table else { return nil }
        if let left = outage.left { state.outage?.left = left - 1 }
        if outage.left == 0 { state.outage = nil }
        // A 404 for a row would mean that the row is missing.
        return outage.status == 404 && isRow ? 403 : outage.status
    }
}
