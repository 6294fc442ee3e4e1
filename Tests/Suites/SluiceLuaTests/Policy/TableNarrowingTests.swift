import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("Tables that a policy leaves a plugin")
struct TableNarrowingTests {
    private let place: PolicyFolder

    init() throws {
        place = try PolicyFolder()
        try place.add(
            "stock",
            #"{"hooks": {"on_conflict": {"match": {"tables": ["stock*", "orders"]}}, "before_push": {}, "on_schedule": {}}}"#
        )
    }

    private func plan(_ line: String) throws -> PluginPlan {
        try #require(try place.policy("plugins:\n  stock:\n    path: plugins/stock\n    \(line)\n").plans.first)
    }

    @Test("it is asked about tables that both name, and never about more")
    func narrows() throws {
        let plan = try plan("tables: [stock_new, \"o*\"]")
        func isAsked(_ kind: HookKind, _ table: String) -> Bool {
            plan.hooks[kind]?.isFor(table: table) == true
                && plan.hooks[kind]?.matches(MatchSubject(table: table)) == true
        }
        #expect(isAsked(.onConflict, "stock_new") && isAsked(.onConflict, "orders"))
        for table in ["stock", "offers", "todo"] { #expect(!isAsked(.onConflict, table), "\(table)") }
        #expect(isAsked(.beforePush, "offers") && !isAsked(.beforePush, "stock"))
        #expect(plan.hooks[.onSchedule]?.matches(MatchSubject()) == true)
        #expect(try self.plan("mode: enforce").hooks[.onConflict]?.isFor(table: "stock") == true)
    }

    @Test("a handler is not asked about the others, and the order says so")
    func handler() async throws {
        try place.folder.write(
            "local f = function() return decide.server() end return { on_conflict = f, before_push = function() end, "
                + "on_schedule = function() end }", to: "plugins/stock/main.lua")
        let policy = try place.policy("plugins:\n  stock:\n    path: plugins/stock\n    tables: [orders]\n")
        let plugins = try await Plugins(policy.plans)
        for (table, decision) in [("orders", ConflictDecision.server), ("stock", .next)] {
            let operation = TableOperation(
                id: "op", sequence: 1, table: table, recordID: "1", kind: .update, createdAt: FixtureWorld.begin)
            let conflict = Conflict(
                operation: operation, client: ["id": "1"], server: ["id": "1"], base: nil, maybeApplied: false,
                status: 412, isDeletedOnServer: false)
            #expect(try await plugins.conflictHandler.decide(conflict) == decision)
        }
        let lines = try OrderReport(policy, table: "stock").lines
        #expect(lines.contains { $0.contains("(on_conflict)") && $0.hasSuffix(", not asked") }, "\(lines)")
    }

    @Test(
        "a table that the manifest does not name is refused, and so is none",
        arguments: [
            ("tables: [todo]", "no such table"), ("tables: []", "expected a table"),
            ("tables: orders", "must be a list"),
            ("tables: [\"\"]", ""),
        ])
    func refusals(line: String, words: String) throws {
        let hooks = #"{"hooks": {"on_conflict": {"match": {"tables": ["stock*", "orders"]}}}}"#
        try place.add("stock", hooks)
        let refusal = place.refusal("plugins:\n  stock:\n    path: plugins/stock\n    \(line)\n")
        let expected = words == "no such table" ? "stock is not for todo" : words
        #expect(refusal.hasPrefix("plugins.yaml:4:") && (expected.isEmpty || refusal.contains(expected)), "\(refusal)")
    }
}
