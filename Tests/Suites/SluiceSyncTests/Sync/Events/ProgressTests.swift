import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Progress: how far a push or a pull has come")
struct ProgressTests {
    @Test("a pull tells rows and bytes page by page", arguments: StoreKind.allCases)
    func pull(_ kind: StoreKind) async throws {
        let server = ModelServer()
        server.seed("todos", (0..<25).map { ["id": JSON("r\($0)")] })
        let device = try await Device(kind, server: server, pageSize: 10, adjust: { $0.pull.countsRows = true })
        let told = Recorder<SyncProgress>()
        try await device.context.pull(TableQuery("todos")) { told.add($0) }
        #expect(told.all.map(\.rows) == [10, 20, 25])
        #expect(told.all.allSatisfy { $0.step == .pulling && $0.table == "todos" && $0.total == 25 })
        let bytes = told.all.map(\.bytes)
        #expect(bytes == bytes.sorted() && bytes.first ?? 0 > 100 && Set(bytes).count == 3)
    }

    @Test("a server that fails at a count is asked again without, and an unwatched pull asks for none")
    func uncounted() async throws {
        var counting = SyncOptions()
        counting.pull.countsRows = true
        let rows = #"[{"id":"a","version":"1","updatedAt":"2026-01-01T00:00:00.000Z"}]"#
        for refusal in [400, 500, 501] {
            let transport = ScriptedTransport([.json(refusal, "{}"), .json(200, rows), .json(200, "[]")])
            let client = SluiceClient(
                endpoint: try Endpoint("https://example.com"), dialect: .azureV2, transport: transport,
                options: ClientOptions(retry: .never))
            let context = try await SyncContext(client: client, store: MemoryStore(), options: counting)
            let told = Recorder<SyncProgress>()
            try await context.pull(TableQuery("todos")) { told.add($0) }
            #expect(told.all.map(\.rows) == [1] && told.all.first?.total == nil)
            let counts = transport.requests.map { $0.head.path?.contains("inlinecount") == true }
            #expect(counts.first == true && counts.dropFirst().allSatisfy { !$0 }, "\(refusal)")
        }
        let transport = ScriptedTransport([.json(200, rows), .json(200, "[]")])
        let client = SluiceClient(
            endpoint: try Endpoint("https://example.com"), dialect: .azureV2, transport: transport)
        try await SyncContext(client: client, store: MemoryStore(), options: counting).pull(TableQuery("todos"))
        #expect(transport.requests.allSatisfy { $0.head.path?.contains("inlinecount") == false })
    }

    @Test("a push tells operations, bytes and how many there are", arguments: StoreKind.allCases)
    func push(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        for number in 0..<3 { try await device.todos.insert(["id": JSON("r\(number)"), "text": "milk"]) }
        let told = Recorder<SyncProgress>()
        _ = try await device.context.push { told.add($0) }
        #expect(told.all.map(\.rows) == [1, 2, 3])
        #expect(told.all.allSatisfy { $0.step == .pushing && $0.total == 3 })
        let body: JSON = ["id": "r0", "text": "milk"]
        #expect(told.all.last?.bytes == 3 * body.description.utf8.count)
    }

    @Test("the sequence tells of pushes and pulls, whoever began them, and ends with the newest")
    func sequence() async throws {
        let device = try await Device(.memory)
        for number in 0..<3 { try await device.todos.insert(["id": JSON("r\(number)")]) }
        var progress = device.context.progress.makeAsyncIterator()
        try await device.todos.pull()
        let last = await progress.next()
        #expect(last?.step == .pulling && last?.rows == 3)
        _ = progress
        #expect(Metering.meter == nil)
    }
}
