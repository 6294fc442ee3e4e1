import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Storage that fails")
struct StorageFaultTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "a store holds what it promises after a fault at any call", arguments: StorageFaultMode.allCases,
        [false, true])
    func anywhere(mode: StorageFaultMode, isEncrypted: Bool) async throws {
        // A few of each: `make test` tries more of them in a release build, where a trial takes a tenth of the time.
        let stride = mode == .callOnce || mode == .calls || mode == .shortRead ? 1801 : 347
        let report = try await StorageFaultCampaign(
            modes: [mode], stride: stride, seed: 5, tears: 1, isEncrypted: isEncrypted
        ).run()
        #expect(report.violations == [])
        #expect(report.fired >= 2)
    }

    @Test("a power cut takes what was not synced, and nothing else")
    func powerCut() async throws {
        for (durability, expected) in [(SQLiteStore.Options.Durability.full, 1), (.normal, 0)] {
            let path = folder.file("\(durability).db")
            let faults = try StorageFaults()
            let store = try SQLiteStore(path: path, options: faults.options(.init(durability: durability)))
            try await store.define([TableSchema("t")])
            try await store.close()
            let again = try SQLiteStore(path: path, options: faults.options(.init(durability: durability)))
            try await again.write { try $0.put(["id": "1"], in: "t") }
            for unsynced in StorageFaults.Unsynced.allCases where unsynced != .torn {
                let found = folder.file("\(durability)-\(unsynced).db")
                try faults.saveSurvivors(of: path, to: found, unsynced)
                let survivor = try SQLiteStore(path: found)
                let count = try await survivor.read { try $0.count(matching: TableQuery("t")) }
                #expect(count == (unsynced == .kept ? 1 : expected), "\(durability) \(unsynced)")
                try await survivor.close()
            }
            try await again.close()
        }
    }

    @Test("each fault has its error, and the store goes on when it is over")
    func errors() async throws {
        for (fault, code) in [
            (StorageFaults.Fault.fullDisk, SluiceError.Code.storeFull), (.shortWrite, .storeInputOutput),
            (.sync, .storeInputOutput), (.call, .storeInputOutput),
        ] {
            let faults = try StorageFaults()
            let store = try SQLiteStore(path: folder.file("\(fault).db"), options: faults.options())
            try await store.write { try $0.put(["id": "1"], in: "t") }
            faults.arm(fault, at: fault == .call ? 5 : 1, repeats: true)
            let error = await #expect(throws: SluiceError.self) {
                try await store.write { try $0.put(["id": "2"], in: "t") }
            }
            #expect(error?.code == code, "\(fault)")
            #expect(faults.fired > 0)
            faults.heal()
            try await store.write { try $0.put(["id": "3"], in: "t") }
            let ids = try await store.read { try $0.records(matching: TableQuery("t")).map { $0["id"] } }
            #expect(ids == ["1", "3"], "\(fault)")
            try await store.close()
        }
    }
}
