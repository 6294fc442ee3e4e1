import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// A server that answers reads from a copy of its data that is some seconds old.
@Suite("A copy that lags proves no change")
struct LaggingCopyTests {
    @Test("an edit back to the former value is sent", arguments: [Dialect.azureV2, .datasync], [409, 412])
    func editBack(_ dialect: Dialect, _ status: Int) async throws {
        let device = try await Device(.memory, dialect: dialect)
        device.server.seed("todos", [["id": "a", "n": 1, "text": "x"]])
        try await device.todos.pull()
        let former = device.server.rows("todos")
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .answer(.model(200, JSON(Array(former.values)))) }
        _ = try? await device.context.push()
        #expect(device.remote("a")?["n"] == 2)
        try await device.todos.update(["id": "a", "n": 1])
        device.server.onRequest { request in
            .answer(
                request.isWrite ? .model(status, ["error": "another version"]) : .model(200, JSON(Array(former.values)))
            )
        }
        _ = try? await device.context.push()
        #expect(try await device.context.queue.operations().count == 1, "it is not known to be done")
        device.server.onRequest(nil)
        for _ in 0..<2 { _ = try? await device.context.push() }
        #expect(device.remote("a")?["n"] == 1)
        #expect(try await device.queue().isEmpty)
    }

    @Test("an undelete of a row whose deletion was pulled is sent", arguments: StoreKind.allCases)
    func undelete(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull(named: "all")
        let former = device.server.rows("todos")
        device.server.softDelete("todos", "a")
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a") == nil)
        try await device.todos.undelete(id: "a")
        device.server.onRequest { $0.isWrite ? .none : .answer(.model(200, JSON(Array(former.values)))) }
        _ = try? await device.context.push()
        #expect(try await device.queue() == ["undelete a pending"])
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 1)
    }
}

@Suite("A success without a body, of which the server kept a part")
struct PartlyKeptTests {
    @Test("the rest is in the audit", arguments: [Dialect.azureV2, .datasync])
    func audited(_ dialect: Dialect) async throws {
        let device = try await Device(.memory, dialect: dialect)
        device.server.seed("todos", [["id": "a", "n": 1, "text": "base"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2, "text": "mine"])
        device.server.onRequest { request in
            guard request.isWrite else { return .none }
            device.server.seed("todos", [["id": "a", "n": 2]])
            return .answer(.model(204, nil))
        }
        #expect(try await device.context.push().isClean)
        #expect(try await device.local("a")?["text"] == "base")
        let entries = try await device.audit().compactMap { $0["what"]?.string }
        #expect(entries.count == 1 && entries[0].hasSuffix("text"), "\(entries)")
    }
}
