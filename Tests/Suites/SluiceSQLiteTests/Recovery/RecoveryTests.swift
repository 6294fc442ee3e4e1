import Foundation
import SluiceCore
import Testing

@testable import SluiceSQLite
@testable import SluiceTesting

@Suite("A damaged store is found out, set aside, and its queue rescued")
struct RecoveryTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }
    private let server = ModelServer()

    init() throws { folder = try TemporaryFolder() }

    private func context(_ store: SQLiteStore) async throws -> SyncContext {
        var options = ClientOptions()
        options.retry = .never
        return try await SyncContext(
            client: SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server, options: options),
            store: store, tables: [TableSchema("todos", columns: [.init("n", .integer), .init("text", .string)])],
            options: SyncOptions(commitLag: .zero))
    }

    /// A store that has pulled `rows` rows, and in which three changes wait.
    private func fill(_ path: String, rows: Int = 200, closed: Bool = true) async throws -> SQLiteStore {
        let text = JSON(String(repeating: "x", count: 100))
        server.seed("todos", (0..<rows).map { ["id": JSON("r\($0)"), "n": JSON($0), "text": text] })
        let store = try SQLiteStore(path: path)
        let context = try await context(store)
        let todos = try context.table("todos")
        try await todos.pull(named: "all")
        try await todos.insert(["id": "new", "n": 1000])
        try await todos.update(["id": "r1", "n": 1001])
        try await todos.delete(id: "r2")
        if closed { try await store.close() }
        return store
    }

    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
    private func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Opens the store, and sees that after a push and a pull it equals the server.
    private func recovered(_ path: String) async throws -> StoreRecovery? {
        let (store, recovery) = try await SQLiteStore.openOrRecover(path: path)
        let context = try await context(store)
        let queue = try await context.queue.operations()
        if let recovery { #expect(queue.map(\.id) == recovery.operations.map(\.id)) }
        for operation in queue where operation.state == .parked {
            try await context.queue.discard(operation.id)
        }
        let push = try await context.push()
        #expect(push.end == .completed, "\(push)")
        try await context.table("todos").pull(named: "all")
        let local = try await context.table("todos").records()
        let remote = server.rows("todos").values.filter { $0["deleted"] != true }
        #expect(Set(local.compactMap { $0["id"]?.string }) == Set(remote.compactMap { $0["id"]?.string }))
        let check = try SQLiteConnection(path: path, access: .readOnly).run("PRAGMA integrity_check")
        #expect(check == [[.text("ok")]])
        try await store.close()
        return recovery
    }

    private var isPushed: Bool {
        let rows = server.rows("todos")
        return rows["new"]?["n"] == 1000 && rows["r1"]?["n"] == 1001 && rows["r2"]?["deleted"] == true
    }

    @Test("a sound store is opened as it is, and one that is not there is made")
    func sound() async throws {
        _ = try await fill(path)
        #expect(try await recovered(path) == nil)
        #expect(isPushed)
        #expect(try await SQLiteStore.openOrRecover(path: folder.file("other.db")).recovery == nil)
        #expect(try await SQLiteStore.openOrRecover(path: ":memory:").recovery == nil)
    }

    @Test("a header of garbage: the whole queue is rescued", arguments: [16, 100])
    func header(count: Int) async throws {
        _ = try await fill(path)
        // What a user may call a backup is not the recovery's to use.
        try write([1, 2, 3], path + "-copy")
        var content = try bytes(path)
        content.replaceSubrange(0..<count, with: [UInt8](repeating: 0xA5, count: count))
        try write(content, path)
        let recovery = try #require(try await recovered(path))
        #expect(recovery.operations.map(\.kind) == [.insert, .update, .delete] && recovery.isQueueWhole)
        #expect(try bytes(recovery.setAside) == content && bytes(path + "-copy") == [1, 2, 3])
        #expect(isPushed)
    }

    @Test("a zeroed page: never a trap, and what is not on it is rescued", arguments: 0..<12)
    func zeroed(page: Int) async throws {
        _ = try await fill(path)
        var content = try bytes(path)
        guard (page + 1) * 4096 <= content.count else { return }
        content.replaceSubrange(page * 4096..<(page + 1) * 4096, with: [UInt8](repeating: 0, count: 4096))
        try write(content, path)
        let recovery = try await recovered(path)
        // A page that nothing uses may be zeroed; else the damage is found, and whatever is whole is pushed.
        if let recovery, recovery.isQueueWhole, recovery.operations.allSatisfy({ $0.state == .pending }) {
            #expect(recovery.operations.count == 3)
            #expect(isPushed)
        }
    }

    @Test("a table's damage costs the queue nothing")
    func tableOnly() async throws {
        _ = try await fill(path)
        let root = try SQLiteConnection(path: path, access: .readOnly).integer(
            "SELECT pageno FROM dbstat WHERE name = 'sluice_cursors' LIMIT 1")
        var content = try bytes(path)
        let start = (Int(root) - 1) * 4096
        try #require(start > 0 && start + 4096 <= content.count, "page \(root) of \(content.count / 4096)")
        content.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0xFF, count: 4096))
        try write(content, path)
        let recovery = try #require(try await recovered(path))
        #expect(recovery.operations.count == 3 && recovery.isQueueWhole)
        #expect(isPushed)
    }

    @Test("a file cut at a page: never a trap", arguments: [0, 1, 2, 5, 9, 14, 20])
    func truncated(pages: Int) async throws {
        _ = try await fill(path)
        let content = try bytes(path)
        try write(Array(content.prefix(pages * 4096)), path)
        #expect(try await recovered(path) != nil)
    }

    @Test("a store that was emptied is not opened as a new one, and a recovery says so")
    func emptied() async throws {
        _ = try await fill(path)
        try write([], path)
        let error = #expect(throws: SluiceError.self) { try SQLiteStore(path: path) }
        #expect(error?.code == .storeCorrupt)
        let recovery = try await recovered(path)
        #expect(recovery?.isQueueWhole == false && recovery?.operations.isEmpty == true)
    }

    @Test("a declaration that cannot be read costs no change", arguments: ["sluice_lease", "todos"])
    func brokenDeclaration(_ table: String) async throws {
        _ = try await fill(path)
        try SQLiteConnection(path: path, access: .readWrite).execute(
            "UPDATE sluice_schema SET columns = '[[' WHERE name = '\(table)'")
        let recovery = try #require(try await recovered(path))
        #expect(!recovery.isQueueWhole && recovery.operations.count == 3)
    }

    @Test("a flipped bit: never a trap, and no wrong queue", arguments: 0..<20)
    func flipped(seed: Int) async throws {
        _ = try await fill(path, rows: 60)
        var content = try bytes(path)
        let position = (seed &* 7919 &+ seed * seed * 104_729) % content.count
        content[position] ^= 1 << (seed % 8)
        try write(content, path)
        do {
            _ = try await recovered(path)
        } catch let error as SluiceError {
            // The mark of another program, or of a newer format.
            #expect(error.code == .storeSchema, "byte \(position): \(error)")
        }
    }

    @Test("the log of another store is found out or does no harm")
    func swappedLog() async throws {
        let store = try await fill(path, closed: false)
        try await fill(folder.file("other.db"), rows: 30, closed: false).read { _ in }
        try FileManager.default.copyItem(atPath: path, toPath: folder.file("mixed.db"))
        try FileManager.default.copyItem(atPath: folder.file("other.db-wal"), toPath: folder.file("mixed.db-wal"))
        _ = try await recovered(folder.file("mixed.db"))
        try await store.close()
    }

    @Test("a log that is older than its file is found out or does no harm")
    func staleLog() async throws {
        let store = try await fill(path, closed: false)
        try FileManager.default.copyItem(atPath: path + "-wal", toPath: folder.file("old-wal"))
        try await store.write { for n in 0..<300 { try $0.put(["id": JSON("z\(n)")], in: "more") } }
        try await store.close()
        try? FileManager.default.removeItem(atPath: path + "-wal")
        try FileManager.default.moveItem(atPath: folder.file("old-wal"), toPath: path + "-wal")
        _ = try await recovered(path)
    }

    @Test("an empty file with a log: the log's part is rescued")
    func emptyWithLog() async throws {
        let store = try await fill(path, closed: false)
        let log = try bytes(path + "-wal")
        let lost = folder.file("lost.db")
        try write([], lost)
        try write(log, lost + "-wal")
        let recovery = try #require(try await recovered(lost))
        #expect(recovery.operations.count == 3)
        #expect(isPushed)
        try await store.close()
    }

    @Test("a newer format and another program's database are left as they are")
    func newer() async throws {
        for sql in ["CREATE TABLE mine (a)", "PRAGMA application_id = 1397506885; PRAGMA user_version = 2"] {
            let path = folder.file("\(sql.count).db")
            try SQLiteConnection(path: path).execute(sql)
            let before = try bytes(path)
            let error = await #expect(throws: SluiceError.self) { _ = try await SQLiteStore.openOrRecover(path: path) }
            #expect(error?.code == .storeSchema)
            #expect(try bytes(path) == before)
        }
    }

    @Test("a value that no store has written is found, and costs no change", arguments: ["n = x'00'", "id = ''"])
    func brokenValue(_ change: String) async throws {
        try await fill(path).close()
        try SQLiteConnection(path: path, access: .readWrite).execute("UPDATE todos SET \(change) WHERE id = 'r3'")
        let store = try SQLiteStore(path: path)
        let problems = try await store.check()
        #expect(problems.map(\.kind) == [.unreadable] && problems.first?.table == "todos", "\(problems)")
        try await store.close()
        let recovery = try #require(try await recovered(path))
        #expect(recovery.isQueueWhole && recovery.operations.count == 3)
        #expect(recovery.operations.allSatisfy { $0.state == .pending })
    }

    @Test("a change whose record was not readable is parked, and says so")
    func parked() async throws {
        _ = try await fill(path)
        let connection = try SQLiteConnection(path: path)
        try connection.execute("DELETE FROM todos WHERE id = 'new'; DELETE FROM sluice_records")
        let queue = try RescueReader(connection).queue()
        #expect(queue.operations.map(\.state) == [.parked, .parked, .parked])
        #expect(queue.operations.allSatisfy { $0.failure?.code == "storeCorrupt" })
    }

    @Test("what was sent for an earlier edit does not take the place of a later one that was not readable")
    func newerEdit() async throws {
        let store = try await fill(path, closed: false)
        let context = try await context(store)
        server.onRequest { $0.context.operationID == nil ? .none : .answer(.model(500, nil)) }
        _ = try await context.push()
        server.onRequest(nil)
        try await context.table("todos").update(["id": "r1", "n": 1002])
        try await store.close()
        let connection = try SQLiteConnection(path: path)
        try connection.execute("DELETE FROM todos WHERE id = 'r1'")
        let queue = try RescueReader(connection).queue()
        #expect(queue.operations.filter { $0.recordID == "r1" }.map(\.state) == [.parked])
        #expect(!queue.records.contains { $0.table == "todos" && $0.record["id"] == "r1" })
    }

    @Test("a record that was deleted after a send is not brought back")
    func deletedBehindSend() async throws {
        let store = try await fill(path, closed: false)
        let context = try await context(store)
        let todos = try context.table("todos")
        server.onRequest { request in
            guard request.context.operationID != nil, request.context.recordID == "r1" else { return .none }
            try? await todos.delete(id: "r1")
            return .answer(.model(500, nil))
        }
        _ = try await context.push()
        server.onRequest(nil)
        try await store.close()
        let queue = try RescueReader(SQLiteConnection(path: path)).queue()
        #expect(queue.operations.filter { $0.recordID == "r1" }.map(\.kind) == [.update, .delete])
        #expect(!queue.records.contains { $0.table == "todos" && $0.record["id"] == "r1" })
    }

    @Test("the audit is rescued where no change waits")
    func auditAlone() async throws {
        let store = try await fill(path, closed: false)
        let context = try await context(store)
        for operation in try await context.queue.operations() { try await context.queue.discard(operation.id) }
        try await store.close()
        let connection = try SQLiteConnection(path: path)
        let page = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'sluice_records'")
        let size = try connection.integer("PRAGMA page_size")
        var content = try bytes(path)
        for index in Int(page - 1) * Int(size)..<Int(page) * Int(size) { content[index] = 0xFF }
        try write(content, path)
        let (recoveredStore, recovery) = try await SQLiteStore.openOrRecover(path: path)
        #expect(recovery?.isQueueWhole == false)
        #expect(try await recoveredStore.read { try $0.count(matching: TableQuery("sluice_audit")) } == 3)
        try await recoveredStore.close()
    }

    @Test("a creation that was given up stays so when its request arrives after the recovery")
    func lateRequest() async throws {
        let store = try await fill(path, rows: 5, closed: false)
        let context = try await context(store)
        server.onRequest { _ in .loseRequest }
        _ = try await context.push()
        server.onRequest(nil)
        for operation in try await context.queue.operations() { try await context.queue.discard(operation.id) }
        try await store.close()
        var content = try bytes(path)
        for index in 0..<100 { content[index] = 0xFF }
        try write(content, path)
        let (again, recovery) = try await SQLiteStore.openOrRecover(path: path)
        #expect(recovery != nil)
        let next = try await self.context(again)
        server.seed("todos", [["id": "new", "n": 1000]])
        let todos = try next.table("todos")
        try await todos.pull(named: "all")
        #expect(try await todos.lookup(id: "new") == nil)
        #expect(try await next.push().isClean)
        #expect(server.rows("todos")["new"]?["deleted"] == true)
        try await again.close()
    }

    @Test("a recovery that was ended between its two moves is finished by the next")
    func interrupted() async throws {
        _ = try await fill(path)
        try FileManager.default.moveItem(atPath: path, toPath: path + "-rescued")
        #expect(try await recovered(path) == nil)
        #expect(isPushed)
    }

    @Test("a store that another process synchronises is not recovered")
    func busy() async throws {
        let store = try await fill(path, closed: false)
        let lease = try await store.takeLease()
        let error = await #expect(throws: SluiceError.self) { _ = try await SQLiteStore.openOrRecover(path: path) }
        #expect(error?.code == .storeBusy)
        lease?.release()
        try await store.close()
    }

    @Test(
        "two damaged pages hide nothing that stands between them, and like ids stay two", arguments: [[0, 2], [1, 3]])
    func holes(pages: [Int]) async throws {
        let store = try SQLiteStore(path: path)
        try await store.define(SyncTables.all)
        // Ids that Swift's strings take for equal.
        let ids = (0..<40).flatMap { ["caf\u{E9}\($0)", "cafe\u{301}\($0)"] }
        try await store.write { writer in
            for (index, id) in ids.enumerated() {
                try writer.put(["id": JSON(id), "n": JSON(index)], in: "t")
                var operation = TableOperation(
                    id: "o\(index)", sequence: Int64(index + 1), table: "t", recordID: RecordID(id), kind: .insert,
                    createdAt: Timestamp(ticks: 0))
                operation.tags = [String(repeating: "x", count: 300)]
                try writer.put(operation.record, in: TableOperation.schema.name)
            }
        }
        try await store.close()
        let connection = try SQLiteConnection(path: path, access: .readOnly)
        let leaves = try connection.run(
            "SELECT pageno, ncell FROM dbstat WHERE name = 'sluice_operations' AND pagetype = 'leaf' ORDER BY path")
        try #require(leaves.count >= 5)
        var content = try bytes(path)
        var lost = 0
        for index in pages {
            guard case .integer(let page) = leaves[index][0], case .integer(let count) = leaves[index][1] else {
                continue
            }
            let start = (Int(page) - 1) * 4096
            content.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0xFF, count: 4096))
            lost += Int(count)
        }
        try write(content, path)
        let (recovered, recovery) = try await SQLiteStore.openOrRecover(path: path)
        try await recovered.close()
        let rescued = try #require(recovery)
        #expect(rescued.operations.count == 80 - lost && !rescued.isQueueWhole && lost > 0)
        #expect(rescued.operations.allSatisfy { $0.state == .pending })
    }
}
