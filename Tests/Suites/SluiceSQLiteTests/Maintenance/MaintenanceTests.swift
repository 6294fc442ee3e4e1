import Foundation
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

@Suite("A store is looked after")
struct MaintenanceTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
    }

    private func store(_ encryption: StoreEncryption?) async throws -> SQLiteStore {
        let store = try SQLiteStore(path: path, encryption: encryption, options: .init(durability: .normal))
        try await store.define(SyncTables.all)
        try await store.define([TableSchema("t", columns: [.init("text", .string)], indexes: [["text"]])])
        return store
    }

    private func encryption(_ isEncrypted: Bool) throws -> StoreEncryption? {
        isEncrypted ? .key(try StoreKey(Array(repeating: 7, count: 32))) : nil
    }

    @Test("says what it is and holds, and gives back what is free", arguments: [false, true])
    func info(isEncrypted: Bool) async throws {
        let store = try await store(encryption(isEncrypted))
        let text = JSON(String(repeating: "x", count: 10_000))
        for number in 0..<100 {
            try await store.write { try $0.put(["id": JSON("\(number)"), "text": text], in: "t") }
        }
        _ = try await store.write { try $0.delete(matching: TableQuery("t")) }
        let info = try await store.info()
        #expect(info.isEncrypted == isEncrypted && info.library.hasPrefix(isEncrypted ? "SQLCipher 4." : "SQLite 3."))
        #expect(info.format == 1 && !info.isReadableByOthers && info.path.hasSuffix("/store.db"))
        #expect(
            info.tables.first { $0.name == "t" } == .init(name: "t", records: 0, columns: 1, indexes: 1, isOwn: false))
        #expect(info.tables.contains { $0.name == "sluice_operations" && $0.isOwn })
        #expect(info.free > 500_000)
        try await store.vacuum()
        let after = try await store.info()
        #expect(after.free == 0 && after.size < info.size - 500_000 && after.log == 0)
        #expect(try await store.check().isEmpty)
        try await store.close()
    }

    @Test("a byte that has changed in an encrypted file is found, wherever it is")
    func flipped() async throws {
        let encryption = try encryption(true)
        let store = try await store(encryption)
        let text = JSON(String(repeating: "x", count: 1000))
        try await store.write { writer in
            for number in 0..<100 { try writer.put(["id": JSON("\(number)"), "text": text], in: "t") }
        }
        try await store.close()
        let whole = try #require(FileManager.default.contents(atPath: path))
        var generator = SeededGenerator(seed: 5)
        for round in 0..<25 {
            var bytes = whole
            let place = round == 0 ? 5 : Int.random(in: 0..<bytes.count, using: &generator)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try bytes.write(to: URL(filePath: path))
            var damaged = false
            do {
                let store = try SQLiteStore(path: path, encryption: encryption)
                damaged = try await store.check().contains { $0.kind == .damagedFile }
                try await store.close()
            } catch let error as SluiceError {
                damaged = [.storeKeyRefused, .storeCorrupt].contains(error.code)
            }
            #expect(damaged, "byte \(place) of page \(place / 4096 + 1)")
        }
    }

    @Test("what does not fit together is found, each thing by its name")
    func inconsistent() async throws {
        let store = try await store(nil)
        @Sendable func operation(_ id: String, _ kind: TableOperation.Kind, _ record: String, sequence: Int64) -> JSON {
            TableOperation(
                id: id, sequence: sequence, table: "t", recordID: RecordID(record), kind: kind,
                createdAt: Timestamp(ticks: 0)
            ).record
        }
        #expect(try await store.check() == [])
        try await store.write { writer in
            let operations = TableOperation.schema.name
            try writer.put(operation("1", .insert, "gone", sequence: 1), in: operations)
            try writer.put(operation("2", .update, "here", sequence: 1), in: operations)
            try writer.put(["id": "here"], in: "t")
            try writer.put(["id": "3", "kind": "nonsense"], in: operations)
            try writer.put(
                RecordState(table: "t", recordID: "other", base: ["id": "other"], mirror: nil).record,
                in: RecordState.schema.name)
            try writer.put(["id": "9/x"], in: Membership.schema.name)
            try writer.put(["id": "[]"], in: Cursor.schema.name)
        }
        let kinds = try await store.check().map { "\($0.kind.rawValue) \($0.recordID?.text ?? $0.operationID ?? "")" }
        #expect(
            Set(kinds) == [
                "unreadable 3", "doubled here", "orphanedOperation gone", "missingBase here", "orphanedBase other",
                "unreadable []", "orphanedMember 9/x",
            ], "\(kinds)")
        try await store.close()
    }
}
