import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("An older revision on a server that remembers request ids: it is asked what became of the later one")
struct AskedRevisionTests {
    /// What happens to each of the first sends.
    enum Send: String, CaseIterable, CustomTestStringConvertible {
        case answerLost, requestLost

        var fault: ModelServer.Fault { self == .answerLost ? .loseAnswer : .loseRequest }
        var testDescription: String { rawValue }
    }

    /// A device whose edits of `a` went out one after the other, each with that fate.
    private func device(
        _ kind: StoreKind, isNew: Bool, _ sends: [Send], handlers: [any ConflictHandler] = [],
        policy: ConflictPolicy = .hold, dialect: Dialect = .azureV2
    ) async throws -> Device {
        let device = try await Device(kind, handlers: handlers, policy: policy, dialect: dialect)
        device.server.offer([.requestIDs])
        if isNew {
            try await device.todos.insert(["id": "a", "n": 0])
        } else {
            device.server.seed("todos", [["id": "a", "n": -1, "m": 1]])
            try await device.todos.pull()
            try await device.todos.update(["id": "a", "n": 0])
        }
        for (index, send) in sends.enumerated() {
            device.server.onRequest { $0.isWrite ? send.fault : .none }
            _ = try await device.context.push()
            try await device.todos.update(["id": "a", "n": JSON(index + 1)])
        }
        device.server.onRequest(nil)
        return device
    }

    @Test(
        "the only writer has no conflict with itself, and its last write stands", arguments: [true, false],
        [
            [.answerLost, .answerLost], [.answerLost, .requestLost], [.requestLost, .answerLost],
            [.answerLost, .requestLost, .requestLost], [.answerLost, .answerLost, .answerLost],
        ] as [[Send]])
    func alone(_ isNew: Bool, _ sends: [Send]) async throws {
        for dialect in [Dialect.azureV2, .azureV3] {
            let device = try await device(.memory, isNew: isNew, sends, dialect: dialect)
            let result = try await device.context.push()
            #expect(result.isClean && result.conflicts == 0, "\(dialect): \(result)")
            #expect(device.remote("a")?["n"]?.int == Int64(sends.count))
            #expect(try await device.local("a") == device.remote("a"))
        }
    }

    @Test("no policy and no merge drops it", arguments: [true, false])
    func policies(_ isNew: Bool) async throws {
        for policy in ConflictPolicy.allCases {
            let handlers: [any ConflictHandler] = policy == .hold ? [FieldMerge(preferring: .server)] : []
            let device = try await device(
                .memory, isNew: isNew, [.answerLost, .answerLost], handlers: handlers, policy: policy)
            #expect(try await device.context.push().isClean)
            #expect(device.remote("a")?["n"] == 2, "\(policy)")
            #expect(try await device.local("a")?["n"] == 2, "\(policy)")
            #expect(try await device.audit().isEmpty)
        }
    }

    @Test("where the later one was done, another has set the record back: a conflict", arguments: StoreKind.allCases)
    func setBack(_ kind: StoreKind) async throws {
        let device = try await device(kind, isNew: false, [.requestLost, .answerLost])
        #expect(device.remote("a")?["n"] == 1)
        device.server.seed("todos", [["id": "a", "n": 0]])
        let result = try await device.context.push()
        #expect(result.conflicts == 1 && device.remote("a")?["n"] == 0, "\(result)")
    }

    @Test("where a filter makes another request of it, it is not asked", arguments: StoreKind.allCases)
    func stamped(_ kind: StoreKind) async throws {
        let count = Mutex(0)
        let stamp = Tap { request, next in
            var request = request
            if request.isWrite, var body = try? request.body.json {
                body["stamp"] = JSON(
                    count.withLock { count in
                        count += 1
                        return count
                    })
                request.body = MessageBody(json: body)
            }
            return try await next(request)
        }
        let device = try await Device(kind, filters: [stamp])
        device.server.offer([.requestIDs])
        try await device.todos.insert(["id": "a", "n": 0])
        for n in 1...2 {
            device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
            _ = try await device.context.push()
            try await device.todos.update(["id": "a", "n": JSON(n)])
        }
        device.server.onRequest(nil)
        device.server.clearLog()
        #expect(try await device.context.push().conflicts == 1)
        #expect(device.server.requests.count(where: \.isWrite) == 1)
    }
}
