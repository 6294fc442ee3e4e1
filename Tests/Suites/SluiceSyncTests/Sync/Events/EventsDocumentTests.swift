import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

/// The snippets of docs/events.md and docs/scheduling.md, run.
@Suite("The pages about events and schedules")
struct EventsDocumentTests {
    @Test("every line of their Swift is compiled here", arguments: ["events.md", "scheduling.md"])
    func compiled(page: String) throws {
        #expect(try DocumentedSwift.notCompiled(of: page, in: #filePath) == [])
    }

    private func context() async throws -> SyncContext {
        let server = ModelServer()
        server.seed("todos", [["id": "9", "text": "bread"]])
        let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server)
        return try await SyncContext(client: client, store: MemoryStore())
    }

    @Test("changes")
    func changes() async throws {
        let context = try await context()
        let told = Recorder<String>()
        let showTodos = { @Sendable () async in told.add("todos") }
        let reader = Task {
            for await batch in context.changes {
                for change in batch.changes where change.source != .local {
                    print(change.table, change.recordID, change.kind, change.source)
                }
                if batch.concerns("todos") { await showTodos() }
            }
        }
        while told.all.isEmpty {
            try await context.table("todos").insert(["text": "milk"])
            await Task.yield()
        }
        reader.cancel()
        await reader.value
    }

    @Test("live queries")
    func live() async throws {
        struct List {
            let shown: Recorder<Int>
            func show(_ records: [JSON]) { shown.add(records.count) }
        }
        let todos = try await context().table("todos")
        let list = List(shown: Recorder())
        let reader = Task {
            let byText = TableQuery("todos", order: [.init("text")], top: 50)
            for try await update in todos.observe(byText) {
                list.show(update.records)
            }
        }
        while list.shown.all.isEmpty { await Task.yield() }
        try await todos.insert(["text": "milk"])
        while list.shown.all.count < 2 { await Task.yield() }
        #expect(list.shown.all == [0, 1])
        reader.cancel()
        try await reader.value

        var updates = todos.observe().makeAsyncIterator()
        let former = try await updates.next()?.records ?? []
        try await todos.insert(["text": "bread"])
        let update = try #require(try await updates.next())
        let next = update.diff.applied(to: former)
        #expect(next == update.records)
    }

    @Test("progress")
    func progress() async throws {
        let context = try await context()
        let result = try await context.pull(TableQuery("todos"), named: "all") { progress in
            print(progress.rows, "of", progress.total.map(String.init) ?? "?", progress.bytes, "bytes")
        }
        #expect(result.stored == 1)
    }

    @Test("status")
    func status() async throws {
        struct Badge {
            let shown = Recorder<String>()
            func clear() { shown.add("") }
            func spin() { shown.add("spin") }
            func show(_ text: String) { shown.add(text) }
        }
        let (context, badge) = (try await context(), Badge())
        let reader = Task {
            for await phase in context.statusUpdates {
                switch phase {
                case .idle: badge.clear()
                case .pushing, .pulling: badge.spin()
                case .offline: badge.show("offline")
                case .waiting(let until): badge.show("next try at \(until)")
                case .needsAttention(let count): badge.show("\(count) changes need you")
                }
            }
        }
        while badge.shown.all.isEmpty { await Task.yield() }
        try await context.pull(TableQuery("todos"))
        while badge.shown.all.count < 3 { await Task.yield() }
        #expect(badge.shown.all == ["", "spin", ""])
        reader.cancel()
        await reader.value
    }

    @Test("a scheduler")
    func scheduler() async throws {
        struct Log {
            let lines = Recorder<String>()
            func warning(_ line: String) { lines.add(line) }
        }
        let (context, log) = (try await context(), Log())

        let scheduler = SyncScheduler(
            context,
            SyncSchedule(pulls: [.init(TableQuery("todos"), named: "all")], interval: .seconds(60)))
        let syncing = Task { try await scheduler.run() }

        let reader = Task {
            for await run in scheduler.runs {
                if let failure = run.failure { log.warning("\(failure); next run at \(run.next)") }
            }
        }
        scheduler.syncNow()
        while try await context.table("todos").count() == 0 { await Task.yield() }
        #expect(log.lines.all.isEmpty)
        reader.cancel()
        await reader.value
        syncing.cancel()
        try await syncing.value
    }
}
