import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Hooks after an operation that did not go through")
struct PushErrorHookTests {
    /// A device with an update of a, whose writes the server answers so, and a hook that decides so.
    private func device(
        _ kind: StoreKind, _ fault: Shared<ModelServer.Fault>, maximumAttempts: Int = 10,
        _ decide: @escaping @Sendable (PushResult.Failure) async throws -> PushErrorDecision
    ) async throws -> Device {
        let hook = TestHook(hookName: "medic", error: decide)
        let device = try await Device(kind, hooks: [hook], maximumAttempts: maximumAttempts)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.clearLog()
        device.server.onRequest { $0.isWrite ? fault.value : .none }
        return device
    }

    private static let refusal = ModelServer.Fault.answer(.json(422, "{\"error\":\"n is odd\"}", ["Retry-After": "7"]))

    @Test("a hook sees what the server said", arguments: StoreKind.allCases)
    func sees(_ kind: StoreKind) async throws {
        let seen = Shared<[PushResult.Failure]>([])
        let fault = Shared(Self.refusal)
        let device = try await device(kind, fault) { failure in
            seen.change { $0.append(failure) }
            return .next
        }
        try await device.context.push()
        let failure = try #require(seen.value.first)
        #expect(failure.status == 422 && failure.code == .rejected && failure.state == .parked)
        #expect(failure.message == "n is odd" && failure.retryAfter == .seconds(7))
        #expect(String(decoding: failure.body, as: UTF8.self) == "{\"error\":\"n is odd\"}")
        #expect(failure.record?["n"] == 2 && failure.operation.attempts == 1)
        #expect(!failure.isNetwork && !failure.mayBeApplied)
        #expect(try await device.queue() == ["update a parked"])

        fault.value = .loseAnswer
        try await device.context.queue.retry(failure.operation.id)
        let result = try await device.context.push()
        #expect(result.end == .network)
        #expect(seen.value.last?.isNetwork == true && seen.value.last?.mayBeApplied == true)
        #expect(seen.value.last?.state == .pending && seen.value.last?.body == [])
    }

    @Test("no hook is asked about a conflict", arguments: StoreKind.allCases)
    func conflict(_ kind: StoreKind) async throws {
        let device = try await device(kind, Shared(.none)) { _ in
            Issue.record("a conflict is no failure")
            return .cancelAndDiscard
        }
        device.server.seed("todos", [["id": "a", "n": 9]])
        #expect(try await device.context.push().conflicts == 1)
        #expect(try await device.queue() == ["update a parked"])
    }

    @Test("a retry with a pause stays pending until it is over", arguments: StoreKind.allCases)
    func retryLater(_ kind: StoreKind) async throws {
        let fault = Shared(Self.refusal)
        let device = try await device(kind, fault) { _ in .retry(after: .seconds(60)) }
        let result = try await device.context.push()
        #expect(result.failures.map(\.state) == [.pending] && result.postponed == 1)
        fault.value = .none
        device.server.clearLog()
        try await device.context.push()
        #expect(device.server.calls == [])
        #expect(try await device.operation("a")?.failure?.status == 422)
    }

    @Test(
        "a retry at once is bounded in a push, and a refusal that stays is dead in the end",
        arguments: StoreKind.allCases)
    func retryNow(_ kind: StoreKind) async throws {
        let device = try await device(kind, Shared(Self.refusal), maximumAttempts: 12) { _ in .retry(after: .zero) }
        try await device.context.push()
        #expect(device.server.calls.count == 6)
        let operation = try #require(try await device.operation("a"))
        #expect(operation.state == .parked && operation.failedAttempts == 6)
        let always = try await self.device(kind, Shared(Self.refusal), maximumAttempts: 3) { _ in
            .retry(after: .milliseconds(1))
        }
        for _ in 0..<5 {
            try await always.context.push()
            for _ in 0..<5 { _ = always.context.options.environment.now() }
        }
        #expect(always.server.calls.count == 3)
        #expect(try await always.queue() == ["update a dead"])
    }

    @Test("a retry that works ends well", arguments: StoreKind.allCases)
    func retryWorks(_ kind: StoreKind) async throws {
        let fault = Shared(Self.refusal)
        let device = try await device(kind, fault) { _ in
            fault.value = .none
            return .retry(after: .zero)
        }
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
    }

    @Test("a change that is given up is in the audit, and the record is the server's", arguments: StoreKind.allCases)
    func discard(_ kind: StoreKind) async throws {
        let device = try await device(kind, Shared(Self.refusal)) { _ in .cancelAndDiscard }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.remaining == 0 && result.applied == 0)
        #expect(try await device.local("a") == ["id": "a", "n": 1])
        #expect(try await device.audit().map { $0["what"] } == ["discard"])
        #expect(try await device.audit().first?["local"]?["n"] == 2)
        #expect(try await device.states() == 0)
    }

    @Test("a change can be given up for another record", arguments: StoreKind.allCases)
    func update(_ kind: StoreKind) async throws {
        let device = try await device(kind, Shared(Self.refusal)) { _ in
            .cancelAndUpdate(["id": "a", "n": 5, "version": "made up"])
        }
        try await device.context.push()
        #expect(try await device.queue() == [])
        let stored = try #require(try await device.todos.lookup(id: "a"))
        #expect(stored["n"] == 5 && stored["version"] == device.server.rows("todos")["a"]?["version"])
        #expect(try await device.audit().count == 1)
        #expect(try await device.states() == 0)
    }

    @Test("not where it would take later changes along", arguments: StoreKind.allCases)
    func updateRefused(_ kind: StoreKind) async throws {
        let device = try await device(kind, Shared(Self.refusal)) { _ in .cancelAndUpdate(["id": "a", "n": 5]) }
        try await device.todos.update(["id": "a", "m": 1], options: OperationOptions(isMergeable: false))
        let result = try await device.context.push()
        #expect(result.end == .completed)
        #expect(try await device.queue() == ["update a parked", "update a pending"])
        let failure = try await device.operation("a")?.failure
        #expect(failure?.status == 422 && failure?.message.contains("medic") == true)
        #expect(try await device.local("a") == ["id": "a", "n": 2, "m": 1])
    }

    @Test("a change can get another record or kind, and is sent again", arguments: StoreKind.allCases)
    func change(_ kind: StoreKind) async throws {
        let fault = Shared(Self.refusal)
        let device = try await device(kind, fault) { failure in
            fault.value = .none
            var record = failure.record ?? .object
            record["n"] = 4
            return .changeKind(failure.operation.kind, record)
        }
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 4)
        fault.value = Self.refusal
        let deleting = try await self.device(kind, fault) { _ in
            fault.value = .none
            return .changeKind(.delete, nil)
        }
        #expect(try await deleting.context.push().isClean)
        #expect(deleting.remote("a") == nil)
    }

    @Test("one that is changed again and again is dead in the end", arguments: StoreKind.allCases)
    func changeForEver(_ kind: StoreKind) async throws {
        let device = try await device(kind, Shared(Self.refusal), maximumAttempts: 3) { failure in
            .changeKind(.update, ["id": "a", "n": JSON(failure.operation.revision + 10)])
        }
        for _ in 0..<4 { try await device.context.push() }
        #expect(device.server.calls.count == 3)
        #expect(try await device.queue() == ["update a dead"])
    }

    @Test("the end of a push for all is not undone by a decision about one", arguments: StoreKind.allCases)
    func ends(_ kind: StoreKind) async throws {
        for decision in [
            .cancelAndDiscard, .retry(after: .zero), .changeKind(.delete, nil), .park(reason: "no"), .abort,
        ] as [PushErrorDecision] {
            let device = try await device(kind, Shared(.loseRequest)) { _ in decision }
            try await device.todos.insert(["id": "b"])
            let result = try await device.context.push()
            #expect(result.end == .network && device.server.calls.count == 1)
            #expect(try await device.queue().contains("insert b pending"))
        }
    }

    @Test("it can be held with a reason, whatever it failed of", arguments: StoreKind.allCases)
    func park(_ kind: StoreKind) async throws {
        let device = try await device(kind, Shared(.answer(.json(503, "")))) { _ in .park(reason: "too often") }
        try await device.context.push()
        let operation = try #require(try await device.operation("a"))
        #expect(operation.state == .parked && operation.failure?.message.hasPrefix("medic: too often") == true)
        #expect(operation.failure?.status == 503)
    }

    @Test("a hook can end the push", arguments: StoreKind.allCases)
    func abort(_ kind: StoreKind) async throws {
        let device = try await device(kind, Shared(Self.refusal)) { _ in .abort }
        try await device.todos.insert(["id": "b"])
        let result = try await device.context.push()
        #expect(result.end == .aborted && device.server.calls.count == 1)
        #expect(try await device.queue() == ["update a parked", "insert b pending"])
    }

    @Test(
        "a hook that throws leaves it as without hooks, and is named beside the reason", arguments: StoreKind.allCases)
    func throwing(_ kind: StoreKind) async throws {
        let fault = Shared(Self.refusal)
        let device = try await device(kind, fault) { _ in throw HookMishap() }
        try await device.context.push()
        let operation = try #require(try await device.operation("a"))
        #expect(operation.state == .parked && operation.failure?.status == 422)
        #expect(operation.failure?.message.hasPrefix("n is odd; the hook medic failed") == true)
        fault.value = .loseRequest
        try await device.context.queue.retry(operation.id)
        #expect(try await device.context.push().end == .network)
        #expect(try await device.queue() == ["update a pending"])
    }
}
