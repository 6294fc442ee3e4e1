import SluiceCore
import Testing

@Suite("The memory store")
struct MemoryStoreTests {
    @Test("a transaction that throws leaves nothing, and sees its own writes before")
    func rollback() async throws {
        struct Stop: Error {}
        let store = MemoryStore()
        try await store.write { try $0.put(["id": "1", "n": 1], in: "t") }
        await #expect(throws: Stop.self) {
            try await store.write { writer in
                try writer.put(["id": "1", "n": 2], in: "t")
                try writer.put(["id": "2"], in: "t")
                #expect(try writer.count(matching: TableQuery("t")) == 2)
                throw Stop()
            }
        }
        let records = try await store.read { try $0.records(matching: TableQuery("t")) }
        #expect(records == [["id": "1", "n": 1]])
    }

    @Test("many writers lose no update")
    func writers() async throws {
        let store = MemoryStore()
        try await store.write { try $0.put(["id": "n", "value": 0], in: "t") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await store.write { writer in
                        let value = try writer.record("n", in: "t")?["value"]?.int ?? 0
                        try writer.put(["id": "n", "value": JSON(value + 1)], in: "t")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read { try $0.record("n", in: "t") }?["value"] == 50)
    }

    @Test("ids are the same only if their code points are")
    func codePoints() async throws {
        let store = MemoryStore()
        try await store.write { writer in
            try writer.put(["id": "\u{E9}"], in: "t")
            try writer.put(["id": "e\u{301}"], in: "t")
        }
        #expect(try await store.read { try $0.count(matching: TableQuery("t")) } == 2)
    }

    @Test("a writer kept beyond its transaction is refused")
    func kept() async throws {
        final class Keeper: @unchecked Sendable { var writer: (any StoreWriter)? }
        let keeper = Keeper()
        try await MemoryStore().write { keeper.writer = $0 }
        let error = #expect(throws: SluiceError.self) { try keeper.writer?.put(["id": "1"], in: "t") }
        #expect(error?.code == .storeClosed)
    }
}
