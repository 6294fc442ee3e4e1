import Foundation
import SluiceCore
import SluiceLua
import SluicePolicy
import Synchronization
import Testing

/// Swaps of whole policies under load. `SWAPS=100000` plays a campaign.
@Suite("Swaps under load: no write is lost, and no call sees parts of two versions")
struct SwapTests {
    /// A version of two plugins, each of which writes the version into a property of its own.
    private func plans(_ version: Int) throws -> [PluginPlan] {
        let plugins = ["one", "two"].map { name in
            (
                name,
                [
                    "plugin.json": """
                    { "name": "\(name)", "version": "1.0.\(version)", "api": "1.0", "description": "Marks.",
                      "hooks": { "before_enqueue": { "match": { "tables": ["notes"] } } } }
                    """,
                    "main.lua": """
                    local function before_enqueue(op) op.record.\(name) = \(version) end
                    return { before_enqueue = before_enqueue }
                    """,
                ]
            )
        }
        let release = PolicyRelease(
            name: "shops", version: version, policy: "plugins: { one: { path: a }, two: { path: b } }\n",
            plugins: Dictionary(plugins, uniquingKeysWith: { $1 }))
        return try release.read().plans
    }

    /// The end of the swaps, which the writers wait for.
    private final class End: Sendable {
        private let state = Mutex(false)

        var isReached: Bool { state.withLock { $0 } }

        func reach() { state.withLock { $0 = true } }
    }

    @Test("while writers write") func underLoad() async throws {
        let swaps = ProcessInfo.processInfo.environment["SWAPS"].flatMap { Int($0) } ?? 300
        let versions = try [plans(1), plans(2)]
        let plugins = try await Plugins(versions[0])
        let context = try await SyncContext(
            store: MemoryStore(), options: plugins.added(to: SyncOptions()))
        let table = try context.table("notes")
        let end = End()
        let written = try await withThrowingTaskGroup(of: [RecordID: Int].self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var last: [RecordID: Int] = [:]
                    var count = 0
                    while !end.isReached {
                        let id = "w\(writer)-\(count % 100)"
                        _ = try await table.upsert(["id": JSON(id), "n": JSON(count)])
                        last[RecordID(id)] = count
                        count += 1
                    }
                    return last
                }
            }
            for number in 0..<swaps { try await plugins.reload(versions[number % 2]) }
            end.reach()
            return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
        }
        let records = try await table.records()
        #expect(records.count == written.count && !written.isEmpty)
        for record in records {
            #expect(record["n"]?.int.map { Int($0) } == record["id"]?.textID.flatMap { written[$0] })
        }
        #expect(records.allSatisfy { $0["one"] != nil && $0["one"] == $0["two"] })
        let seen: Set<Int64> = Set(records.compactMap { $0["one"]?.int })
        #expect(seen.isSubset(of: [1, 2]))
        let figures = await plugins.metrics
        #expect(figures.reloads == swaps && figures.errors.isEmpty, "\(figures)")
        // The machines of replaced sets are gone.
        #expect(figures.memory.count == 2)
    }
}
