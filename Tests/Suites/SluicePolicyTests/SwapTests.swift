import Foundation
import SluiceCore
import SluiceLua
import SluicePolicy
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

    @Test("while writers write") func underLoad() async throws {
        let swaps = ProcessInfo.processInfo.environment["SWAPS"].flatMap { Int($0) } ?? 300
        let versions = try [plans(1), plans(2)]
        let plugins = try await Plugins(versions[0])
        let context = try await SyncContext(
            store: MemoryStore(), options: plugins.added(to: SyncOptions()))
        let table = try context.table("notes")
        let written = try await withThrowingTaskGroup(of: Int.self) { group in
            let swapping = Task {
                for number in 0..<swaps { try await plugins.reload(versions[number % 2]) }
            }
            for writer in 0..<4 {
                group.addTask {
                    var count = 0
                    while !swapping.isCancelled {
                        _ = try await table.insert(["id": JSON("w\(writer)-\(count % 500)-\(count)"), "n": JSON(count)])
                        count += 1
                        if count >= 2_000 { break }
                    }
                    return count
                }
            }
            var sum = 0
            for try await count in group { sum += count }
            try await swapping.value
            return sum
        }
        let records = try await table.records()
        #expect(records.count == written)
        #expect(records.allSatisfy { $0["one"] != nil && $0["one"] == $0["two"] })
        let seen: Set<Int64> = Set(records.compactMap { $0["one"]?.int })
        #expect(seen.isSubset(of: [1, 2]))
        let figures = await plugins.metrics
        #expect(figures.reloads == swaps && figures.errors.isEmpty, "\(figures)")
        // The machines of replaced sets are gone.
        #expect(figures.memory.count == 2)
    }
}
