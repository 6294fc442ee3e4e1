import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("A plugin in writes, pushes and pulls")
struct LuaSyncHookTests {
    let record: JSON = ["id": "1", "title": "milk", "count": 5]

    func hook(_ name: String, _ body: String, _ manifest: JSON = .object) async throws -> any SyncHook {
        try await PluginText(
            JSON(members: [(name, manifest)]), "return { \(name) = function(a, ctx)\n\(body)\nend }"
        ).loaded().syncHook
    }

    var operation: TableOperation {
        TableOperation(
            id: "op", sequence: 1, table: "todos", recordID: "1", kind: .update,
            createdAt: Timestamp("2026-01-02T00:00:00Z")!)
    }

    func failure(_ status: Int? = 400) -> PushResult.Failure {
        PushResult.Failure(
            operation: operation, record: record, code: .rejected, message: "no", status: status,
            retryAfter: .seconds(7), body: Array(#"{"error":"title"}"#.utf8))
    }

    func enqueue(_ body: String) async throws -> EnqueueDecision {
        try await hook("before_enqueue", body).beforeEnqueue(
            EnqueuedChange(
                table: "todos", recordID: "1", kind: .update, record: record, before: ["id": "1", "count": 5]))
    }

    @Test("before_enqueue looks, changes, refuses")
    func beforeEnqueue() async throws {
        var changed = record
        changed["title"] = "MILK"
        #expect(try await enqueue("assert(a.kind == 'update' and a.before.count == 5)") == .accept)
        #expect(try await enqueue("a:set('title', a.record.title:upper())") == .change(changed))
        #expect(try await enqueue("a.record.title = 'MILK' return a") == .change(changed))
        #expect(try await enqueue("return a") == .accept)
        #expect(try await enqueue("return decide.local_only()") == .localOnly())
        let both = "a:set('title', 'MILK') return decide.local_only()"
        #expect(try await enqueue(both) == .localOnly(changed))
        let refusal = EnqueueDecision.Refusal(
            "too short", code: "short", fields: ["title": "is short"], hookName: "probe")
        let line = "return decide.reject { code = 'short', message = 'too short', fields = { title = 'is short' } }"
        #expect(try await enqueue(line) == .reject(refusal))
    }

    @Test(
        "before_push sends, skips, defers and changes",
        arguments: [
            ("return nil", BeforePushDecision.send),
            ("return decide.skip { reason = 'later' }", .skip(reason: "later")),
            ("return decide.defer { after = 90, reason = 'night' }", .defer(.seconds(90), reason: "night")),
            ("return decide.change_action('delete')", .changeKind(.delete, nil)),
            ("return decide.change_action(a.kind, a.record)", .send),
            (
                "a.record.title = 'x' return decide.change_action('replace', a.record)",
                .changeKind(.update, ["id": "1", "title": "x", "count": 5])
            ),
        ])
    func beforePush(body: String, decision: BeforePushDecision) async throws {
        #expect(try await hook("before_push", body).beforePush(operation, record: record) == decision)
    }

    @Test(
        "on_push_error decides about an operation that failed",
        arguments: [
            ("return nil", PushErrorDecision.next),
            (
                "assert(a.status == 400 and json.decode(a.body).error == 'title') return decide.retry { after = a.retry_after }",
                .retry(after: .seconds(7))
            ),
            ("return decide.cancel_and_discard()", .cancelAndDiscard), ("return decide.abort()", .abort),
            ("return decide.park { reason = a.code }", .park(reason: "rejected")),
            (
                "a.record.title = '' return decide.cancel_and_update(a.record)",
                .cancelAndUpdate(["id": "1", "title": "", "count": 5])
            ),
            (
                "return decide.change_action('update', { id = '1', title = 'x', count = 5 })",
                .changeKind(.update, ["id": "1", "title": "x", "count": 5])
            ),
        ])
    func onPushError(body: String, decision: PushErrorDecision) async throws {
        #expect(try await hook("on_push_error", body).onPushError(failure()) == decision)
    }

    func page(_ count: Int) -> PulledPage {
        PulledPage(
            table: "todos", queryName: "all",
            rows: (1...count).map { PulledRow(id: "\($0)", record: ["id": JSON("\($0)"), "n": JSON($0), "v": "x"]) })
    }

    @Test("after_pull keeps, changes and drops rows")
    func afterPull() async throws {
        let hook = try await hook(
            "after_pull",
            """
            if a.n == 1 then return decide.drop { reason = 'one' } end
            if a.n == 2 then a.v = 'y' return a end
            if a.n == 3 then a.v = 'z' end
            """)
        #expect(
            try await hook.afterPull(page(4)) == [
                .drop(reason: "one"), .change(["id": "2", "n": 2, "v": "y"]), .change(["id": "3", "n": 3, "v": "z"]),
                .keep,
            ])
    }

    @Test("after_pull_page sees all rows at once")
    func afterPullPage() async throws {
        let hook = try await hook(
            "after_pull_page",
            """
            assert(a:count() == 3 and a.table == 'todos' and a.query == 'all')
            for i, row in a:rows() do
              if row.n == 1 then a:drop(i, 'one') else row.v = 'y' .. i end
              if i == 3 then row.v = 'x' end
            end
            """)
        #expect(
            try await hook.afterPull(page(3)) == [
                .drop(reason: "one"), .change(["id": "2", "n": 2, "v": "y2"]), .keep,
            ])
    }

    @Test("a page of a thousand rows passes a plugin")
    func largePage() async throws {
        let hook = try await hook("after_pull", "a.v = a.v .. a.n")
        #expect(try await hook.afterPull(page(1000)).count == 1000)
    }

    @Test("a plugin sees what the one before it has made of a row")
    func chain() async throws {
        var first = PluginText(["after_pull"], "return { after_pull = function(r) r.v = r.v .. '1' end }")
        var second = PluginText(["after_pull"], "return { after_pull = function(r) r.v = r.v .. '2' end }")
        (first.name, second.name) = ("first", "second")
        let plugins = try await Plugins([try second.plan, try first.plan])
        #expect(try await plugins.syncHook.afterPull(page(1)) == [.change(["id": "1", "n": 1, "v": "x12"])])
    }

    /// The rows of ``page(_:)`` as a pull shows them: read from the text of a page.
    func pageOfText(_ count: Int) throws -> PulledPage {
        let records = page(count).rows.map(\.record)
        let text = PulledText(try RowPage(records: records))
        return PulledPage(table: "todos", queryName: "all", rows: records.indices.map { PulledRow(text, $0) })
    }

    @Test("of a page's text only the members that a script sets are written")
    func setsMembers() async throws {
        let hook = try await hook(
            "after_pull",
            """
            if a.n == 1 then return decide.drop { reason = 'one' } end
            if a.n == 2 then a.v = 'y' return a end
            if a.n == 3 then a.v = 'x' end
            if a.n == 4 then a.v = nil end
            if a.n == 5 then a.v, a.w = 'z', { 1 } end
            """)
        #expect(
            try await hook.afterPull(pageOfText(6)) == [
                .drop(reason: "one"), .set(["v": "y"]), .keep, .change(["id": "4", "n": 4]),
                .set(["v": "z", "w": [1]]), .keep,
            ])
    }

    @Test("what was set is counted like any other call, and a log line is kept")
    func figures() async throws {
        let plugins = try await PluginText(
            ["after_pull"],
            """
            return { after_pull = function(r, ctx)
              if r.n == 3 then ctx.log.info('three') end
              if r.n % 2 == 0 then r.v = 'even' end
            end }
            """
        ).loaded()
        _ = try await plugins.syncHook.afterPull(pageOfText(5))
        let figures = try #require(await plugins.metrics.hooks.values.first?["after_pull"])
        #expect(figures.calls == ["ok": 5] && figures.decisions == ["none": 3, "changed": 2])
        #expect(figures.fuel > 0)
        #expect(await plugins.decisions.map { $0.log.map(\.message) } == [["three"]])
        #expect(await plugins.decisions.map(\.recordID) == ["3"])
    }

    @Test("plugins one after the other set members of one row", arguments: [("r.v = r.v .. '2'", "x12"), ("", "x1")])
    func chainOfText(body: String, value: String) async throws {
        var first = PluginText(["after_pull"], "return { after_pull = function(r) r.v = r.v .. '1' r.w = 1 end }")
        var second = PluginText(["after_pull"], "return { after_pull = function(r) \(body) end }")
        (first.name, second.name) = ("first", "second")
        let plugins = try await Plugins([try second.plan, try first.plan])
        #expect(try await plugins.syncHook.afterPull(pageOfText(1)) == [.set(["v": JSON(value), "w": 1])])
    }

    /// What hooks do to a record, where most of it is left alone and where it is not.
    static let edits = [
        "a.v = 'y'", "a.v = a.v", "a.v = nil", "a.n = 5 return a", "return { id = a.id, n = 1 }", "a.n = 1e300",
        "a.n = 2^60", "a.v = { { 1 } }", "a.v = '1.10'", "a.v = '2'", "a.long = a.long", "a.v = a.long",
        "a.v = { a.long }", "a.long = 'x'", "a.version = 'y'", "a:set('v', 'z')", "a['__x'] = 1", "a.n = 'text'",
        "a.v = 5", "return decide.drop { reason = 'r' }", "a.inner = { x = 2 }", "a.new = json.null", "a.v = '\\xff'",
        "for i = 1, 30 do a.n = a.n + 1 end", "for _, k in ipairs(a:fields()) do local x = a[k] end a.v = 'q'",
        "a.v = a:to_table().v .. '!'", "return nil", "a.n = 2 a.n = 1",
    ]

    @Test("a row of a page's text becomes what the record would", arguments: edits + faults)
    func textAsRecord(body: String) async throws {
        let text = #"{"id":"1","n":1,"v":"x","version":"7","long":12345678901234567.89,"inner":{"x":1},"z":"1.10"}"#
        let record = try JSON(parsing: text)
        let schema = TableSchema("todos", columns: [.init("n", .integer), .init("v", .string)])
        let page = PulledText(try RowPage(bytes: Array("[\(text)]".utf8)))
        func outcome(_ row: PulledRow, _ columns: [TableSchema]) async throws -> (record: JSON?, error: String?) {
            var options = PluginOptions()
            options.tables = columns
            let body = body.replacing("a.record = nil ", with: "")
            let plugins = try await PluginText(
                ["after_pull"], "return { after_pull = function(a, ctx)\n\(body)\nend }"
            ).loaded(options)
            do {
                let page = PulledPage(table: "todos", rows: [row])
                switch try await plugins.syncHook.afterPull(page).first {
                case .set(let members): return (row.record.setting(members), nil)
                case .change(let record): return (record, nil)
                case .drop: return (nil, nil)
                default: return (row.record, nil)
                }
            } catch let error as SluiceError {
                return (nil, (error.cause as? PluginFailure).map { "\($0.kind) \($0.message)" } ?? error.message)
            }
        }
        for columns in [[], [schema]] {
            let byRecord = try await outcome(PulledRow(id: "1", version: "7", record: record), columns)
            let byText = try await outcome(PulledRow(page, 0), columns)
            #expect(byText.record == byRecord.record && byText.error == byRecord.error, "\(byText) \(byRecord)")
        }
    }

    static let faults = [
        "error('no')", "error({})", "while true do end", "return 5", "return 'x'", "return {}", "return print",
        "return { decision = 'respond' }", "local t = {} t.t = t return t", "return ctx",
        "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", "return decide.merge({})",
        "a.id = '2'", "nothing()", "local function f() return f() + 1 end f()",
        "a.record = nil a.version = 'x' a.deleted = true",
        "http.request { url = 'https://a.example' }", "io.open('/etc/passwd')",
        "pcall(function() while true do end end) return",
    ]

    @Test(
        "no fault of a script accepts a write, sends an operation, decides a failure or stores a row", arguments: faults
    )
    func faultsHold(body: String) async throws {
        let change = EnqueuedChange(table: "todos", recordID: "1", kind: .update, record: record)
        let enqueue = try await hook("before_enqueue", body)
        let push = try await hook("before_push", body)
        let pushError = try await hook("on_push_error", body)
        let pull = try await hook("after_pull", body.replacing("a.record = nil ", with: ""))
        func fails(_ act: () async throws -> Void) async {
            let error = await #expect(throws: SluiceError.self) { try await act() }
            #expect(error?.code == .hookFailed && error?.cause is PluginFailure)
        }
        await fails { _ = try await enqueue.beforeEnqueue(change) }
        await fails { _ = try await push.beforePush(operation, record: record) }
        await fails { _ = try await pushError.onPushError(failure()) }
        await fails { _ = try await pull.afterPull(page(2)) }
    }

    @Test("a hook that may not wait says so by the name of what it called")
    func waits() async throws {
        let text = PluginText(
            ["before_enqueue"], "return { before_enqueue = function() http.request { url = 'https://a.example' } end }",
            extra: ["permissions": ["http": ["a.example"]]])
        let hook = try await text.loaded().syncHook
        let change = EnqueuedChange(table: "todos", recordID: "1", kind: .update, record: record)
        let error = await #expect(throws: SluiceError.self) { _ = try await hook.beforeEnqueue(change) }
        #expect(error?.message.contains("http.request cannot be used in before_enqueue") == true)
    }

    @Test("the engine does without where the deployment says so")
    func failOpen() async throws {
        let open: JSON = ["on_error": "fail_open"]
        let change = EnqueuedChange(table: "todos", recordID: "1", kind: .update, record: record)
        #expect(try await hook("before_enqueue", "error('no')", open).beforeEnqueue(change) == .accept)
        #expect(try await hook("before_push", "error('no')", open).beforePush(operation, record: record) == .send)
        #expect(try await hook("after_pull", "error('no')", open).afterPull(page(2)) == [.keep, .keep])
        #expect(try await hook("on_push_error", "error('no')", ["on_error": "next"]).onPushError(failure()) == .next)
    }

    @Test("wants says for which tables a plugin is asked")
    func wants() async throws {
        let hook = try await hook("before_push", "", ["match": ["tables": ["todo*"]]])
        #expect(hook.wants(.beforePush, table: "todos") && !hook.wants(.beforePush, table: "users"))
        #expect(!hook.wants(.afterPull, table: "todos"))
    }

    @Test(
        "on_schedule says when",
        arguments: [
            ("return nil", ScheduleDecision?.none), ("return decide.push()", .push),
            ("return decide.pull { tables = { 'a', 'b' } }", .pull(tables: ["a", "b"])),
            ("return decide.pull()", .pull(tables: nil)),
            ("return decide.wait { after = 60 }", .wait(until: Timestamp("2026-01-02T00:01:00Z")!)),
            ("return decide.wait { at = ctx.question.next }", .wait(until: Timestamp("2026-01-02T00:05:00Z")!)),
            ("assert(ctx.question.reason == 'timer' and ctx.question.pending == 3)", nil), ("error('no')", nil),
        ])
    func onSchedule(body: String, decision: ScheduleDecision?) async throws {
        let now = Timestamp("2026-01-02T00:00:00Z")!
        let plugins = try await PluginText(
            ["on_schedule"], "return { on_schedule = function(ctx)\n\(body)\nend }"
        ).loaded()
        let question = ScheduleQuestion(
            reason: .timer, now: now, next: Timestamp("2026-01-02T00:05:00Z")!, pulls: true, pending: 3, failures: 0)
        #expect(try await plugins.scheduleHook.onSchedule(question) == decision)
    }
}
