internal import SluiceCore

/// A plugin's `read`, `insert`, `update` and `delete`, as one link of the chain around requests to a server's tables.
struct TableLink: Sendable {
    let caller: PluginCaller

    init(_ caller: PluginCaller) { self.caller = caller }

    private var hooks: [HookPlan] { caller.plan.hooks(in: .table).filter(\.match.isPossible) }

    /// The link with its place; nil for a plugin without such hooks.
    var placed: Placed<TableLink>? { hooks.first.map { Placed(self, placement: $0.placement) } }

    /// Whether it has a hook for a request to that table.
    func isFor(table: String) -> Bool { hooks.contains { $0.isFor(table: table) } }

    /// Returns the hook for a request; nil for none.
    func hook(for question: TableQuestion) -> HookPlan? {
        let subject = MatchSubject(table: question.table, kind: question.kind)
        return hooks.first { $0.kind == question.hook && $0.matches(subject) }
    }

    /// Runs the script up to its `next`.
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
                    link: self, hook: hook, call: call, id: id, given: given,
                    since: caller.services.environment.steady()),
                edit)
        }
    }

    /// The progress of a script.
    enum Begun {
        /// The script has answered without `next`.
        case done(TableVerdict)
        /// The script waits in its `next` for the answer to the request.
        case next(SuspendedLink, TableRequestEdit)
    }
}

/// A script that waits in its `next` for the answer to a request to a table.
struct SuspendedLink: Sendable {
    let link: TableLink
    let hook: HookPlan
    let call: HookCall
    let id: UInt64
    let given: GivenRows
    let since: Timestamp

    private var caller: PluginCaller { link.caller }
    private var elapsed: Duration { since.duration(to: caller.services.environment.steady()) }

    /// Resumes the script with the records of the request.
    ///
    /// - Throws: ``PluginFailure``; `CancellationError`.
    func goOn(_ rows: [JSON]) async throws -> TableVerdict {
        try await caller.goOn(id, .rows(given.give(rows), after: elapsed), call, as: TableVerdict.self)
    }

    /// Tells the script that the request was refused. Its reaction is ignored.
    func refused() async {
        let message = "the request was refused, or is tried anew because others changed the record"
        _ = try? await caller.goOn(id, .nextFailed(message, after: elapsed), call, as: TableVerdict.self)
    }
}
