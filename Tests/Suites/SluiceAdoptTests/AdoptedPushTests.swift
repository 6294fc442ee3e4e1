import Foundation
import HTTPTypes
import SluiceAdopt
import SluiceBackend
import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@Suite("Pushing what an old store had waiting")
struct AdoptedPushTests {
    /// Requests to a backend in the same process.
    private struct BackendTransport: Transport {
        let backend: Backend
        func send(_ request: SyncRequest) async throws -> SyncResponse { await backend.respond(to: request) }
    }

    /// Notes each change that the server has made.
    private final class Made: TableHooks {
        private let made = Mutex<[String]>([])
        var list: [String] { made.withLock { $0 } }
        func clear() { made.withLock { $0 = [] } }

        func after(_ answer: inout HookAnswer) async throws {
            let id = answer.record?["id"]?.string ?? ""
            switch answer.operation {
            case .insert, .update, .delete: made.withLock { $0.append("\(answer.operation) \(id)") }
            default: break
            }
        }
    }

    /// A server whose records the old store has pulled, and what it has done since.
    private struct Scene {
        let sample: Sample
        let folder: Folder
        let made: Made
        let backend: Backend
        let online: SluiceClient
        let versions: [String: String]

        init(_ sample: Sample) async throws {
            self.sample = sample
            folder = try Folder()
            made = Made()
            backend = try await Backend(BackendConfiguration(tables: [.init("todos")]), hooks: ["todos": made])
            online = SluiceClient(
                endpoint: try Endpoint("http://server.test"), dialect: sample.dialect,
                transport: BackendTransport(backend: backend))
            var versions: [String: String] = [:]
            for id in ["t1", "t2", "t3", "t4", "t6"] {
                let record = try await online.table("todos").insert(["id": JSON(id), "text": "first"])
                versions[id] = record["version"]?.string
            }
            self.versions = versions
            made.clear()
            try sample.make(at: folder.file("old.db"), versions)
        }

        /// Adopts the old store, and returns a context behind that transport.
        func adopted(_ transport: any Transport) async throws -> SyncContext {
            var options = ClientOptions(retry: .never)
            options.environment.sleep = { _ in }
            let client = SluiceClient(
                endpoint: try Endpoint("http://server.test"), dialect: sample.dialect, transport: transport,
                options: options)
            let context = try await SyncContext(client: client, store: MemoryStore())
            try await context.adopt(OldStore(path: folder.file("old.db")), options: sample.options)
            return context
        }

        func remote(_ id: String) async throws -> JSON? {
            do { return try await online.table("todos").lookup(id: id) } catch let error as SluiceError {
                guard error.code == .notFound else { throw error }
                return nil
            }
        }
    }

    /// Pushes until nothing is left that a push can settle.
    private func push(_ context: SyncContext, over line: LossyTransport) async throws {
        for round in 0..<60 {
            if round == 50 { line.heal() }
            _ = try await context.push()
            if try await context.queue.operations().allSatisfy({ $0.state == .parked }) { return }
        }
        Issue.record("the queue does not settle")
    }

    private func check(_ scene: Scene, _ context: SyncContext) async throws {
        for id in ["t3", "t5"] {
            let remote = try #require(try await scene.remote(id))
            for (name, value) in scene.sample.records[id]?.members ?? [] {
                #expect((remote[name] ?? .null) == value, "\(id).\(name)")
            }
            #expect(try await context.table("todos").lookup(id: id)?["version"] == remote["version"])
        }
        #expect(try await scene.remote("t4") == nil)
        // What the server refused, and what was made on an older version, is a conflict, and never sent over it.
        #expect(try await scene.remote("t6")?["text"] == "first")
        let left = try await context.queue.operations()
        #expect(left.map(\.recordID) == ["t6"] && left.allSatisfy(\.isHeldConflict), "\(left)")
        #expect(try await context.store.checkConsistency() == [])
    }

    @Test("each change arrives once, also when answers are lost", arguments: Sample.all, [1, 2, 3] as [UInt64])
    func once(_ sample: Sample, _ seed: UInt64) async throws {
        let scene = try await Scene(sample)
        let line = LossyTransport(BackendTransport(backend: scene.backend), seed: seed, rate: 0.5)
        let context = try await scene.adopted(line)
        try await push(context, over: line)
        try await check(scene, context)
        #expect(scene.made.list.sorted() == ["delete t4", "insert t5", "update t3"])
    }

    @Test("what the old client had sent before it ended is not done again", arguments: Sample.all, [4, 5] as [UInt64])
    func alreadyDone(_ sample: Sample, _ seed: UInt64) async throws {
        let scene = try await Scene(sample)
        let todos = scene.online.table("todos")
        var changed = sample.records["t3"] ?? .object
        changed["version"] = scene.versions["t3"].map { JSON($0) }
        _ = try await todos.insert(sample.records["t5"] ?? .object)
        _ = try await todos.update(changed)
        try await todos.delete(id: "t4")
        let done = try await (scene.remote("t3"), scene.remote("t5"))
        scene.made.clear()
        let line = LossyTransport(BackendTransport(backend: scene.backend), seed: seed, rate: 0.5)
        let context = try await scene.adopted(line)
        try await push(context, over: line)
        try await check(scene, context)
        #expect(scene.made.list == [])
        #expect(try await scene.remote("t3") == done.0)
        #expect(try await scene.remote("t5") == done.1)
    }

    @Test("a record that another client has changed since is a conflict, and its change stays", arguments: Sample.all)
    func foreign(_ sample: Sample) async throws {
        let scene = try await Scene(sample)
        let todos = scene.online.table("todos")
        for id in ["t3", "t4"] {
            var changed = try #require(try await scene.remote(id))
            changed["text"] = "theirs"
            _ = try await todos.update(changed)
        }
        let context = try await scene.adopted(BackendTransport(backend: scene.backend))
        _ = try await context.push()
        for id in ["t3", "t4"] { #expect(try await scene.remote(id)?["text"] == "theirs") }
        let held = try await context.queue.operations()
        #expect(Set(held.map(\.recordID)) == ["t3", "t4", "t6"] && held.allSatisfy(\.isHeldConflict))
        // Decided, the change goes out on top of the server's record.
        for operation in held
        where operation.recordID != "t6" || sample.format == .javascript || sample.format == .toolkit {
            try await context.queue.resolve(operation.id, .client)
        }
        _ = try await context.push()
        #expect(try await scene.remote("t3")?["text"] == "edited")
        #expect(try await scene.remote("t4") == nil)
    }

    @Test(
        "an update without a version is compared with the server's record before it is sent", arguments: [true, false])
    func withoutVersion(_ isDone: Bool) async throws {
        let sample = Sample(format: .android)
        let scene = try await Scene(sample)
        let path = scene.folder.file("wiped.db")
        try sample.make(at: path, scene.versions) { $0 + "UPDATE todos SET version = NULL WHERE id = 't3';" }
        if isDone {
            var changed = sample.records["t3"] ?? .object
            changed["version"] = scene.versions["t3"].map { JSON($0) }
            _ = try await scene.online.table("todos").update(changed)
        }
        scene.made.clear()
        let client = SluiceClient(
            endpoint: try Endpoint("http://server.test"), dialect: sample.dialect,
            transport: BackendTransport(backend: scene.backend))
        let context = try await SyncContext(client: client, store: MemoryStore())
        try await context.adopt(OldStore(path: path), options: sample.options)
        _ = try await context.push()
        #expect(!scene.made.list.contains("update t3"))
        let left = try await context.queue.operations().map(\.recordID)
        #expect(left == (isDone ? ["t6"] : ["t6", "t3"]))
        #expect(try await scene.remote("t3")?["text"] == (isDone ? "edited" : "first"))
    }

    @Test("the first pull goes on from an adopted token, and reads again what a given-up change had hidden")
    func pulling() async throws {
        let sample = Sample(format: .net)
        let scene = try await Scene(sample)
        let now = Timestamp(ticks: SyncEnvironment.system.now().ticks)
        let token = now.advanced(by: .seconds(60)).text(fractionDigits: 7).replacingOccurrences(of: "Z", with: "+00:00")
        let path = scene.folder.file("tokens.db")
        try sample.make(at: path, scene.versions) {
            $0.replacingOccurrences(of: "2020-01-01T01:00:00.0000000+01:00", with: token)
        }
        let asked = Mutex<[String]>([])
        struct Listening: Transport {
            let inner: BackendTransport
            let note: @Sendable (SyncRequest) -> Void
            func send(_ request: SyncRequest) async throws -> SyncResponse {
                note(request)
                // A server of its time has no change tokens.
                var request = request
                if let prefer = HTTPField.Name("Prefer") { request.head.headerFields[prefer] = nil }
                return try await inner.send(request)
            }
        }
        let client = SluiceClient(
            endpoint: try Endpoint("http://server.test"), dialect: sample.dialect,
            transport: Listening(inner: BackendTransport(backend: scene.backend)) { request in
                if request.head.method == .get { asked.withLock { $0.append(request.head.path ?? "") } }
            })
        let context = try await SyncContext(client: client, store: MemoryStore())
        var options = sample.options
        options.queries = [.init(TableQuery("todos"), named: "all")]
        let report = try await context.adopt(OldStore(path: path), options: options)
        #expect(report.tokens.first?.startsAt != nil)
        for operation in try await context.queue.operations() { try await context.queue.discard(operation.id) }
        _ = try await context.pull(TableQuery("todos"), named: "all")
        #expect(asked.withLock { $0.first?.contains("updatedAt") } == true, "\(asked.withLock { $0 })")
        for id in ["t3", "t4", "t6"] {
            #expect(try await context.table("todos").lookup(id: id)?["text"] == "first", "\(id)")
        }
        #expect(try await context.table("todos").lookup(id: "t1")?["text"] == "007", "older than the token")
    }
}
