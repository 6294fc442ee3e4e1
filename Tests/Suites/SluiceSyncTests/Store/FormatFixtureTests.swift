import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// A store file of each format that was ever released, plain and encrypted, with a queue in which everything is that can
/// be in one: every version of Sluice opens them, and loses nothing of what is in them.
@Suite("Stores of every format")
struct FormatFixtureTests {
    static let formats = [1]

    private static let folder = Repository.fixture("stores")

    private static func file(_ format: Int, _ rest: String) -> String { "\(folder)/format-\(format)\(rest)" }

    /// The key of the encrypted ones, which keep no secrets.
    private static func encryption() throws -> StoreEncryption {
        .key(try StoreKey((0..<32).map { UInt8($0) }))
    }

    /// A store with all that there can be, and the server that it was used with.
    private func fill(_ store: any LocalStore) async throws -> Device {
        var traits = ModelServer.Traits()
        traits.issuesChangeTokens = true
        let server = ModelServer(pageSize: 5)
        server.set(traits)
        let device = try await Device(
            .memory, server: server, policy: .hold, store: store, maximumAttempts: 1, batchSize: 4,
            tables: [
                TableSchema("todos", columns: [.init("text", .string), .init("n", .integer)], indexes: [["text"]])
            ],
            migrations: [StoreMigration("first", [.renameProperty("title", to: "text", in: "todos")])],
            adjust: {
                $0.concurrency = 4
                $0.localOnly = LocalOnly(tables: ["drafts"], columns: ["todos": ["note"]])
            })
        server.seed("todos", (0..<12).map { ["id": JSON("r\($0)"), "text": JSON("row \($0)"), "n": JSON($0)] })
        try await device.todos.pull(named: "all")
        try await device.todos.pull(
            TableQuery("todos", filter: try QueryExpression(odata: "n lt 4")), named: "few")
        try await device.context.table("drafts").insert(["id": "d", "text": "stays"])
        // Parked with a conflict, and dead.
        server.seed("todos", [["id": "r1", "text": "theirs"]])
        try await device.todos.update(["id": "r1", "text": "mine", "note": "stays"])
        try await device.todos.update(["id": "r2", "text": "refused"])
        server.onRequest { ($0.head.path ?? "").contains("r2") ? .answer(.model(500, ["error": "no"])) : .none }
        _ = try await device.context.push()
        // Sent, and perhaps done: with successors; one that is gone and may still appear.
        try await device.todos.insert(["id": "sent", "text": "made", "big": 18_014_398_509_481_985])
        try await device.todos.insert(["id": "given up", "text": "made, too"])
        try await device.todos.update(["id": "r3", "text": "edited"])
        try await device.todos.delete(id: "r4")
        server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try await device.context.push()
        server.onRequest(nil)
        try await device.todos.update(["id": "r3", "n": 33])
        try await device.todos.update(["id": "sent", "text": "edited since"])
        let all = try await device.context.queue.operations()
        let given = try #require(all.first { $0.recordID == "given up" })
        try await device.context.queue.discard(given.id)
        // Never sent: with tags, on their own, in a group.
        try await device.todos.insert(["id": "é", "text": "\u{0}\n\"", "none": .null])
        try await device.todos.update(["id": "r5", "text": "5"], options: OperationOptions(tags: ["urgent"]))
        try await device.todos.update(["id": "r5", "text": "5b"], options: OperationOptions(isMergeable: false))
        try await device.todos.delete(id: "r6")
        try await device.context.group { group in
            try group.update(["id": "r7", "n": 77], in: "todos")
            try group.insert(["id": "line", "todo": "r7"], in: "lines")
        }
        // Its process ended while it was being sent.
        try await store.write { writer in
            let queue = QueueWriter(writer)
            for var operation in try queue.reader.all(on: "r4", in: "todos") {
                (operation.state, operation.failure) = (.inFlight, nil)
                try queue.put(operation)
            }
            let row = QuarantinedRow(
                table: "todos", recordID: "wrong", distinction: "wrong", reason: "too deep", raw: "{}",
                at: Timestamp(ticks: 0))
            try writer.put(row.record, in: QuarantinedRow.schema.name)
        }
        return device
    }

    private func rows(_ store: any LocalStore) async throws -> [String] {
        let lines = Mutex<[String]>([])
        try await StoreExport().write(store) { line in lines.withLock { $0.append(line) } }
        return lines.withLock { Array($0.dropFirst().dropLast()) }.sorted()
    }

    @Test(
        "are made anew where that is asked for",
        .enabled(if: ProcessInfo.processInfo.environment["SLUICE_WRITE_STORES"] != nil))
    func write() async throws {
        let format = try #require(Self.formats.last)
        let plain = Self.file(format, ".db")
        try? FileManager.default.removeItem(atPath: plain)
        let store = try SQLiteStore(path: plain)
        let device = try await fill(store)
        let text = try await rows(store).joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: Self.file(format, ".jsonl")))
        let server = JSON(device.server.rows("todos").values.sorted { "\($0["id"] ?? "")" < "\($1["id"] ?? "")" })
        try Data("\(server)\n".utf8).write(to: URL(fileURLWithPath: Self.file(format, ".server.json")))
        try await store.close()
        let encrypted = Self.file(format, "-encrypted.db")
        try? FileManager.default.removeItem(atPath: encrypted)
        try FileManager.default.copyItem(atPath: plain, toPath: encrypted)
        try await SQLiteStore.convert(path: encrypted, from: nil, to: Self.encryption())
    }

    @Test("are opened with all that they hold, and synchronise", arguments: formats, [false, true])
    func open(_ format: Int, _ isEncrypted: Bool) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-\(UUID().uuidString).db").path
        defer { for end in ["", "-wal", "-shm", "-lease"] { try? FileManager.default.removeItem(atPath: path + end) } }
        try FileManager.default.copyItem(
            atPath: Self.file(format, isEncrypted ? "-encrypted.db" : ".db"), toPath: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let store = try SQLiteStore(path: path, encryption: isEncrypted ? try Self.encryption() : nil)
        let expected = try String(contentsOfFile: Self.file(format, ".jsonl"), encoding: .utf8)
            .split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
        let found = try await rows(store).map { try JSON(parsing: Array($0.utf8)) }
        #expect(found == expected)
        #expect(try await store.check() == [])
        let states = Set(found.filter { $0["table"] == "sluice_operations" }.compactMap { $0["row"]?["state"]?.string })
        #expect(states == Set(TableOperation.State.allCases.map(\.rawValue)))

        let server = ModelServer()
        server.offer([.batches])
        let text = try String(contentsOfFile: Self.file(format, ".server.json"), encoding: .utf8)
        server.seed("todos", try JSON(parsing: Array(text.utf8)).elements ?? [])
        let device = try await Device(
            .memory, server: server, policy: .clientWins, store: store, batchSize: 4, tables: [TableSchema("todos")])
        let operations = expected.filter { $0["table"] == "sluice_operations" }
        #expect(try await device.context.queue.operations().count == operations.count)
        #expect(try await device.store.checkConsistency() == [])
        try await device.context.queue.retryAll()
        for _ in 0..<2 { _ = try await device.context.push() }
        #expect(try await device.queue() == [])
        let remote = server.rows("todos")
        #expect(remote["r1"]?["text"] == "mine" && remote["r1"]?["note"] == nil && remote["r2"]?["text"] == "refused")
        #expect(remote["sent"]?["text"] == "edited since" && remote["sent"]?["big"] == 18_014_398_509_481_985)
        #expect(remote["r3"]?["text"] == "edited" && remote["r3"]?["n"] == 33)
        #expect(remote["r4"]?["deleted"] == true && remote["r6"]?["deleted"] == true)
        #expect(remote["r5"]?["text"] == "5b" && remote["é"]?["text"] == "\u{0}\n\"")
        #expect(remote["r7"]?["n"] == 77 && server.rows("lines")["line"]?["todo"] == "r7")
        #expect(try await device.todos.lookup(id: "r1")?["note"] == "stays")
        #expect(try await device.context.table("drafts").count() == 1)
        try await store.close()
    }
}
