internal import ArgumentParser
internal import Foundation
internal import SluiceCore
internal import SluiceLua
internal import SluiceSQLite
internal import SluiceTesting
internal import Synchronization

/// Uses one context and its plugins from many tasks at once, for ThreadSanitizer to watch, and then looks whether all
/// is as the server has it.
@main
struct Threads: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "threads",
        abstract: "Edits, pushes, pulls, reads, replaces plugins and cancels tasks, all at the same time.")

    @Option(help: "How long, in seconds.") var seconds = 30
    @Flag(help: "Keep the records in a file rather than in memory.") var file = false

    func run() async throws {
        let server = ModelServer()
        server.seed("items", (0..<100).map { ["id": JSON("i\($0)"), "n": JSON($0)] })
        server.onRequest { _ in
            switch Int.random(in: 0..<40) {
            case 0: .loseAnswer
            case 1: .loseRequest
            default: .none
            }
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "threads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store: any LocalStore =
            file ? try SQLiteStore(path: folder.appending(path: "store.db").path) : MemoryStore()
        let work = try await Work(server: server, store: store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let end = ContinuousClock.now + .seconds(seconds)
            for _ in 0..<3 { group.addTask { try await work.repeated(until: end, work.edit) } }
            for _ in 0..<2 { group.addTask { try await work.repeated(until: end, work.synchronize) } }
            for _ in 0..<3 { group.addTask { try await work.repeated(until: end, work.read) } }
            for _ in 0..<2 { group.addTask { try await work.repeated(until: end, work.cancel) } }
            group.addTask { try await work.repeated(until: end, work.reload) }
            group.addTask { try await work.repeated(until: end, work.watch) }
            try await group.waitForAll()
        }
        server.onRequest(nil)
        print(try await work.end())
        try await store.close()
    }
}

/// What is done at the same time.
private final class Work: Sendable {
    private let server: ModelServer
    private let plugins: Plugins
    private let client: SluiceClient
    private let context: SyncContext
    private let items: SyncTable<JSON>
    private let counts = Mutex<[String: Int]>([:])

    init(server: ModelServer, store: any LocalStore) async throws {
        self.server = server
        plugins = try await Plugins([Self.plan(1)], options: PluginOptions(store: store, drainLimit: .milliseconds(50)))
        client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, filters: [plugins.filter],
            options: ClientOptions(
                retry: RetryPolicy(attempts: 2, firstPause: .milliseconds(1), maximumPause: .milliseconds(5))))
        context = try await SyncContext(
            client: client, store: store,
            options: plugins.added(to: SyncOptions(conflictPolicy: .clientWins, pageSize: 20, concurrency: 4)))
        items = try context.table("items")
    }

    /// Does something again and again. What Sluice refuses, and what was cancelled, is no fault.
    func repeated(until end: ContinuousClock.Instant, _ body: @Sendable () async throws -> String) async throws {
        while ContinuousClock.now < end {
            do {
                let name = try await body()
                counts.withLock { $0[name, default: 0] += 1 }
            } catch let error as SluiceError {
                counts.withLock { $0["\(error.code)", default: 0] += 1 }
            } catch is CancellationError {}
        }
    }

    @Sendable func edit() async throws -> String {
        let id = "i\(Int.random(in: 0..<120))"
        switch Int.random(in: 0..<4) {
        case 0: _ = try await items.insert(["id": JSON(id), "n": JSON(Int.random(in: 0..<1000))])
        case 1: try await items.delete(id: id)
        default: _ = try await items.update(["id": JSON(id), "n": JSON(Int.random(in: 0..<1000))])
        }
        return "edits"
    }

    @Sendable func synchronize() async throws -> String {
        if Bool.random() { server.seed("items", [["id": JSON("i\(Int.random(in: 0..<120))"), "n": -1]]) }
        if Bool.random() {
            _ = try await context.push()
            return "pushes"
        }
        try await items.pull(named: "all")
        return "pulls"
    }

    @Sendable func read() async throws -> String {
        if Bool.random() {
            _ = try await items.records()
            return "reads"
        }
        _ = try await client.table("items").read(TableQuery("items", top: 5))
        return "requests"
    }

    @Sendable func cancel() async throws -> String {
        let task = Task { [self] in
            _ = try await [edit, synchronize, read][Int.random(in: 0..<3)]()
        }
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<3000)))
        task.cancel()
        _ = try? await task.value
        return "cancellations"
    }

    @Sendable func reload() async throws -> String {
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<20)))
        try await plugins.reload([Self.plan(Int.random(in: 1..<1000))])
        return "reloads"
    }

    @Sendable func watch() async throws -> String {
        try await Task.sleep(for: .milliseconds(2))
        _ = await (plugins.metrics, plugins.decisions)
        _ = try await context.status()
        return "looks"
    }

    /// Lets all come to an end, and compares.
    func end() async throws -> String {
        for _ in 0..<50 {
            if try await context.push().remaining == 0 { break }
        }
        try await items.pull(named: "all")
        let here = try await items.records().map { [$0["id"], $0["n"], $0["version"]] }
        let there = server.rows("items").values.filter { $0["deleted"] != true }
            .map { [$0["id"], $0["n"], $0["version"]] }
        func sorted(_ rows: [[JSON?]]) -> [String] { rows.map { "\($0)" }.sorted() }
        let left = try await context.queue.operations().count
        guard left == 0, sorted(here) == sorted(there) else {
            throw ValidationError("\(left) operations are left, \(here.count) records here, \(there.count) there")
        }
        let done = counts.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return "equal: \(here.count) records after \(done.joined(separator: ", "))"
    }

    private static func plan(_ version: Int) throws -> PluginPlan {
        let hooks = ["request", "filter", "response", "before_enqueue", "before_push", "on_conflict", "after_pull"]
        let manifest =
            #"{"name":"threads","version":"1.0.\#(version)","description":"asked by many","api":"1.0","hooks":{"#
            + hooks.map { "\"\($0)\":{}" }.joined(separator: ",") + "}}"
        let script = """
            return {
              request = function(req, ctx) req.headers:set("X-Kind", req.table) end,
              filter = function(req, next, ctx)
                ctx.scratch:set("tries", (ctx.scratch:get("tries") or 0) + 1)
                return next(req)
              end,
              response = function(res, ctx) ctx.trace.set("status", res.status) end,
              before_enqueue = function(op, ctx)
                if op.record and op.record.n == 13 then return decide.reject("no thirteen") end
              end,
              before_push = function(op, ctx) if op.kind == "delete" then ctx.log.debug("a delete") end end,
              on_conflict = function(c, ctx) if c.server then return decide.server() end end,
              after_pull = function(rec, ctx) if rec.n and rec.n < -1 then return decide.drop("below") end end,
            }
            """
        return try PluginPlan(
            PluginBundle(
                files: ["plugin.json": Array(manifest.utf8), "main.lua": Array(script.utf8)], location: "threads"))
    }
}
