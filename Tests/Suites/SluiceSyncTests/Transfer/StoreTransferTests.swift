import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A store as lines of JSON")
struct StoreTransferTests {
    /// Takes lines, and gives them back one by one.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        private let next = Mutex(0)

        var all: [String] { lines.withLock { $0 } }

        init(_ lines: [String] = []) { self.lines.withLock { $0 = lines } }

        func write(_ line: String) { lines.withLock { $0.append(line) } }

        func read() -> String? {
            let index = next.withLock { next in
                next += 1
                return next - 1
            }
            return lines.withLock { $0.indices.contains(index) ? $0[index] : nil }
        }
    }

    private func export(_ device: Device, _ export: StoreExport = StoreExport()) async throws -> [String] {
        let lines = Lines()
        try await export.write(device.store) { lines.write($0) }
        return lines.all
    }

    private func imported(_ kind: StoreKind, _ lines: [String]) async throws -> any LocalStore {
        let store = try await kind.make()
        let lines = Lines(lines)
        try await StoreImport().read(into: store) { lines.read() }
        return store
    }

    /// A device that has pulled, with a query of a part, changes that wait, and one that may have been sent.
    private func used(_ kind: StoreKind) async throws -> (Device, TableQuery) {
        let device = try await Device(kind, server: ServerKind.tokens.make(pageSize: 20))
        device.server.seed(
            "todos", (0..<1200).map { ["id": JSON("r\($0)"), "n": JSON($0), "text": JSON("row \($0)")] })
        let query = TableQuery("todos", filter: try QueryExpression(odata: "n lt 6"))
        try await device.todos.pull(named: "all")
        try await device.todos.pull(query, named: "few")
        try await device.todos.insert(["id": "mine", "text": "secret"])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "r1", "text": "mine, too"])
        try await device.todos.delete(id: "r2")
        return (device, query)
    }

    @Test("goes on elsewhere where it stood", arguments: StoreKind.allCases, StoreKind.allCases)
    func goesOn(_ from: StoreKind, _ to: StoreKind) async throws {
        let (device, query) = try await used(from)
        let lines = try await export(device)
        let store = try await imported(to, lines)
        let other = try await Device(to, server: device.server, store: store)
        #expect(try await export(other) == lines)
        #expect(try await other.queue() == device.queue())
        device.server.clearLog()
        #expect(try await other.context.push().isClean)
        #expect(device.server.rows("todos")["mine"]?["text"] == "secret")
        try await other.todos.pull(named: "all")
        try await other.todos.pull(query, named: "few")
        #expect(device.server.requests.count < 12, "it goes on by delta")
        #expect(try await other.todos.count() == 1200)
    }

    @Test("says what it is, row for row, and where it ends")
    func shape() async throws {
        let device = try await Device(.memory)
        try await device.store.define([TableSchema("todos", columns: [.init("n", .integer)], indexes: [["n"]])])
        try await device.store.write { try $0.put(["id": "1", "n": 2], in: "todos") }
        let lines = try await export(device).map { try JSON(parsing: Array($0.utf8)) }
        #expect(lines.first?["sluice"] == "store" && lines.first?["format"] == 1)
        let todos = lines.first?["tables"]?.elements?.first { $0["name"] == "todos" }
        #expect(todos == ["name": "todos", "columns": [["n", "integer"]], "indexes": [["n"]]])
        #expect(lines.contains(["table": "todos", "row": ["id": "1", "n": 2]]))
        #expect(lines.last == ["end": JSON(lines.count - 2)])
    }

    @Test("is read whole or not at all", arguments: StoreKind.allCases)
    func wholeOrNot(_ kind: StoreKind) async throws {
        let (device, _) = try await used(.memory)
        let lines = try await export(device)
        // Of an update a base is left behind; a new record without its insert would be one like any other.
        let operation = try #require(
            lines.firstIndex { $0.contains(#""table":"sluice_operations""#) && $0.contains(#""kind":"update""#) })
        var missing = lines
        missing.remove(at: operation)
        let end = #"{"end":\#(lines.count - 3)}"#
        let bad: [[String]] = [
            [], Array(lines.dropFirst()), Array(lines.dropLast()), missing, missing.dropLast() + [end],
            lines + [#"{"end":0}"#], [lines[0]] + lines, [lines[0], "{}"] + lines.dropFirst(),
            [lines[0], #"{"table":"sluice_lease","row":{"id":"lease"}}"#] + lines.dropFirst(),
            [lines[0], #"{"table":"todos","row":{"n":1}}"#] + lines.dropFirst(),
            [lines[0], #"{"table":"todos","row":{"id":"twice"}}"#, #"{"table":"todos","row":{"id":"twice"}}"#]
                + lines.dropFirst().dropLast() + [#"{"end":\#(lines.count)}"#],
            [lines[0]]
                + lines.dropFirst().map { $0.replacing(#""sequence":1,"#, with: #""sequence":9223372036854775807,"#) },
            lines.map { $0.replacing(#""record":"mine""#, with: #""record":"""#) },
            [lines[0], #"{"table":"sqlite_master","row":{"id":"1"}}"#] + lines.dropFirst(),
            [lines[0].replacing(#""format":1"#, with: #""format":2"#)] + lines.dropFirst(),
        ]
        for lines in bad {
            let store = try await kind.make()
            let lines = Lines(lines)
            let error = await #expect(throws: SluiceError.self, "\(lines.all.prefix(2))") {
                try await StoreImport().read(into: store) { lines.read() }
            }
            #expect(error?.code == .invalidRecord || error?.code == .invalidTable, "\(String(describing: error))")
            #expect(try await store.read { try $0.count(matching: TableQuery("todos")) } == 0)
        }
    }

    @Test("is not read over what is there")
    func notEmpty() async throws {
        let (device, _) = try await used(.memory)
        let lines = Lines(try await export(device))
        let store = MemoryStore()
        try await store.write { try $0.put(["id": "1"], in: "notes") }
        let error = await #expect(throws: SluiceError.self) {
            try await StoreImport().read(into: store) { lines.read() }
        }
        #expect(error?.code == .recordExists)
    }

    @Test("what is left out is nowhere, and what is left is no store any more", arguments: ["todos.text", "todos"])
    func redacted(_ redaction: String) async throws {
        let (device, _) = try await used(.memory)
        // A row in quarantine, one that was given up, and a server that quotes the record.
        device.server.onRequest { request in
            guard request.isWrite else { return .none }
            return .answer(.model(400, ["error": "what is secret doing in mine, too?"]))
        }
        _ = try await device.context.push()
        let operations = try await device.context.queue.operations()
        try await device.context.queue.discard(try #require(operations.first { $0.recordID == "r1" }).id)
        let lines = try await export(device, StoreExport(redactions: [StoreExport.Redaction(redaction)]))
        for text in ["secret", "mine, too", "row 3"] {
            #expect(!lines.contains { $0.contains(text) }, "\(lines.filter { $0.contains(text) })")
        }
        #expect(lines.contains { $0.contains(#""r3""#) } == (redaction != "todos"))
        #expect(lines.contains { $0.contains(#""kind":"insert""#) }, "what waits is still to be seen")
        let error = await #expect(throws: SluiceError.self) { _ = try await imported(.memory, lines) }
        #expect(error?.code == .invalidRecord)
    }

    @Test("what is misspelt is not left out unsaid")
    func misspelt() async throws {
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "1"])
        let error = await #expect(throws: SluiceError.self) {
            try await export(device, StoreExport(redactions: [StoreExport.Redaction("todo.text")]))
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test("one that is for others has nothing that stays, and remembers its migrations", arguments: StoreKind.allCases)
    func prefilledShape(_ kind: StoreKind) async throws {
        let tenfold = StoreMigration(
            "tenfold",
            [
                .rewrite("todos") { record in
                    var record = record
                    if let n = record["n"]?.int { record["n"] = JSON(n * 10) }
                    return record
                }
            ])
        let here = LocalOnly(tables: ["drafts"], columns: ["todos": ["note"]])
        let first = try await Device(kind)
        first.server.seed("todos", [["id": "1", "n": 1]])
        try await first.todos.pull(named: "all")
        let device = try await Device(kind, server: first.server, store: first.store, migrations: [tenfold]) {
            $0.localOnly = here
        }
        try await device.todos.update(["id": "1", "note": "canary"])
        try await device.context.table("drafts").insert(["id": "canary"])
        let lines = try await export(device, StoreExport(isPrefilled: true))
        #expect(!lines.contains { $0.contains("canary") })
        let store = try await imported(kind, lines)
        let other = try await Device(kind, server: device.server, store: store, migrations: [tenfold])
        #expect(try await other.local("1")?["n"] == 10)
        try await other.todos.update(["id": "1", "note": "mine"])
        #expect(try await other.queue() == [])
    }

    @Test("who cannot reach the server takes nothing over, and a push does", arguments: StoreKind.allCases)
    func adopted(_ kind: StoreKind) async throws {
        let device = try await Device(.memory, server: ServerKind.tokens.make(pageSize: 50))
        device.server.seed("todos", (0..<300).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        try await device.todos.pull(named: "all")
        let lines = try await export(device, StoreExport(isPrefilled: true))
        let store = try await imported(kind, lines)
        let stranger = try await Device(kind, server: device.server, store: store) { $0.user = "stranger" }
        device.server.onRequest { _ in .answer(.model(401, ["error": "who are you?"])) }
        await #expect(throws: SluiceError.self) { try await stranger.todos.pull(named: "all") }
        device.server.onRequest(nil)
        let user = try await Device(kind, server: device.server, store: store) { $0.user = "user" }
        try await user.todos.update(["id": "r1", "n": -1])
        device.server.clearLog()
        #expect(try await user.context.push().isClean)
        try await user.todos.pull(named: "all")
        #expect(device.server.requests.count < 5, "by delta")
        #expect(try await user.todos.count() == 300)
        // Nobody else goes on from there.
        device.server.clearLog()
        try await stranger.todos.pull(named: "all")
        #expect(device.server.requests.count > 5)
    }

    @Test("one that two users filled is not for others")
    func filledByTwo() async throws {
        let one = try await Device(.memory) { $0.user = "one" }
        one.server.seed("todos", [["id": "1"]])
        try await one.todos.pull(named: "all")
        let two = try await Device(.memory, server: one.server, store: one.store) { $0.user = "two" }
        try await two.todos.pull(named: "all")
        let error = await #expect(throws: SluiceError.self) { try await export(two, StoreExport(isPrefilled: true)) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("one that is for others goes on by delta, whoever pulls first", arguments: StoreKind.allCases)
    func prefilled(_ kind: StoreKind) async throws {
        let (device, query) = try await used(.memory)
        let early = await #expect(throws: SluiceError.self) {
            try await export(device, StoreExport(isPrefilled: true))
        }
        #expect(early?.code == .operationsPending)
        #expect(try await device.context.push().isClean)
        try await device.todos.pull(named: "all")
        try await device.todos.pull(query, named: "few")
        let lines = try await export(device, StoreExport(isPrefilled: true))
        #expect(!lines.contains { $0.contains("model.test") || $0.contains("sluice_audit") })
        let store = try await imported(kind, lines)
        let other = try await Device(kind, server: device.server, store: store) { $0.user = "somebody" }
        device.server.seed("todos", [["id": "r3", "n": 99, "text": "moved"]])
        device.server.clearLog()
        try await other.todos.pull(query, named: "few")
        try await other.todos.pull(named: "all")
        #expect(device.server.requests.count == 4)
        #expect(try await other.local("r3")?["text"] == "moved")
        #expect(try await other.todos.count() == device.todos.count())
    }
}
