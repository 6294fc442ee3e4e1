import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("The permission to write to tables")
struct TablePermissionTests {
    static let record: JSON = ["id": "1", "title": "milk"]

    /// Plugins of one hook, with that word for the table `todos` in the manifest.
    func plugins(_ hook: String, _ body: String, _ tables: JSON) async throws -> Plugins {
        try await PluginText(
            [hook], "return { \(hook) = function(a, ctx)\n\(body)\nend }", extra: ["permissions": ["tables": tables]]
        ).loaded()
    }

    private static let operation = TableOperation(
        id: "op", sequence: 1, table: "todos", recordID: "1", kind: .update,
        createdAt: Timestamp("2026-01-02T00:00:00Z")!)

    /// Asks the hook as the engine does.
    ///
    /// - Returns: what the error says; nil for none.
    func refusal(_ hook: String, _ body: String, _ tables: JSON) async throws -> String? {
        let plugins = try await plugins(hook, body, tables)
        let (record, operation) = (Self.record, Self.operation)
        do {
            switch hook {
            case "before_enqueue":
                _ = try await plugins.syncHook.beforeEnqueue(
                    EnqueuedChange(table: "todos", recordID: "1", kind: .update, record: record))
            case "before_push": _ = try await plugins.syncHook.beforePush(operation, record: record)
            case "on_push_error":
                _ = try await plugins.syncHook.onPushError(
                    PushResult.Failure(
                        operation: operation, record: record, code: .rejected, message: "no", status: 400))
            case "on_conflict":
                var server = record
                server["title"] = "tea"
                _ = try await plugins.conflictHandler.decide(
                    Conflict(
                        operation: operation, client: record, server: server, base: ["id": "1"], maybeApplied: false,
                        status: 412, isDeletedOnServer: false))
            default:
                _ = try await plugins.syncHook.afterPull(
                    PulledPage(table: "todos", queryName: "q", rows: [PulledRow(id: "1", record: record)]))
            }
            return nil
        } catch let error as SluiceError {
            let failure = try #require(error.cause as? PluginFailure)
            #expect(failure.kind == .permission)
            return failure.message
        }
    }

    static let writes = [
        ("before_enqueue", "a:set('title', 'x')"), ("before_enqueue", "a:set('title', 'x') return decide.local_only()"),
        ("before_push", "a.record.title = 'x' return decide.change_action('update', a.record)"),
        ("before_push", "return decide.change_action('delete')"),
        ("on_push_error", "return decide.cancel_and_update(a.record)"),
        ("on_push_error", "return decide.change_action('insert')"),
        ("on_conflict", "return a:merge { default = 'client' }"), ("on_conflict", "return decide.merge(a.server)"),
        ("on_conflict", "return decide.delete()"), ("after_pull", "a.title = 'x'"),
        ("after_pull_page", "a:row(1).title = 'x'"),
    ]

    @Test(
        "a decision that writes to a table fails with a plain message where the manifest says r of it",
        arguments: writes)
    func readOnly(hook: String, body: String) async throws {
        #expect(
            try await refusal(hook, body, ["todos": "r", "other": "rw"])
                == "the plugin may read the table todos and not write to it: permissions.tables in plugin.json says "
                + "\"r\" of it, and this takes \"rw\"")
        #expect(
            try await refusal(hook, body, ["other": "rw"])
                == "the plugin may not write to the table todos: permissions.tables in plugin.json names others, and "
                + "this takes \"rw\" for it")
        #expect(try await refusal(hook, body, ["todos": "rw"]) == nil)
        #expect(try await refusal(hook, body, .object) == nil)
    }

    @Test(
        "one that writes nothing does not",
        arguments: [
            ("before_enqueue", "assert(a.record.title == 'milk')"), ("before_enqueue", "return decide.local_only()"),
            ("before_enqueue", "return a"), ("before_push", "return decide.skip()"),
            ("before_push", "return decide.change_action(a.kind, a.record)"),
            ("on_push_error", "return decide.retry { after = 1 }"), ("on_conflict", "return decide.server()"),
            ("on_conflict", "return decide.client()"), ("on_conflict", "return decide.ask()"),
            ("after_pull", "return a"), ("after_pull", "return decide.drop()"), ("after_pull_page", "a:drop(1, 'x')"),
        ])
    func harmless(hook: String, body: String) async throws {
        #expect(try await refusal(hook, body, ["todos": "r"]) == nil)
    }

    @Test("a name goes before patterns, and of patterns the one that allows less")
    func narrower() {
        var permissions = PluginPermissions()
        permissions.tables = ["todo*": .readWrite, "*_archive": .read, "todo_x": .read, "todo_archive": .readWrite]
        #expect(permissions.access(to: "todos") == .readWrite && permissions.access(to: "todo_x") == .read)
        #expect(permissions.access(to: "todo_old_archive") == .read)
        #expect(permissions.access(to: "todo_archive") == .readWrite && permissions.access(to: "users") == nil)
    }

    @Test("a fixture meets the same refusal")
    func fixture() async throws {
        let fixture = #"""
            {"name": "a", "hook": "on_conflict", "expect": {"error": "permission"},
             "given": {"conflict": {"table": "todos", "client": {"id": "1", "n": 1}, "server": {"id": "1", "n": 2}}}}
            """#
        let bundle = try PluginBundle.handler(
            "return c:merge { default = 'client' }", extra: ["permissions": ["tables": ["todos": "r"]]],
            files: ["tests/a.json": fixture])
        let report = await FixtureRunner(bundle).run()
        #expect(report.isGood, "\(report.lines)")
        var trial = PluginConvergence(bundle)
        (trial.conflicts, trial.stories) = (20, 2)
        #expect(try await trial.run().broken[.answers] != nil)
    }

    @Test("the check does not call a permission to write unused")
    func check() async throws {
        let body = "return c:merge { default = 'client' }"
        for (word, isUsed) in [("rw", true), ("r", false)] {
            let bundle = try PluginBundle.handler(body, extra: ["permissions": ["tables": ["todos": JSON(word)]]])
            let report = await PluginCheck.run(bundle)
            #expect(report.lines.contains { $0.contains("the permission tables is not used") } != isUsed)
        }
    }
}
