import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A repair that is refused says what to do, and that can be done in the state that the operation has")
struct AdviceTests {
    /// How an operation came to where it stands.
    enum Standing: String, CaseIterable, CustomTestStringConvertible {
        case unsent, busy, uncertain, inFlight, postponed, parked, dead, conflict

        var testDescription: String { rawValue }
    }

    /// What somebody may do about it.
    enum Command: String, CaseIterable, CustomTestStringConvertible {
        case retry, edit, toInsert, toUpdate, toDelete, resolve, discard, undo

        var testDescription: String { rawValue }
    }

    /// A device with one operation of that kind, on `new`, `a` or `gone`, or a group with one of them.
    private func device(_ kind: TableOperation.Kind, _ standing: Standing, inGroup: Bool) async throws -> Device {
        let device = try await Device(.memory, maximumAttempts: 2) { $0.batchSize = inGroup ? 10 : 1 }
        if inGroup { device.server.offer([.batches]) }
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1], ["id": "gone", "n": 1]])
        try await device.todos.pull()
        device.server.softDelete("todos", "gone")
        try await device.todos.pull()
        try await make(kind, device, inGroup)
        let status: Int? =
            switch standing {
            case .busy: 503
            case .parked: 400
            case .uncertain, .postponed, .dead: 500
            case .unsent, .inFlight, .conflict: nil
            }
        if let status {
            device.server.onRequest { $0.isWrite ? .answer(.model(status, ["error": "no"])) : .none }
            for _ in 0..<(standing == .dead ? 2 : 1) { _ = try await device.context.push() }
            device.server.onRequest(nil)
        }
        if standing == .conflict {
            device.server.seed("todos", [["id": "a", "n": 5], ["id": "new", "n": 5]])
            if kind == .undelete { device.server.hardDelete("todos", "gone") }
            _ = try await device.context.push()
        }
        let later = device.context.options.environment.now().advanced(by: .seconds(3600))
        try await device.store.write { writer in
            let queue = QueueWriter(writer)
            for var operation in try queue.reader.all() {
                if standing == .inFlight { operation.state = .inFlight }
                if standing == .postponed { operation.notBefore = later }
                try queue.put(operation)
            }
        }
        device.server.clearLog()
        return device
    }

    private func make(_ kind: TableOperation.Kind, _ device: Device, _ inGroup: Bool) async throws {
        if inGroup {
            _ = try await device.context.group { group in
                try group.update(["id": "b", "n": 2], in: "todos")
                switch kind {
                case .insert: try group.insert(["id": "new", "n": 2], in: "todos")
                case .update: try group.update(["id": "a", "n": 2], in: "todos")
                case .delete: try group.delete(id: "a", in: "todos")
                case .undelete: try group.undelete(id: "gone", in: "todos")
                }
            }
            return
        }
        switch kind {
        case .insert: try await device.todos.insert(["id": "new", "n": 2])
        case .update: try await device.todos.update(["id": "a", "n": 2])
        case .delete: try await device.todos.delete(id: "a")
        case .undelete: try await device.todos.undelete(id: "gone")
        }
    }

    private func carryOut(_ command: Command, _ operation: TableOperation, _ device: Device) async throws {
        let queue = device.context.queue
        let body: JSON = ["id": JSON(operation.recordID), "n": 7]
        switch command {
        case .retry: try await queue.retry(operation.id)
        case .edit: try await queue.edit(operation.id, to: body)
        case .toInsert: try await queue.changeKind(operation.id, to: .insert, record: body)
        case .toUpdate: try await queue.changeKind(operation.id, to: .update, record: body)
        case .toDelete: try await queue.changeKind(operation.id, to: .delete)
        case .resolve: try await queue.resolve(operation.id, .client)
        case .discard: try await queue.discard(operation.id)
        case .undo: try await queue.undo(operation.recordID, in: operation.table)
        }
    }

    /// Does what the refusal says, and demands that it can be done.
    private func follow(_ message: String, _ operation: TableOperation, _ device: Device) async throws {
        let queue = device.context.queue
        var isAdvice = false
        if message.contains("or delete the record") {
            isAdvice = true
            let twin = try await self.device(operation.kind, .uncertain, inGroup: false)
            try await twin.todos.delete(id: operation.recordID)
        }
        if message.contains("or discard it as moved") {
            let twin = try await self.device(operation.kind, .uncertain, inGroup: true)
            let first = try #require(try await twin.context.queue.operations().first)
            try await twin.context.queue.discard(first.id, goesOnElsewhere: true)
            #expect(try await twin.context.queue.operations().isEmpty)
        }
        if message.contains("push to learn"), !message.contains("resolve the conflict") {
            isAdvice = true
            if message.contains("retry it and push") { try await queue.retry(operation.id) }
            _ = try await device.context.push()
            #expect(!device.server.requests.isEmpty, "nothing is sent: \(message)")
            let after = try await queue.operation(operation.id)
            // A conflict shows what the server has, and can be decided.
            let isLearned = after?.isUncertain != true || after?.failure?.serverRecord != nil
            #expect(isLearned && after?.state != .inFlight, "nothing is learned: \(message)")
        }
        if message.contains("resolve the conflict") {
            isAdvice = true
            let all = try await queue.operations()
            let held = try #require(all.first { $0.failure?.serverRecord != nil })
            try await queue.resolve(held.id, .server)
        }
        if message.contains("pull first") {
            isAdvice = true
            try await device.todos.pull()
        }
        if message.contains("; discard it") || message.contains("discard those first") {
            isAdvice = true
            try await queue.discard(operation.id)
        }
        // Refusals that nothing can be done about, because there is nothing to do.
        let plain = [
            "makes no sense", "is no conflict that is held", "the server has it", "there is no body for it; give one",
        ]
        #expect(isAdvice || plain.contains { message.contains($0) }, "no advice: \(message)")
    }

    @Test(
        "in every state, for every command", arguments: Standing.allCases, Command.allCases)
    func followable(_ standing: Standing, _ command: Command) async throws {
        for kind in TableOperation.Kind.allCases {
            for inGroup in [false, true] {
                let device = try await device(kind, standing, inGroup: inGroup)
                let records: [RecordID] = ["new", "a", "gone"]
                let found = try await device.context.queue.operations().first { records.contains($0.recordID) }
                // A push of an undelete of what is there already, and the like, leaves nothing.
                guard let operation = found else { continue }
                do {
                    try await carryOut(command, operation, device)
                } catch let error as SluiceError {
                    try await follow(error.message, operation, device)
                }
            }
        }
    }

    @Test("an insert that was answered 500 until it was dead: undo says to retry it first")
    func deadInsert() async throws {
        let device = try await device(.insert, .dead, inGroup: false)
        #expect(try await device.queue() == ["insert new dead"])
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.queue.undo("new", in: "todos")
        }
        #expect(error?.message.contains("retry it and push to learn what became of it, or delete the record") == true)
        _ = try await device.context.push()
        #expect(device.server.requests.isEmpty, "no push sends it, so advice to push would lead nowhere")
        try await device.todos.delete(id: "new")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("new") == nil)
    }
}
