import Foundation
import SluiceCore
import SluiceSQLite
import SluiceTesting
import Testing

@Suite("A conversion whose disk fails")
struct ConversionFaultTests {
    private let folder: TemporaryFolder
    private let key: StoreEncryption
    private var path: String { folder.file("store.db") }

    init() throws {
        folder = try TemporaryFolder()
        key = .key(try .random())
    }

    private func records(_ path: String, _ encryption: StoreEncryption?) async throws -> [JSON]? {
        do {
            let store = try SQLiteStore(path: path, encryption: encryption, options: .init(readers: 1))
            let records = try await store.read { try $0.records(matching: Query("t")) }
            #expect(try await store.check() == [])
            try await store.close()
            return records
        } catch let error as SluiceError
            where [.storeEncrypted, .storeNotEncrypted, .storeKeyRefused].contains(error.code)
        {
            return nil
        }
    }

    /// A store with some pages.
    private func fill() async throws -> [JSON] {
        let store = try SQLiteStore(path: path, options: .init(durability: .normal))
        try await store.write { writer in
            for number in 0..<40 {
                let text = String(repeating: "\(number) ", count: 200)
                try writer.put(["id": JSON("\(number)"), "text": JSON(text)], in: "t")
            }
        }
        try await store.close()
        return try #require(try await records(path, nil))
    }

    @Test(
        "whichever call fails: one whole store stands there, and nothing beside it",
        arguments: [StorageFaults.Fault.call, .shortRead, .shortWrite, .fullDisk, .sync])
    func once(_ fault: StorageFaults.Fault) async throws {
        let expected = try await fill()
        let original = try Data(contentsOf: URL(fileURLWithPath: path))
        let faults = try StorageFaults(forEncrypted: true)
        let step = fault == .sync ? 1 : 3
        var call = 1
        var failures = 0
        while true {
            try original.write(to: URL(fileURLWithPath: path))
            faults.arm(fault, at: call)
            var isDone = false
            do {
                try await SQLiteStore.convert(
                    path: path, from: nil, to: key, options: faults.options(.init(busyTimeout: .zero)))
                isDone = true
            } catch {
                failures += 1
                #expect((error as? SluiceError)?.code.isStore == true, "\(fault) at \(call): \(error)")
            }
            let fired = faults.fired > 0
            faults.heal()
            let found = try await records(path, isDone ? key : nil)
            #expect(found == expected, "\(fault) at \(call)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.allSatisfy { !$0.contains("conversion") }, "\(names)")
            if !fired { break }
            call += step
        }
        #expect(failures > 0 && call > 3)
    }

    @Test("wherever the power is cut: the old store is whole", arguments: StorageFaults.Unsynced.allCases)
    func powerCut(_ unsynced: StorageFaults.Unsynced) async throws {
        let expected = try await fill()
        let original = try Data(contentsOf: URL(fileURLWithPath: path))
        var call = 1
        while true {
            try original.write(to: URL(fileURLWithPath: path))
            // What it knows of unsynced writes is of one conversion.
            let faults = try StorageFaults(forEncrypted: true)
            faults.arm(.powerCut, at: call)
            try? await SQLiteStore.convert(
                path: path, from: nil, to: key, options: faults.options(.init(busyTimeout: .zero)))
            if faults.fired == 0 { break }
            let survivor = folder.file("survivor-\(call).db")
            try faults.saveSurvivors(of: path, to: survivor, unsynced, seed: UInt64(call))
            #expect(try await records(survivor, nil) == expected, "cut at \(call)")
            for suffix in ["", "-wal", "-journal", "-shm", "-sluice-conversion", "-sluice-conversion-journal"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
            call += 2
        }
        #expect(call > 3)
    }
}
