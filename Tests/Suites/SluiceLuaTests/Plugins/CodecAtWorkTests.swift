import HTTPTypes
import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceLua

@Suite("A codec between an engine and a server")
struct CodecAtWorkTests {
    /// Keeps the conflicts that it is asked about, and lets the local record win.
    private final class SeenConflicts: ConflictHandler {
        let seen = Mutex<[Conflict]>([])

        func decide(_ conflict: Conflict) async throws -> ConflictDecision {
            seen.withLock { $0.append(conflict) }
            return .client
        }
    }

    private struct Device {
        let server = ModelServer()
        let conflicts = SeenConflicts()
        let plugins: Plugins
        let context: SyncContext
        let rows: SyncTable<JSON>

        init(_ text: PluginText = .codec(of: "t"), batchSize: Int? = nil) async throws {
            plugins = try await text.loaded()
            var options = ClientOptions()
            options.retry = .never
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test"), transport: server, filters: [plugins.filter],
                options: options)
            var sync = SyncOptions(conflictHandlers: [conflicts])
            sync.commitLag = .zero
            sync.batchSize = batchSize
            context = try await SyncContext(client: client, store: MemoryStore(), options: plugins.added(to: sync))
            rows = try context.table("t")
        }

        func pull() async throws { _ = try await context.pull(TableQuery("t"), named: "all") }
        func local(_ name: String, of id: String = "1") async throws -> JSON? { try await rows.lookup(id: id)?[name] }
        func remote(_ name: String, of id: String = "1") -> JSON? { server.rows("t")[RecordID(id)]?[name] }
    }

    @Test("the server has its values, and the store and after_pull the local ones")
    func thereAndBack() async throws {
        let hook = """
            after_pull = function(rec)
              if not rec.deleted then rec.seen = rec.title end
            end,
            """
        let device = try await Device(.codec(of: "t", hook, hooks: ["after_pull"]))
        try await device.rows.insert(["id": "1", "title": "milk"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("title") == "w:milk")
        #expect(try await device.local("title") == "milk")
        device.server.seed("t", [["id": "2", "title": "w:tea"]])
        try await device.pull()
        #expect(try await device.local("title", of: "2") == "tea")
        #expect(try await device.local("seen", of: "2") == "tea")
    }

    @Test("a codec that is loaded or removed beside stored rows begins the pulls of its tables again, and no others")
    func loadedLater() async throws {
        let device = try await Device(.codec(of: "other"))
        device.server.seed("t", [["id": "1", "title": "w:milk"]])
        device.server.seed("u", [["id": "1", "title": "w:milk"]])
        func pull() async throws -> [Int] {
            var counts: [Int] = []
            for table in ["t", "u"] {
                device.server.clearLog()
                try await device.context.pull(TableQuery(table), named: "all")
                counts.append(device.server.requests.count)
            }
            return counts
        }
        _ = try await pull()
        #expect(try await device.local("title") == "w:milk")
        let idle = try await pull()
        try await device.plugins.reload([try PluginText.codec(of: "t").plan])
        let loaded = try await pull()
        #expect(loaded[0] > idle[0] && loaded[1] == idle[1], "\(idle), \(loaded)")
        #expect(try await device.local("title") == "milk")
        #expect(try await pull() == idle)
        try await device.plugins.reload([])
        _ = try await pull()
        #expect(try await device.local("title") == "w:milk")
    }

    @Test("a conflict handler sees local values, and its decision goes out in the server's")
    func conflict() async throws {
        let device = try await Device()
        device.server.seed("t", [["id": "1", "title": "w:milk"]])
        try await device.pull()
        device.server.seed("t", [["id": "1", "title": "w:tea"]])
        try await device.rows.update(["id": "1", "title": "beer"])
        _ = try await device.context.push()
        let seen = try #require(device.conflicts.seen.withLock { $0.first })
        #expect(seen.client?["title"] == "beer" && seen.server?["title"] == "tea" && seen.base?["title"] == "milk")
        #expect(device.remote("title") == "w:beer")
        #expect(try await device.context.queue.operations().isEmpty)
    }

    @Test("a change whose answer is lost is known again, without a conflict", arguments: [true, false])
    func lostAnswer(isInsert: Bool) async throws {
        let device = try await Device()
        if isInsert {
            try await device.rows.insert(["id": "1", "title": "beer"])
        } else {
            device.server.seed("t", [["id": "1", "title": "w:milk"]])
            try await device.pull()
            try await device.rows.update(["id": "1", "title": "beer"])
        }
        device.server.onRequest { $0.head.method == .get ? .none : .loseAnswer }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().isEmpty)
        #expect(device.conflicts.seen.withLock { $0.isEmpty })
        #expect(device.remote("title") == "w:beer")
        #expect(try await device.local("title") == "beer")
        try await device.pull()
        #expect(try await device.local("title") == "beer")
    }

    @Test("the members of a batch are translated one by one")
    func batches() async throws {
        let device = try await Device(batchSize: 10)
        device.server.offer([.batches])
        for id in ["1", "2", "3"] { try await device.rows.insert(["id": JSON(id), "title": JSON("t" + id)]) }
        #expect(try await device.context.push().isClean)
        #expect(device.server.calls == ["POST /tables/$batch"])
        for id in ["1", "2", "3"] {
            #expect(device.remote("title", of: id)?.string == "w:t" + id)
            #expect(try await device.local("title", of: id)?.string == "t" + id)
        }
    }

    @Test("a page that fails moves nothing, and comes whole with a codec that reads it")
    func reload() async throws {
        let device = try await Device()
        try await device.rows.insert(["id": "1", "title": "milk"])
        #expect(try await device.context.push().isClean)
        device.server.seed("t", [["id": "1", "title": "w:tea"], ["id": "2", "title": "v:rum"]])
        await #expect(throws: SluiceError.self) { try await device.pull() }
        #expect(try await device.local("title") == "milk")
        var newer = PluginText.codec(of: "t")
        newer.main = """
            return {
              to_wire = function(value) return "v:" .. value end,
              from_wire = function(value) return value:sub(3) end,
            }
            """
        try await device.plugins.reload([try newer.plan])
        try await device.pull()
        #expect(try await device.local("title") == "tea")
        #expect(try await device.local("title", of: "2") == "rum")
    }
}
