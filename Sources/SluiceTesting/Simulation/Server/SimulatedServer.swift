internal import HTTPTypes
internal import SluiceCore
internal import Synchronization

/// A tables server as devices meet it in a simulation: rows with versions and times, soft deletes, and the rules of the
/// wire that was drawn. It shares no code with the embedded backend or the engine's wire.
final class SimulatedServer: Sendable {
    struct State {
        var tables: [String: [String: SimulatedRow]] = [:]
        var version = 0
        /// By how many ticks the server's clock is behind.
        var behind: Int64 = 0
        var page: Int
        var lastTime = Timestamp(ticks: 0)
        /// Answers to requests that had an effect, by user and request id.
        var remembered: [String: Response] = [:]
    }

    let setting: SimulationSetting
    let dialect: Dialect
    let clock: SimulationClock
    let luck: SimulationLuck
    let faults: SimulationFaults
    let oracle: SimulationOracle
    let state: Mutex<State>

    init(
        setting: SimulationSetting, dialect: Dialect, clock: SimulationClock, luck: SimulationLuck,
        faults: SimulationFaults, oracle: SimulationOracle
    ) {
        self.setting = setting
        self.dialect = dialect
        self.clock = clock
        self.luck = luck
        self.faults = faults
        self.oracle = oracle
        state = Mutex(State(page: setting.serverPage))
    }

    /// A quarter of the commit lag: the most by which clock steps, late commits and coarse clocks may each move a time.
    private var quarter: Int64 { Int64(setting.commitLag) * Timestamp.ticksPerSecond / 4 }

    /// Answers a request.
    func answer(_ request: Request, of device: Int) -> Response {
        let call = ModelCall(request)
        return state.withLock { state in
            if faults.strikes(.pageSize) { state.page = 1 + luck.below(8) }
            if faults.strikes(.clockBack), state.behind < quarter {
                state.behind += Int64(luck.below(Int(max(1, quarter - state.behind))))
                oracle.clockWentBack()
            }
            if faults.strikes(.forgetRequests) { state.remembered = [:] }
            var response = answer(call, request.context, device, &state)
            let now = Timestamp(ticks: clock.now.ticks - state.behind)
            response.head.headerFields[.date] = ModelDate.text(now)
            return response
        }
    }

    private func answer(
        _ call: ModelCall, _ context: RequestContext, _ device: Int, _ state: inout State
    ) -> Response {
        guard let table = call.table else { return .model(404, ["error": "no such route"]) }
        if call.method == .get {
            guard let id = call.id else { return list(call, table, state) }
            guard let row = state.tables[table]?[id], !row.isDeleted else {
                return .model(404, ["error": "The item does not exist"])
            }
            return reply(200, row)
        }
        let key = call.repeatability.map { "\(device) \($0)" }
        if setting.remembersRequests, let key, let known = state.remembered[key] { return known }
        var change = SimulatedChange(
            call: call, table: table, device: device, requestID: context.operationID, action: "\(context.action)")
        var response = self.change(&change, &state)
        if setting.remembersRequests, let key {
            if let name = HTTPField.Name("Repeatability-Result") { response.head.headerFields[name] = "accepted" }
            if 200..<300 ~= response.status { state.remembered[key] = response }
        }
        return response
    }

    func reply(_ status: Int, _ row: SimulatedRow) -> Response {
        .model(status, row.wire, version: "v\(row.version)")
    }

    /// Gives a changed row its version and time, and tells the oracle.
    func commit(_ row: inout SimulatedRow, _ change: SimulatedChange, time: Timestamp? = nil, _ state: inout State) {
        let before = state.tables[change.table]?[row.id]
        state.version += 1
        row.version = state.version
        row.commit = state.version
        row.updatedAt = time ?? self.time(&state)
        row.finish(dialect, digits: setting.digits)
        state.tables[change.table, default: [:]][row.id] = row
        oracle.effect(change, before: before, after: row)
    }

    /// The time that a change gets.
    private func time(_ state: inout State) -> Timestamp {
        var ticks = clock.now.ticks - state.behind
        if faults.strikes(.lateCommit) { ticks -= Int64(luck.below(Int(quarter))) }
        // Finer than a millisecond, as databases are.
        ticks = setting.grain == 1 ? ticks + Int64(luck.below(10_000)) : ticks - ticks % (Int64(setting.grain) * 10_000)
        if faults.strikes(.equalTimes), ticks - state.lastTime.ticks < quarter, ticks > state.lastTime.ticks {
            ticks = state.lastTime.ticks
        }
        state.lastTime = Timestamp(ticks: ticks)
        return state.lastTime
    }

    private func list(_ call: ModelCall, _ table: String, _ state: State) -> Response {
        do {
            let query = try call.query()
            let (updatedAt, id) = (dialect.columns.updatedAt, dialect.columns.id)
            let showsDeleted = call.parameters[dialect.includeDeleted.name.lowercased()] == "true"
            var rows = (state.tables[table] ?? [:]).values.filter { showsDeleted || !$0.isDeleted }
            if let filter = query.filter {
                let evaluator = try QueryEvaluator(Query("", filter: filter), schema: nil)
                rows = rows.filter { evaluator.matches($0.exact) }
            }
            let byTime = query.order.first?.column == updatedAt
            guard query.order.allSatisfy({ $0.column == updatedAt || $0.column == id }) else {
                return .model(400, ["error": "not sortable"])
            }
            rows.sort { byTime && $0.updatedAt != $1.updatedAt ? $0.updatedAt < $1.updatedAt : $0.id < $1.id }
            let page = rows.dropFirst(query.skip).prefix(min(query.top ?? state.page, state.page))
            let records = JSON(page.map(\.wire))
            return .model(200, dialect.odata == .v4 ? ["items": records] : records)
        } catch {
            return .model(400, ["error": JSON("\(error)")])
        }
    }

    /// The place of the last commit.
    var commit: Int { state.withLock { $0.version } }

    /// All rows of a table.
    func rows(_ table: String) -> [SimulatedRow] { state.withLock { Array(($0.tables[table] ?? [:]).values) } }

    /// Changes rows as another client would, all at one time.
    func edit(_ table: String, _ edits: [(id: String, fields: JSON?)]) {
        state.withLock { state in
            let time = edits.count > 1 ? self.time(&state) : nil
            for (id, fields) in edits {
                let change = SimulatedChange(table: table, id: id)
                var row = state.tables[table]?[id] ?? SimulatedRow(id: id, createdAt: clock.now)
                if fields == nil, row.isDeleted || row.version == 0 { continue }
                if let fields { row.merge(fields, dialect) }
                row.isDeleted = fields == nil
                commit(&row, change, time: time, &state)
            }
        }
    }
}

/// A change that the server was asked for.
struct SimulatedChange {
    var call: ModelCall?
    let table: String
    let id: String
    /// Which device asked for it; nil for another client.
    let device: Int?
    /// The request's id: operation and revision.
    let requestID: String?
    let action: String

    init(call: ModelCall, table: String, device: Int, requestID: String?, action: String) {
        self.call = call
        self.table = table
        id = call.id ?? ""
        self.device = device
        self.requestID = requestID
        self.action = action
    }

    init(table: String, id: String) {
        self.table = table
        self.id = id
        device = nil
        requestID = nil
        action = "update"
    }
}
