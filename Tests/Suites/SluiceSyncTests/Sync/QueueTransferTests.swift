import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Queue: what waits is exported as text and imported elsewhere")
struct QueueTransferTests {
    private func filled(_ kind: StoreKind, server: ModelServer) async throws -> Device {
        let device = try await Device(kind, server: server, batchSize: 10)
        server.seed("todos", [["id": "a", "n": 1, "m": 1], ["id": "b", "n": 1], ["id": "c", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(
            ["id": "a", "n": 2], options: OperationOptions(tags: ["x"], isMergeable: false))
        try await device.todos.insert(["id": "d", "text": "née\n\u{1F980}", "price": JSON(JSON.Number(text: "1.10")!)])
        try await device.todos.update(["id": "a", "m": 2], options: OperationOptions(isMergeable: false))
        try await device.todos.delete(id: "b")
        return device
    }

    @Test("another store carries on where this one stood", arguments: StoreKind.allCases)
    func carriesOn(_ kind: StoreKind) async throws {
        let server = ModelServer()
        let device = try await filled(kind, server: server)
        let text = try await device.context.queue.export()
        #expect(text.split(separator: "\n").count == 4)
        let other = try await Device(kind, server: server)
        #expect(try await other.context.queue.import(text) == TableOperation.Import(imported: 4, skipped: 0))
        let before = try await device.context.queue.operations()
        let after = try await other.context.queue.operations()
        #expect(after.map(\.id) == before.map(\.id) && after.map(\.tags) == before.map(\.tags))
        #expect(after.map(\.isMergeable) == before.map(\.isMergeable))
        #expect(after.map(\.createdAt) == before.map(\.createdAt))
        for id in ["a", "b", "d"] { #expect(try await other.local(id) == (try await device.local(id))) }
        server.clearLog()
        #expect(try await other.context.push().isClean)
        #expect(server.calls.count == 4)
        #expect(other.remote("a") == ["id": "a", "n": 2, "m": 2] && other.remote("b") == nil)
        #expect(other.remote("d")?["price"]?.number?.description == "1.10")
        #expect(try await other.local("a") == other.remote("a"))
    }

    @Test("imported twice is imported once, also after it was sent or discarded", arguments: StoreKind.allCases)
    func twice(_ kind: StoreKind) async throws {
        let server = ModelServer()
        let text = try await filled(kind, server: server).context.queue.export()
        let other = try await Device(kind, server: server)
        _ = try await other.context.queue.import(text + "\n" + text)
        #expect(try await other.context.queue.import(text).skipped == 4)
        try await other.context.queue.undo("d", in: "todos")
        #expect(try await other.context.push().isClean)
        #expect(try await other.context.queue.import(text) == TableOperation.Import(imported: 0, skipped: 4))
        #expect(try await other.queue().isEmpty)
        #expect(other.remote("d") == nil)
    }

    @Test("why an operation waits, and that it may have arrived, go along", arguments: StoreKind.allCases)
    func held(_ kind: StoreKind) async throws {
        let server = ModelServer()
        let device = try await Device(kind, server: server)
        try await device.todos.insert(["id": "a", "n": 1])
        server.onRequest { $0.isWrite ? .answerAfter(.model(500, ["error": "boom"])) : .none }
        _ = try await device.context.push()
        server.onRequest(nil)
        let other = try await Device(kind, server: server)
        _ = try await other.context.queue.import(device.context.queue.export())
        let operation = try #require(try await other.context.queue.operations().first)
        #expect(operation.failure?.message == "boom" && operation.isUncertain && operation.failedAttempts == 1)
        #expect(try await other.context.push().isClean)
        #expect(server.rows("todos").count == 1)
    }

    @Test("a whole group goes, a part of it does not", arguments: StoreKind.allCases)
    func groups(_ kind: StoreKind) async throws {
        let device = try await Device(kind, batchSize: 10)
        try await device.context.group { group in
            try group.insert(["id": "a"], in: "todos")
            try group.insert(["id": "b"], in: "todos")
        }
        let text = try await device.context.queue.export()
        let single = try await Device(kind)
        await #expect(throws: SluiceError.self) { _ = try await single.context.queue.import(text) }
        let other = try await Device(kind, batchSize: 10)
        _ = try await other.context.queue.import(text)
        #expect(try await other.context.queue.operations().allSatisfy { $0.group != nil })
        // Someone adds a member to a group that is there already.
        let forged = String(text.split(separator: "\n")[0]).replacing(
            "\"record\":\"a\"", with: "\"record\":\"c\""
        ).replacing("\"id\":\"a\"", with: "\"id\":\"c\"")
        let id = try #require(try await device.context.queue.operations().first?.id)
        await #expect(throws: SluiceError.self) {
            _ = try await other.context.queue.import(forged.replacing(id, with: "forged"))
        }
        #expect(try await other.queue().count == 2)
    }

    @Test("a record with changes of its own is left alone, and so is all else", arguments: StoreKind.allCases)
    func conflicting(_ kind: StoreKind) async throws {
        let server = ModelServer()
        let text = try await filled(kind, server: server).context.queue.export()
        let other = try await Device(kind, server: server)
        try await other.todos.pull()
        try await other.todos.update(["id": "b", "n": 7])
        let error = await #expect(throws: SluiceError.self) { _ = try await other.context.queue.import(text) }
        #expect(error?.code == .operationsPending && error?.recordID == "b")
        #expect(try await other.queue() == ["update b pending"])
        #expect(try await other.local("a")?["n"] == 1)
    }

    @Test("over a newer record an import is a conflict, not an overwrite", arguments: StoreKind.allCases)
    func newer(_ kind: StoreKind) async throws {
        let server = ModelServer()
        let text = try await filled(kind, server: server).context.queue.export(TableOperation.Filter(recordID: "a"))
        server.seed("todos", [["id": "a", "n": 9]])
        let other = try await Device(kind, server: server)
        try await other.todos.pull()
        _ = try await other.context.queue.import(text)
        #expect(try await other.context.push().conflicts == 1)
        let operation = try #require(try await other.context.queue.operations().first)
        #expect(try await other.context.queue.copies(of: operation).mirror?["n"] == 9)
        try await other.context.queue.resolve(operation.id, .server)
        #expect(try await other.context.push().isClean)
        #expect(other.remote("a") == ["id": "a", "n": 9, "m": 2])
    }

    @Test("no credential is in an export", arguments: StoreKind.allCases)
    func secrets(_ kind: StoreKind) async throws {
        struct Stamp: RequestFilter {
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                var request = request
                if var body = try? request.body.json, request.isWrite {
                    body["apiKey"] = "s3cret"
                    request.body = MessageBody(json: body)
                }
                request.head.headerFields[.authorization] = "Bearer s3cret"
                return try await next(request)
            }
        }
        let device = try await Device(kind, filters: [Stamp()])
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        let text = try await device.context.queue.export()
        #expect(text.contains("\"n\":1") && !text.contains("s3cret"))
    }

    /// A line that can be imported, and what an enemy makes of it.
    private static let line =
        #"{"sluice":"operation","format":1,"id":"op-1","table":"todos","record":"a","kind":"insert","state":"pending","#
        + #""createdAt":"2026-01-01T00:00:00Z","after":{"id":"a","n":1}}"#

    private static let hostile: [(String, String)] = [
        (#""sluice":"operation""#, #""sluice":"other""#), (#""format":1"#, #""format":2"#),
        (#""id":"op-1""#, #""id":"op 1""#), (#""id":"op-1""#, #""id":"a\r\nX: y""#), (#""id":"op-1""#, #""id":7"#),
        (#""id":"op-1""#, #""id":"""#), (#""table":"todos""#, #""table":"sluice_audit""#),
        (#""table":"todos""#, #""table":"a;drop""#), (#""record":"a""#, #""record":"a/b""#),
        (#""record":"a""#, #""record":"b""#), (#""kind":"insert""#, #""kind":"upsert""#),
        (#""kind":"insert""#, #""kind":"update""#), (#""kind":"insert""#, #""kind":"delete""#),
        (#""state":"pending""#, #""state":"done""#), (#""createdAt":"2026-01-01T00:00:00Z""#, #""createdAt":"soon""#),
        (#""after":{"id":"a","n":1}"#, #""after":[]"#), (#""after":{"id":"a","n":1}"#, #""after":null"#),
        (#""after":{"id":"a","n":1}"#, #""after":{"id":"c"}"#), (#""state""#, #""revision":0,"state""#),
        (#""state""#, #""attempts":-1,"state""#), (#""state""#, #""revision":9223372036854775807,"state""#),
        (#""state""#, #""tags":[7],"state""#), (#""state""#, #""tags":[""],"state""#),
        (#""state""#, #""group":"g\n","state""#),
        (#""state""#, #""group":"g","members":0,"state""#), (#""state""#, #""group":"g","members":"2","state""#),
        (#""state""#, #""base":{"id":"z"},"state""#), ("{", "["),
    ]

    @Test("a line is believed nothing", arguments: hostile.indices)
    func hostileLines(_ index: Int) async throws {
        let (part, other) = Self.hostile[index]
        let device = try await Device(.memory)
        let bad = Self.line.replacing(part, with: other)
        #expect(bad != Self.line)
        let good = Self.line.replacing("op-1", with: "op-2").replacing(#":"a""#, with: #":"good""#)
        await #expect(throws: SluiceError.self) {
            _ = try await device.context.queue.import(good + "\n" + bad + "\n")
        }
        #expect(try await device.queue().isEmpty, "all or nothing")
        #expect(try await device.local("good") == nil)
        #expect(try await device.context.queue.import(good + "\n\n" + Self.line).imported == 2)
    }

    @Test("operations that cannot follow each other are refused", arguments: StoreKind.allCases)
    func chain(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let second = Self.line.replacing("op-1", with: "op-2")
        let error = await #expect(throws: SluiceError.self) {
            _ = try await device.context.queue.import(Self.line + "\n" + second)
        }
        #expect(error?.code == .invalidRecord)
        try await device.todos.insert(["id": "a"])
        _ = try await device.context.push()
        let exists = await #expect(throws: SluiceError.self) {
            _ = try await device.context.queue.import(Self.line)
        }
        #expect(exists?.code == .recordExists)
    }

    @Test("what only the server sets is not taken from a document", arguments: StoreKind.allCases)
    func systemColumns(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        _ = try await device.context.queue.import(
            Self.line.replacing(#""n":1"#, with: #""n":1,"version":"v9","deleted":true"#))
        #expect(try await device.todos.lookup(id: "a") == ["id": "a", "n": 1])
    }

    /// A device with a group of two, and its lines.
    private func grouped(_ kind: StoreKind) async throws -> (Device, [String]) {
        let device = try await Device(kind, batchSize: 10)
        try await device.context.group { group in
            try group.insert(["id": "a"], in: "todos")
            try group.insert(["id": "b"], in: "todos")
        }
        return (device, try await device.context.queue.export().split(separator: "\n").map(String.init))
    }

    @Test("a group of which a line is missing is refused", arguments: StoreKind.allCases)
    func cutGroup(_ kind: StoreKind) async throws {
        let (device, lines) = try await grouped(kind)
        let filtered = try await device.context.queue.export(TableOperation.Filter(recordID: "a"))
        let forged = lines[0].replacing(#""members":2"#, with: #""members":1"#)
        #expect(forged != lines[0])
        for text in [lines[0], lines[1], filtered, forged + "\n" + lines[1]] {
            let other = try await Device(kind, batchSize: 10)
            let error = await #expect(throws: SluiceError.self) { _ = try await other.context.queue.import(text) }
            #expect(error?.code == .operationRefused)
            #expect(try await other.queue().isEmpty)
            #expect(try await other.context.queue.import(lines.joined(separator: "\n")).imported == 2)
        }
    }

    @Test("a group of which a part was imported before is refused, and one that was whole is skipped")
    func halfGroup() async throws {
        let (_, lines) = try await grouped(.memory)
        // As it was written before lines said how many the group has.
        let old = lines.map { $0.replacing(#","members":2"#, with: "") }
        #expect(old != lines)
        let other = try await Device(.memory, batchSize: 10)
        other.server.offer([.batches])
        #expect(try await other.context.queue.import(old[0]).imported == 1)
        #expect(try await other.context.push().isClean)
        let error = await #expect(throws: SluiceError.self) {
            _ = try await other.context.queue.import(old.joined(separator: "\n"))
        }
        #expect(error?.code == .operationRefused)
        #expect(try await other.queue().isEmpty)
        #expect(try await other.context.queue.import(old[0]) == TableOperation.Import(imported: 0, skipped: 1))
        let whole = try await Device(.memory, batchSize: 10)
        let text = lines.joined(separator: "\n")
        #expect(try await whole.context.queue.import(text) == TableOperation.Import(imported: 2, skipped: 0))
        #expect(try await whole.context.queue.import(text) == TableOperation.Import(imported: 0, skipped: 2))
    }
}
