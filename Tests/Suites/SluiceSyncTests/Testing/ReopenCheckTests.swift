import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@Suite("The kit's checks of stores that are opened anew")
struct ReopenCheckTests {
    private func check() throws -> LocalStoreConformance.ReopenCheck {
        try #require(
            LocalStoreConformance.reopenChecks.first { $0.name.hasPrefix("a transaction that threw is not there") })
    }

    @Test("find a store that writes only when it is let go or closed")
    func late() async throws {
        let disk = LateDisk()
        let error = await #expect(throws: ConformanceFailure.self) { try await check().run { LateStore(disk) } }
        #expect(error?.message.contains("expected 1 records, found 0") == true, "\(String(describing: error))")
    }

    @Test("say what to do with a store that keeps a second one out")
    func busy() async throws {
        let opened = Mutex(false)
        let error = await #expect(throws: ConformanceFailure.self) {
            try await check().run {
                let isOpen = opened.withLock { opened in
                    defer { opened = true }
                    return opened
                }
                if isOpen { throw SluiceError(.storeBusy, "it is open elsewhere") }
                return MemoryStore()
            }
        }
        #expect(error?.message.contains("run(in:open:)") == true, "\(String(describing: error))")
    }
}

/// What is left of a ``LateStore``.
private final class LateDisk: Sendable {
    let content = Mutex<MemoryStore?>(nil)
}

/// A store that keeps all in memory until it is let go or closed.
private final class LateStore: LocalStore {
    private let memory: MemoryStore
    private let disk: LateDisk

    init(_ disk: LateDisk) {
        self.disk = disk
        memory = disk.content.withLock { $0 } ?? MemoryStore()
    }

    deinit { keep() }

    private func keep() { disk.content.withLock { [memory] in $0 = memory } }

    func define(_ tables: [TableSchema]) async throws { try await memory.define(tables) }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try await memory.read(body)
    }

    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        try await memory.write(body)
    }

    func close() async throws { keep() }
}
