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
        try await check.run { [path] in try await AppendStore(path: path) }
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
            #expect(try await store.read { try $0.records(matching: Query("t")) } == [["id": "1"]], "\(count)")
            try await store.write { try $0.put(["id": "3"], in: "t") }
            try await store.close()
            let again = try await AppendStore(path: path)
            #expect(try await again.read { try $0.count(matching: Query("t")) } == 2, "\(count)")
            try await again.close()
        }
        try FileManager.default.removeItem(at: folder)
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
        let report = Simulation(SimulationConfiguration(stores: [stores])).run(seeds: seed..<seed + 12)
        #expect(report.failures.isEmpty, "\(report.failures)")
        try FileManager.default.removeItem(at: folder)
    }
}
