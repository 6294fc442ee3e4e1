import Foundation
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
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
            let records = try await store.read { try $0.records(matching: TableQuery("t")) }
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

    /// Between which keys a store is converted.
    enum Way: CaseIterable { case toKey, fromKey }

    private func keys(_ way: Way) -> (from: StoreEncryption?, to: StoreEncryption?) {
        way == .toKey ? (nil, key) : (key, nil)
    }

    /// The file of a store with some pages, before the conversion, and what stands in it.
    private func original(_ way: Way) async throws -> (file: Data, records: [JSON]) {
        let records = try await fill()
        if way == .fromKey { try await SQLiteStore.convert(path: path, from: nil, to: key) }
        return (try Data(contentsOf: URL(fileURLWithPath: path)), records)
    }

    /// Puts a store there that nobody has touched.
    private func put(_ file: Data) throws {
        for suffix in ["-wal", "-journal", "-shm", "-sluice-conversion", "-sluice-conversion-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        try file.write(to: URL(fileURLWithPath: path))
    }

    @Test(
        "whichever call fails, alone or with all after it: one whole store stands there, and nothing beside it",
        arguments: [StorageFaults.Fault.call, .shortRead, .shortWrite, .fullDisk, .sync], Way.allCases)
    func calls(_ fault: StorageFaults.Fault, _ way: Way) async throws {
        let (file, expected) = try await original(way)
        let (from, to) = keys(way)
        let faults = try StorageFaults(forEncrypted: true)
        for repeats in [false, true] {
            var call = 1
            var failures = 0
            while true {
                try put(file)
                faults.arm(fault, at: call, repeats: repeats)
                var isDone = false
                do {
                    try await SQLiteStore.convert(
                        path: path, from: from, to: to, options: faults.options(.init(busyTimeout: .zero)))
                    isDone = true
                } catch {
                    failures += 1
                    #expect((error as? SluiceError)?.code.isStore == true, "\(fault) at \(call): \(error)")
                }
                let fired = faults.fired > 0
                faults.heal()
                let found = try await records(path, isDone ? to : from)
                #expect(found == expected, "\(fault) at \(call), repeats: \(repeats)")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(names.allSatisfy { !$0.contains("conversion") }, "\(names)")
                if !fired { break }
                call += 1
            }
            #expect(failures > 0 && call > 3)
        }
    }

    @Test(
        "wherever the power is cut: the old store is whole", arguments: StorageFaults.Unsynced.allCases, Way.allCases)
    func powerCut(_ unsynced: StorageFaults.Unsynced, _ way: Way) async throws {
        let (file, expected) = try await original(way)
        let (from, to) = keys(way)
        var call = 1
        while true {
            try put(file)
            // What it knows of unsynced writes is of one conversion.
            let faults = try StorageFaults(forEncrypted: true)
            faults.arm(.powerCut, at: call)
            try? await SQLiteStore.convert(
                path: path, from: from, to: to, options: faults.options(.init(busyTimeout: .zero)))
            if faults.fired == 0 { break }
            let survivor = folder.file("survivor-\(call).db")
            try faults.saveSurvivors(of: path, to: survivor, unsynced, seed: UInt64(call))
            #expect(try await records(survivor, from) == expected, "cut at \(call)")
            call += 1
        }
        #expect(call > 3)
    }
}
