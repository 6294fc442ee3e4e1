import Foundation
import SluiceAdopt
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import Testing

@Suite("Storage that fails during an adoption")
struct AdoptionFaultTests {
    @Test("a kill or a power cut at any call leaves the old state or the new", arguments: Sample.all)
    func anywhere(_ sample: Sample) async throws {
        let folder = try Folder()
        let path = folder.file("old.db")
        try sample.make(at: path)
        var outcomes: Set<Int> = []
        var call = 1
        while true {
            let (file, faults) = (folder.file("new-\(call).db"), try StorageFaults())
            let store = try SQLiteStore(path: file, options: faults.options())
            let context = try await SyncContext(store: store, options: SyncOptions(dialect: sample.dialect))
            let old = try OldStore(path: path)
            faults.arm(.call, at: call, repeats: true)
            let isDone = (try? await context.adopt(old, options: sample.options)) != nil
            let hasFired = faults.fired > 0
            faults.heal()
            for unsynced in [StorageFaults.Unsynced.dropped, .kept] {
                let found = folder.file("found-\(call)-\(unsynced).db")
                try faults.saveSurvivors(of: file, to: found, unsynced)
                let survivor = try SQLiteStore(path: found)
                let next = try await SyncContext(store: survivor, options: SyncOptions(dialect: sample.dialect))
                let operations = try await next.queue.operations().count
                let records = try await next.table("todos").count()
                #expect([0, 4].contains(operations) && records == (operations == 0 ? 0 : 5), "call \(call)")
                if isDone { #expect(operations == 4, "call \(call): acknowledged") }
                outcomes.insert(operations)
                // Either way the next run ends with all of it, once.
                try await next.adopt(OldStore(path: path), options: sample.options)
                #expect(try await next.queue.operations().count == 4)
                #expect(try await next.table("todos").count() == 5)
                #expect(try await survivor.check() == [])
                try await survivor.close()
            }
            try? await store.close()
            if !hasFired { break }
            call += 7
        }
        #expect(outcomes == [0, 4] && call > 7)
    }
}
