package import SluiceCore
internal import Synchronization

/// Tries a plugin out: calls of single hooks, in a world that is made up. The hook is called whatever its match says.
///
/// ```swift
/// let trial = try await PluginTrial(plan, in: TrialWorld())
/// let outcome = try await trial.call(.onConflict, given: ["conflict": ["client": …, "server": …]])
/// ```
package final class PluginTrial: Sendable {
    /// The plugins' thread, for figures and profiles.
    let host: PluginHost
    private let caller: PluginCaller
    private let world: TrialWorld
    private let clock: TrialClock
    private let storage = MemoryPluginValues()
    private let requests = Mutex<[Request]>([])

    /// Loads the plugin: `main` and `init` run.
    ///
    /// - Throws: ``PluginFailure`` where the script fails.
    package init(_ plan: PluginPlan, in world: TrialWorld = TrialWorld()) async throws {
        self.world = world
        clock = TrialClock(world.clock)
        let store = MemoryStore()
        let rows = world.rows
        try await store.write { writer in
            for (table, records) in rows { for record in records { try writer.put(record, in: table) } }
        }
        let saved = world.values.mapValues { KeyValues.Entry($0.value, endsAt: $0.endsAt).saved }
        try await storage.save(saved.mapValues { Optional($0) }, of: plan.name)
        let options = world.options(clock, storage, store)
        host = try PluginHost(options.hostSettings)
        var plan = plan
        plan.mode = .enforce
        for kind in plan.hooks.keys { plan.hooks[kind]?.match = .all }
        caller = try await Plugins.load(plan, host, options)
    }

    /// Calls a hook.
    ///
    /// - Parameter given: what it is called with, by the name of its kind, as docs/plugin-fixtures.md has it.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for what is given that cannot be.
    package func call(_ kind: HookKind, given: JSON) async throws -> TrialOutcome {
        let given = TrialGiven(given: given, now: clock.now)
        requests.withLock { $0 = [] }
        let before = await host.log.count
        var outcome = TrialOutcome()
        do {
            try await run(kind, given, &outcome)
        } catch let failure as PluginFailure {
            outcome.failure = failure
        } catch let error as SluiceError {
            if let failure = error.cause as? PluginFailure { outcome.failure = failure } else { outcome.error = error }
        }
        outcome.requests = requests.withLock { $0 }
        if let entry = await host.log.dropFirst(before).last(where: { $0.hook == kind }) {
            (outcome.log, outcome.trace, outcome.fuel) = (entry.log, entry.trace, entry.fuel)
            (outcome.cpuTime, outcome.waits) = (entry.cpuTime, entry.waits)
            if outcome.failure == nil, entry.answer?["decision"] != nil { outcome.decision = entry.answer }
            if outcome.decision?["decision"] == "merge", let record = outcome.record {
                outcome.decision?["fields"] = nil
                outcome.decision?["record"] = record
            }
        }
        return outcome
    }

    /// What `kv` holds now, by key.
    package var values: [String: JSON] {
        get async throws {
            let now = clock.now
            return try await storage.values(of: caller.plan.name).compactMapValues {
                let entry = KeyValues.Entry(saved: $0)
                return entry.isOver(at: now) ? nil : entry.value
            }
        }
    }

    /// Counts fuel by line from now on.
    package func startProfile() async { await host.startProfile(of: caller.id) }

    /// The fuel of each line since then: `{"main:41": 1200}`.
    package func takeProfile() async -> JSON { await host.takeProfile(of: caller.id) }

    /// How many bytes the plugin's machine holds, and has held at the most.
    package var memory: (now: Int, peak: Int) { get async { await host.memory(of: caller.id) } }

    private func hook(_ kind: HookKind) throws -> PluginHook {
        guard let hook = caller.plan.hooks[kind] else {
            throw SluiceError(.invalidArgument, "the plugin \(caller.plan.name) has no hook \(kind.rawValue)")
        }
        return PluginHook(caller: caller, hook: hook.strict)
    }

    private func check(_ table: String) -> RecordCheck {
        RecordCheck(dialect: world.dialect, schema: world.tables.first { $0.name == table })
    }

    private func run(_ kind: HookKind, _ given: TrialGiven, _ outcome: inout TrialOutcome) async throws {
        switch kind {
        case .filter, .request, .response: outcome.response = try await exchange(kind, given)
        case .beforeEnqueue:
            let change = try given.change()
            outcome.record = change.record
            let check = check(change.table)
            let decision = try await hook(kind).ask(
                [LuaArgument("op", OperationView.document(of: change))], as: EnqueueDecision.self,
                table: change.table, recordID: change.recordID
            ) { try EnqueueVerdict.read($0, change, check) }
            if case .change(let record) = decision { outcome.record = record }
        case .beforePush:
            let json = try given.object("operation")
            let operation = try given.operation(json)
            let (record, check) = (json["record"], check(operation.table))
            let document = OperationView.document(of: operation, record: record, dialect: world.dialect)
            let decision = try await hook(kind).ask(
                [LuaArgument("op", document.with(json))], as: BeforePushDecision.self, table: operation.table,
                recordID: operation.recordID
            ) { try BeforePushVerdict.read($0, operation, record, check) }
            outcome.record = record
            if case .changeKind(_, let record) = decision { outcome.record = record }
        case .onConflict:
            let conflict = try given.conflict(world.dialect)
            let document = ConflictDocument(conflict: conflict, check: check(conflict.table))
            let decision = try await hook(kind).ask(
                [LuaArgument("conflict", document.json)], as: ConflictDecision.self, table: conflict.table,
                recordID: conflict.recordID
            ) { try document.decision($0) }
            if case .merge(let record) = decision { outcome.record = record }
        case .onPushError:
            let failure = try given.failure()
            let check = check(failure.operation.table)
            let code = given.given["error"]?["code"] ?? "server"
            var document = OperationView.document(of: failure, dialect: world.dialect).with(["code": code])
            for name in ["is_network", "is_auth", "state", "failed_attempts"] {
                document[name] = given.given["error"]?[name] ?? document[name]
            }
            let decision = try await hook(kind).ask(
                [LuaArgument("failure", document)], as: PushErrorDecision.self, table: failure.operation.table,
                recordID: failure.operation.recordID
            ) { try PushErrorVerdict.read($0, failure, check) }
            switch decision {
            case .cancelAndUpdate(let record), .changeKind(_, let record?): outcome.record = record
            default: break
            }
        case .afterPull:
            let row = given.row(try given.object("record"), world.dialect)
            let check = check("todo")
            outcome.record = row.record
            let decision = try await hook(kind).ask(
                [LuaArgument("rec", row.record)], as: PulledRowDecision.self, table: "todo", recordID: row.id
            ) { try PulledVerdict.read($0, row, check) }
            if case .change(let record) = decision { outcome.record = record }
        case .afterPullPage: try await page(given, &outcome)
        case .onSchedule:
            let now = clock.now
            _ = try await hook(kind).ask(
                [], as: ScheduleDecision?.self, table: "", recordID: nil,
                extra: [("question", try given.question())]
            ) { try ScheduleVerdict.read($0, now: now) }
        case .onEvent:
            _ = try await hook(kind).ask(
                [LuaArgument("event", try given.object("event"))], as: Bool.self, table: "", recordID: nil
            ) { _ in HookAnswer(true, "none") }
        case .initialize: break
        }
    }

    private func page(_ given: TrialGiven, _ outcome: inout TrialOutcome) async throws {
        let page = try given.page(world.dialect)
        let decisions = try await hook(.afterPullPage).ask(page, check(page.table))
        for (index, (row, decision)) in zip(page.rows, decisions).enumerated() {
            switch decision {
            case .keep: outcome.rows.append(row.record)
            case .change(let record): outcome.rows.append(record)
            case .drop(let reason):
                outcome.rows.append(row.record)
                outcome.dropped[index + 1] = reason
            }
        }
    }

    private func exchange(_ kind: HookKind, _ given: TrialGiven) async throws -> Response {
        let hook = try hook(kind).hook
        let request = try given.request()
        let answered = kind == .response ? try given.response() : nil
        let exchange = PluginExchange()
        exchange.keep(scratch: given.given["scratch"], shared: given.given["shared"], of: caller.plan.name)
        let filter = LuaFilter(
            caller: caller, request: kind == .request ? hook : nil, filter: kind == .filter ? hook : nil,
            response: kind == .response ? hook : nil, retries: 0)
        return try await PluginExchange.$current.withValue(exchange) {
            try await filter.handle(request) { edited in
                self.requests.withLock { $0.append(edited) }
                if let answered { return answered }
                return try await self.world.next(edited)
            }
        }
    }
}

extension HookPlan {
    /// The same hook, whose failure is never passed over.
    fileprivate var strict: HookPlan {
        var plan = self
        plan.onError = kind.errorPolicies.first { $0 == .failClosed || $0 == .hold } ?? .failClosed
        return plan
    }
}

extension JSON {
    /// The object with the members of another one over its own.
    fileprivate func with(_ other: JSON) -> JSON {
        var json = self
        for (name, value) in other.members ?? [] { json[name] = value }
        return json
    }
}
