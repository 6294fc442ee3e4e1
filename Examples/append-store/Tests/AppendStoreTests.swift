import AppendStore
import Foundation
import SluiceCore
import SluiceTesting
import Testing

@Suite("A store of someone else's: an append-only file")
struct AppendStoreTests {
    private let folder: URL
    private var path: String { folder.appendingPathComponent("store").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("append-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test("conforms", arguments: LocalStoreConformance.checks)
    func conforms(check: LocalStoreConformance.Check) async throws {
        try await check.run { [path] in try await AppendStore(path: path) }
        try FileManager.default.removeItem(at: folder)
    }

    @Test("conforms when it is opened anew", arguments: LocalStoreConformance.reopenChecks)
    func reopens(check: LocalStoreConformance.ReopenCheck) async throws {
        try await check.run(in: folder.path) { try await AppendStore(path: $0 + "/store") }
        try FileManager.default.removeItem(at: folder)
    }

    @Test("a line that was torn at any byte takes no other transaction with it")
    func torn() async throws {
        let store = try await AppendStore(path: path)
        try await store.write { try $0.put(["id": "1"], in: "t") }
        let before = try Data(contentsOf: URL(filePath: path)).count
        try await store.write { try $0.put(["id": "2", "text": "é"], in: "t") }
        try await store.close()
        let whole = try Data(contentsOf: URL(filePath: path))
        for count in before..<whole.count {
            try whole.prefix(count).write(to: URL(filePath: path))
            let store = try await AppendStore(path: path)
            #expect(try await store.read { try $0.records(matching: TableQuery("t")) } == [["id": "1"]], "\(count)")
            try await store.write { try $0.put(["id": "3"], in: "t") }
            try await store.close()
            let again = try await AppendStore(path: path)
            #expect(try await again.read { try $0.count(matching: TableQuery("t")) } == 2, "\(count)")
            try await again.close()
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test("a first line that was torn at any byte is written again")
    func tornHead() async throws {
        let store = try await AppendStore(path: path)
        try await store.close()
        let head = try Data(contentsOf: URL(filePath: path))
        for count in 0..<head.count {
            try head.prefix(count).write(to: URL(filePath: path))
            let store = try await AppendStore(path: path)
            try await store.write { try $0.put(["id": "1"], in: "t") }
            try await store.close()
            let again = try await AppendStore(path: path)
            #expect(try await again.read { try $0.count(matching: TableQuery("t")) } == 1, "\(count)")
            try await again.close()
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test("a line that is damaged at any byte, with others after it, is an error and takes none with it")
    func damaged() async throws {
        let store = try await AppendStore(path: path)
        let start = try Data(contentsOf: URL(filePath: path)).count
        try await store.write { try $0.put(["id": "1"], in: "t") }
        let end = try Data(contentsOf: URL(filePath: path)).count
        for id in ["2", "3"] { try await store.write { try $0.put(["id": JSON(id)], in: "t") } }
        try await store.close()
        let whole = try Data(contentsOf: URL(filePath: path))
        for place in start..<end {
            var bytes = whole
            bytes[place] ^= 1
            try bytes.write(to: URL(filePath: path))
            let error = await #expect(throws: SluiceError.self) { try await AppendStore(path: path) }
            #expect(error?.code == .storeCorrupt, "\(place)")
            #expect(try Data(contentsOf: URL(filePath: path)) == bytes, "\(place)")
        }
        try whole.write(to: URL(filePath: path))
        let again = try await AppendStore(path: path)
        #expect(try await again.read { try $0.count(matching: TableQuery("t")) } == 3)
        try await again.close()
        try FileManager.default.removeItem(at: folder)
    }

    @Test("a whole line that means nothing to this version is an error, and the file stays")
    func unknown() async throws {
        let store = try await AppendStore(path: path)
        try await store.close()
        let head = try Data(contentsOf: URL(filePath: path))
        for document in [
            #"{"change":[{"in":"t","put":{"id":"1"}}]}"#, #"{"change":[["put","t"]]}"#, #"{"later":1}"#,
            #"{"define":[{"columns":[]}]}"#, #"{"change":[["redeclare",{}]]}"#,
        ] {
            let checksum = document.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
            let bytes = head + Data("\(checksum) \(document)\n".utf8)
            try bytes.write(to: URL(filePath: path))
            let error = await #expect(throws: SluiceError.self) { try await AppendStore(path: path) }
            #expect(error?.code == .storeCorrupt, "\(document)")
            #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test("a record that nests as deep as a record may is there when the file is opened and written anew")
    func deep() async throws {
        var record: JSON = 1
        for _ in 1..<JSON.maximumDepth { record = [record] }
        record = ["id": "1", "deep": record]
        for _ in 0..<100 {
            let store = try await AppendStore(path: path)
            try await store.write { [record] in try $0.put(record, in: "t") }
            try await store.close()
        }
        #expect(try Data(contentsOf: URL(filePath: path)).count < 15_000)
        let store = try await AppendStore(path: path)
        #expect(try await store.read { try $0.record("1", in: "t") } == record)
        try await store.close()
        try FileManager.default.removeItem(at: folder)
    }

    @Test("who opens a file while it is being written anew loses nothing")
    func openedWhileRewritten() async throws {
        let path = path
        let store = try await AppendStore(path: path)
        for round in 0..<100 { try await store.write { try $0.put(["id": "1", "n": JSON(round)], in: "t") } }
        try await store.close()
        let outOfDate = try Data(contentsOf: URL(filePath: path))
        for round in 0..<20 {
            try outOfDate.write(to: URL(filePath: path))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 { group.addTask { try await Self.put("\(number)", path) } }
                try await group.waitForAll()
            }
            let store = try await AppendStore(path: path)
            #expect(try await store.read { try $0.count(matching: TableQuery("made")) } == 8, "\(round)")
            try await store.close()
        }
        try FileManager.default.removeItem(at: folder)
    }

    /// Opens the store as soon as nobody else has it open, and puts a record.
    private static func put(_ id: String, _ path: String) async throws {
        while true {
            do {
                let store = try await AppendStore(path: path)
                try await store.write { try $0.put(["id": JSON(id)], in: "made") }
                return try await store.close()
            } catch let error as SluiceError where error.code == .storeBusy {
                await Task.yield()
            }
        }
    }

    @Test("a file that is mostly out of date is written anew when it is opened")
    func rewritten() async throws {
        for round in 0..<200 {
            let store = try await AppendStore(path: path)
            try await store.write { try $0.put(["id": "1", "n": JSON(round)], in: "t") }
            try await store.close()
        }
        #expect(try Data(contentsOf: URL(filePath: path)).count < 10_000)
        let store = try await AppendStore(path: path)
        #expect(try await store.read { try $0.record("1", in: "t") }?["n"] == 199)
        await #expect(throws: SluiceError.self) { try await AppendStore(path: path) }
        try await store.close()
        try FileManager.default.removeItem(at: folder)
    }

    @Test("devices on it keep every invariant of synchronisation", arguments: [1, 50, 99])
    func simulated(from seed: UInt64) throws {
        let folder = folder
        let stores = SimulatedStores("append") {
            try await AppendStore(path: folder.appendingPathComponent(UUID().uuidString).path)
        }
        let report = Simulation(SimulationConfiguration(stores: [stores])).run(seeds: seed..<seed + 4)
        #expect(report.failures.isEmpty, "\(report.failures)")
        try FileManager.default.removeItem(at: folder)
    }
}
