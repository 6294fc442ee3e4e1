internal import SluiceCore

/// A plugin's `read`, `insert`, `update` and `delete`, as one link of the chain around requests to a server's tables.
struct TableLink: Sendable {
    let caller: PluginCaller

    init(_ caller: PluginCaller) { self.caller = caller }

    private var hooks: [HookPlan] { caller.plan.hooks(in: .table).filter(\.match.isPossible) }

    /// The link with its place; nil for a plugin without such hooks.
    var placed: Placed<TableLink>? { hooks.first.map { Placed(self, placement: $0.placement, match: $0.match) } }

    /// Whether it has a hook for something of that table.
    func isFor(table: String) -> Bool { hooks.contains { $0.isFor(table: table) } }

    /// The hook that a request is for; nil for none.
    func hook(for question: TableQuestion) -> HookPlan? {
        let subject = MatchSubject(table: question.table, kind: question.kind)
        return hooks.first { $0.kind == question.hook && $0.matches(subject) }
    }

    /// Asks, as far as the script's `next`.
    ///
    /// - Throws: ``PluginFailure``; `CancellationError`.
    func begin(_ hook: HookPlan, _ question: TableQuestion, _ rules: RecordCheck) async throws -> Begun {
        let request = TableRequestDocument(question, rules.of(caller.plan, table: question.table))
        let given = GivenRows()
        let call = HookCall(
            plan: hook, arguments: [LuaArgument("table_req", request.json), LuaArgument("table_next", .object)],
            tableRequest: request, table: question.table, recordID: question.recordID
        ) { try TableVerdict.read($0, of: hook.kind, given: given.given, rules) }
        switch try await caller.askToNext(call, as: TableVerdict.self) {
        case .done(let verdict): return .done(verdict)
        case .next(let id, let edit):
            return .next(
                SuspendedLink(
                    link: self, hook: hook, call: call, id: id, given: given, since: caller.services.environment.now()),
                edit)
        }
    }

    /// How far a script has come.
    enum Begun {
        /// It has answered without `next`.
        case done(TableVerdict)
        /// It waits for what the request brings.
        case next(SuspendedLink, TableRequestEdit)
    }
}

/// A script that waits in its `next` for what a request to a table brings.
struct SuspendedLink: Sendable {
    let link: TableLink
    let hook: HookPlan
    let call: HookCall
    let id: UInt64
    let given: GivenRows
    let since: Timestamp

    private var caller: PluginCaller { link.caller }
    private var elapsed: Duration { since.duration(to: caller.services.environment.now()) }

    /// Goes on with the records that the request has brought.
    ///
    /// - Throws: ``PluginFailure``; `CancellationError`.
    func goOn(_ rows: [JSON]) async throws -> TableVerdict {
        try await caller.goOn(id, .rows(given.give(rows), after: elapsed), call, as: TableVerdict.self)
    }

    /// Tells the script that the request was refused. What it makes of that is its own affair.
    func refused() async {
        let message = "the request was refused, or is tried anew because others changed the record"
        _ = try? await caller.goOn(id, .nextFailed(message, after: elapsed), call, as: TableVerdict.self)
    }
}
