import SluiceSync
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceTesting
@testable import SluiceWire

/// A later edit sets a property that the decision about an earlier operation takes from the server, or has computed: it was
/// made without knowledge of that, so it is decided too.
@Suite("An edit that a decision about an earlier operation overrules")
struct OverruledEditTests {
    /// Adds what was counted here to what the server has.
    private struct Counting: ConflictHandler {
        var decidesEqualEdits: Bool { true }
        var during: @Sendable (Conflict) async throws -> Void = { _ in }

        func decide(_ conflict: Conflict) async throws -> ConflictDecision {
            try await during(conflict)
            guard var merged = conflict.server, let client = conflict.client?["n"]?.int,
                let base = conflict.base?["n"]?.int, let server = merged["n"]?.int
            else { return .ask }
            merged["n"] = JSON(server + client - base)
            return .merge(merged)
        }
    }

    /// A device that has counted one while another one has counted one too.
    private func counted(
        _ kind: StoreKind, _ handler: any ConflictHandler, _ dialect: Dialect = .azureV2
    ) async throws -> Device {
        let device = try await Device(kind, handlers: [handler], dialect: dialect)
        device.server.seed("todos", [["id": "a", "n": 10, "text": "base"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 11])
        device.server.seed("todos", [["id": "a", "n": 11]])
        return device
    }

    @Test("each counting counts once, whatever the later one counts", arguments: StoreKind.allCases, [1, 2, -1, 0])
    func separate(_ kind: StoreKind, _ more: Int64) async throws {
        let device = try await counted(kind, Counting())
        try await device.todos.update(
            ["id": "a", "n": JSON(11 + more), "text": "later"], options: OperationOptions(isMergeable: false))
        for _ in 0..<3 { _ = try await device.context.push() }
        #expect(device.remote("a")?["n"]?.int == 12 + more)
        #expect(device.remote("a")?["text"] == "later")
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
    }

    @Test("a counting during the request counts", arguments: StoreKind.allCases, [1, 2, -1])
    func during(_ kind: StoreKind, _ more: Int64) async throws {
        let todos = Mutex<SyncTable<JSON>?>(nil)
        let asked = Mutex(0)
        let device = try await counted(
            kind,
            Counting { _ in
                let isFirst = asked.withLock { count in
                    count += 1
                    return count == 1
                }
                guard isFirst else { return }
                try await todos.withLock { $0 }?.update(["id": "a", "n": JSON(11 + more)])
            })
        todos.withLock { $0 = device.todos }
        for _ in 0..<3 { _ = try await device.context.push() }
        #expect(device.remote("a")?["n"]?.int == 12 + more)
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.queue().isEmpty)
        #expect(asked.withLock { $0 } == (more == -1 ? 1 : 2), "asked again, with both edits")
    }

    @Test("a later edit goes on top of what a person or a chosen side decides", arguments: StoreKind.allCases, 0...1)
    func chosen(_ kind: StoreKind, _ index: Int) async throws {
        let handlers: [any ConflictHandler] = [
            FieldMerge(preferring: .server), ConflictClosure { _ in .merge(["n": 30]) },
        ]
        let device = try await counted(kind, handlers[index])
        try await device.todos.update(["id": "a", "n": 20], options: OperationOptions(isMergeable: false))
        device.server.seed("todos", [["id": "a", "n": 15]])
        for _ in 0..<3 { _ = try await device.context.push() }
        #expect(device.remote("a")?["n"]?.int == (index == 0 ? 15 : 20))
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.queue().isEmpty)
    }

    @Test("the client wins with its own property only, not with a later edit of another", arguments: StoreKind.allCases)
    func unseen(_ kind: StoreKind) async throws {
        let asked = Mutex(0)
        let device = try await counted(
            kind,
            ConflictClosure { _ in
                asked.withLock { count in
                    count += 1
                    return count == 1 ? .client : .ask
                }
            })
        try await device.todos.update(["id": "a", "text": "mine"], options: OperationOptions(isMergeable: false))
        device.server.seed("todos", [["id": "a", "n": 12, "text": "theirs"]])
        for _ in 0..<3 { _ = try await device.context.push() }
        #expect(device.remote("a")?["n"]?.int == 11)
        #expect(device.remote("a")?["text"] == "theirs")
        #expect(try await device.queue() == ["update a parked"])
        let copies = try await device.context.queue.copies(
            of: try #require(try await device.context.queue.operations().first))
        #expect(copies.base?["text"] == "base" && copies.mirror?["text"] == "theirs" && copies.base?["n"] == 11)
    }

    @Test("an operation after one that is given up knows nothing of what was overruled", arguments: StoreKind.allCases)
    func givenUp(_ kind: StoreKind) async throws {
        let device = try await counted(kind, ConflictClosure { _ in .ask })
        try await device.todos.update(["id": "a", "text": "mine"], options: OperationOptions(isMergeable: false))
        try await device.todos.update(["id": "a", "p": "later"], options: OperationOptions(isMergeable: false))
        device.server.seed("todos", [["id": "a", "n": 12, "text": "theirs"]])
        let steps: [(ConflictDecision, JSON)] = [
            (.client, "newer"), (.server, "newest"), (.server, "last"), (.client, "last"),
        ]
        for (decision, text) in steps {
            _ = try await device.context.push()
            if let held = try await device.context.queue.operations().first, held.state == .parked {
                try await device.context.queue.resolve(held.id, decision)
            }
            device.server.seed("todos", [["id": "a", "text": text, "p": text]])
        }
        for _ in 0..<3 {
            _ = try await device.context.push()
            for held in try await device.context.queue.operations() where held.state == .parked {
                try await device.context.queue.resolve(held.id, .client)
            }
        }
        #expect(try await device.queue().isEmpty)
        #expect(device.remote("a")?["text"] == "last", "only a given up operation has set it")
        #expect(device.remote("a")?["p"] == "later")
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("countings of two devices add up, in any order of edits, groups and pushes", arguments: 0..<150)
    func addUp(_ seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let during = Mutex<[@Sendable () async throws -> Void]>([])
        let handler = Counting { _ in
            guard let edit = during.withLock({ $0.popLast() }) else { return }
            try await edit()
        }
        let first = try await Device(.memory, handlers: [handler])
        first.server.seed("todos", [["id": "a", "n": 100, "text": "base"]])
        let devices = [first, try await Device(.memory, server: first.server, handlers: [handler])]
        for device in devices { try await device.todos.pull() }
        var expected: Int64 = 100
        for step in 0..<24 {
            let device = devices[Int.random(in: 0...1, using: &random)]
            let more = Int64.random(in: -2...3, using: &random)
            switch Int.random(in: 0...7, using: &random) {
            case 0...2:
                expected += more
                try await count(more, on: device, isMergeable: step % 3 == 0)
            case 3:
                expected += more
                during.withLock { $0.append { try await count(more, on: device, isMergeable: step % 2 == 0) } }
            case 4: try await device.todos.pull()
            default: _ = try await device.context.push()
            }
        }
        for edit in during.withLock({ edits in
            defer { edits = [] }
            return edits
        }) { try await edit() }
        for _ in 0..<12 {
            for device in devices { _ = try await device.context.push() }
        }
        #expect(devices[0].remote("a")?["n"]?.int == expected)
        for device in devices {
            try await device.todos.pull()
            #expect(try await device.local("a")?["n"]?.int == expected)
            #expect(try await device.queue().isEmpty)
        }
    }
}

private func count(_ more: Int64, on device: Device, isMergeable: Bool) async throws {
    let known = try await device.local("a")?["n"]?.int ?? 0
    try await device.todos.update(
        ["id": "a", "n": JSON(known + more)], options: OperationOptions(isMergeable: isMergeable))
}
