import Foundation
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

/// Logs as a process leaves them that was killed, with a byte that is not what was written.
@Suite("A damaged log")
struct DamagedLogTests {
    private let folder: TemporaryFolder
    private let path: String
    private let killed: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
        killed = folder.file("killed.db")
    }

    private static let transactions = 5
    private static let records = 40

    private var logSize: Int { StoreFolder.size(of: path + "-wal") }

    /// Copies a store with five transactions in its log, while it is open.
    ///
    /// - Returns: where in the log each ends, and first where what was before them does.
    private func copy(_ encryption: StoreEncryption?) async throws -> [Int] {
        let store = try SQLiteStore(path: path, encryption: encryption, options: .init(durability: .normal))
        try await store.define([TableSchema("t", columns: [.init("n", .integer), .init("text", .string)])])
        var ends = [logSize]
        let text = JSON(String(repeating: "x", count: 300))
        for number in 1...Self.transactions {
            try await store.write { writer in
                for part in 0..<Self.records {
                    try writer.put(["id": JSON("\(number)-\(part)"), "n": JSON(number), "text": text], in: "t")
                }
            }
            ends.append(logSize)
        }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: killed + suffix)
        }
        try await store.close()
        return ends
    }

    /// How many records of each transaction there are.
    private func found(_ encryption: StoreEncryption?) async throws -> [Int] {
        let (store, recovery) = try await SQLiteStore.openOrRecover(path: killed, encryption: encryption)
        #expect(recovery == nil, "what was committed before is whole")
        let records = try await store.read { try $0.records(matching: TableQuery("t")) }
        #expect(try await store.check() == [])
        // Who goes on writes over what was damaged.
        try await store.write { try $0.put(["id": "new", "n": 0, "text": "y"], in: "t") }
        try await store.close()
        let again = try SQLiteStore(path: killed, encryption: encryption)
        #expect(try await again.read { try $0.count(matching: TableQuery("t")) } == records.count + 1)
        try await again.close()
        return (1...Self.transactions).map { number in records.count(where: { $0["n"]?.int == Int64(number) }) }
    }

    @Test("that is whole brings all that was committed", arguments: [false, true])
    func whole(isEncrypted: Bool) async throws {
        let encryption = isEncrypted ? StoreEncryption.key(try .random()) : nil
        let ends = try await copy(encryption)
        #expect(zip(ends, ends.dropFirst()).allSatisfy { $0 + 4096 < $1 }, "each transaction is in it")
        #expect(try await found(encryption) == Array(repeating: Self.records, count: Self.transactions))
    }

    enum Place: CaseIterable {
        case number, hash, firstPage, lastPage
    }

    @Test(
        "brings what was committed before the damage, and nothing of what came after", arguments: [false, true],
        Place.allCases)
    func damaged(isEncrypted: Bool, place: Place) async throws {
        let encryption = isEncrypted ? StoreEncryption.key(try .random()) : nil
        let ends = try await copy(encryption)
        // Of the last transaction, and in another copy of the one before it.
        for transaction in [Self.transactions, Self.transactions - 1] {
            let (start, end) = (ends[transaction - 1], ends[transaction])
            // A frame is 24 bytes, the page's number first and the hash last, and the page.
            let position =
                switch place {
                case .number: start + 3
                case .hash: start + 20
                case .firstPage: start + 24 + 2000
                case .lastPage: end - 100
                }
            var log = try Data(contentsOf: URL(filePath: killed + "-wal"))
            try #require(position < log.count)
            log[position] ^= 1
            let kept = try Data(contentsOf: URL(filePath: killed))
            let keptLog = try Data(contentsOf: URL(filePath: killed + "-wal"))
            try log.write(to: URL(filePath: killed + "-wal"))
            let expected = (1...Self.transactions).map { $0 < transaction ? Self.records : 0 }
            #expect(try await found(encryption) == expected, "\(transaction)")
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: killed + suffix) }
            try kept.write(to: URL(filePath: killed))
            try keptLog.write(to: URL(filePath: killed + "-wal"))
        }
    }
}
