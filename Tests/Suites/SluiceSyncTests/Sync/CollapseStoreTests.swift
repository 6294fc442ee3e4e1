import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Collapse in the store: row, base, mirror and queue are as the table says")
struct CollapseStoreTests {
    /// All that a device knows of a record.
    private struct Picture: Equatable, Sendable {
        var local: JSON?
        var state: RecordState?
        var operations: [TableOperation]
    }

    private func picture(_ device: Device) async throws -> Picture {
        try await device.store.read { reader in
            let queue = QueueReader(reader)
            return Picture(
                local: try reader.record("a", in: "todos"), state: try queue.state(of: "a", in: "todos"),
                operations: try queue.all(on: "a", in: "todos"))
        }
    }

    private func change(_ kind: TableOperation.Kind, _ n: Int, _ todos: SyncTable<JSON>) async throws {
        switch kind {
        case .insert: try await todos.insert(["id": "a", "n": JSON(n)])
        case .update: try await todos.update(["id": "a", "n": JSON(n)])
        case .delete: try await todos.delete(id: "a")
        case .undelete: try await todos.undelete(id: "a")
        }
    }

    /// A device with an operation on `a` that was never sent.
    private func queued(_ row: CollapseTable.Row, _ kind: StoreKind) async throws -> Device {
        let device = try await Device(
            kind, maximumAttempts: [.dead, .deadUncertain].contains(row.situation) ? 1 : 10)
        if row.queued != .insert {
            device.server.seed("todos", [["id": "a", "n": 0, "m": 0]])
            try await device.todos.pull()
        }
        if row.queued == .undelete {
            try await device.todos.delete(id: "a")
            _ = try await device.context.push()
        }
        try await change(row.queued, 1, device.todos)
        if row.queued == .undelete {
            // A record that was known here when it was restored, so that it can be edited at once.
            try await device.store.write { writer in
                let record: JSON = ["id": "a", "n": 0, "m": 0]
                try writer.put(record, in: "todos")
                try QueueWriter(writer).put(RecordState(table: "todos", recordID: "a", base: record, mirror: nil))
            }
        }
        return device
    }

    /// Brings the operation into its situation; `meanwhile` runs while it is sent.
    private func send(
        _ device: Device, _ situation: CollapseTable.Situation, meanwhile: @escaping @Sendable () async throws -> Void
    ) async throws {
        func push(_ fault: ModelServer.Fault) async throws {
            let server = device.server
            server.onRequest { request in
                guard request.isWrite else { return .none }
                try? await meanwhile()
                return fault
            }
            _ = try await device.context.push()
            server.onRequest(nil)
        }
        switch situation {
        case .neverSent: break
        case .sent, .inFlight: try await push(.answer(.model(503, nil)))
        case .uncertain: try await push(.loseAnswer)
        case .parked: try await push(.answer(.model(400, nil)))
        case .parkedUncertain:
            try await push(.loseAnswer)
            try await push(.answer(.model(400, nil)))
        case .dead: try await push(.answer(.model(412, nil)))
        case .deadUncertain: try await push(.answerAfter(.model(500, nil)))
        }
    }

    @Test("each cell, and both sides are equal in the end", arguments: StoreKind.allCases, CollapseTable.rows)
    func cell(_ kind: StoreKind, _ row: CollapseTable.Row) async throws {
        for (new, outcome) in zip(CollapseTable.kinds, row.outcomes) {
            let device = try await queued(row, kind)
            let seen = Mutex<(Picture, Picture)?>(nil)
            let changeAgain: @Sendable () async throws -> Void = { [self] in
                guard seen.withLock({ $0 == nil }) else { return }
                try await device.todos.insert(["id": "other"])
                let before = try await picture(device)
                do {
                    try await change(new, 2, device.todos)
                    #expect(outcome != "error", "\(new.rawValue)")
                } catch let error as SluiceError {
                    #expect(outcome == "error", "\(new.rawValue): \(error)")
                }
                let after = try await picture(device)
                seen.withLock { $0 = (before, after) }
            }
            try await send(device, row.situation) { if row.situation == .inFlight { try await changeAgain() } }
            try await changeAgain()
            let (before, after) = try #require(seen.withLock { $0 })
            try check(before, after, outcome, new, row)
            try await settle(device)
        }
    }

    private func check(
        _ before: Picture, _ after: Picture, _ outcome: String, _ new: TableOperation.Kind, _ row: CollapseTable.Row
    ) throws {
        let note = Comment(rawValue: "\(row.testDescription) + \(new.rawValue)")
        let old = try #require(before.operations.first, note)
        if outcome == "error" {
            #expect(after == before, note)
            return
        }
        if outcome == "both vanish" {
            #expect(after.operations.isEmpty && after.state == nil, note)
            #expect(after.local == before.state?.mirror, note)
            return
        }
        #expect(after.state == before.state, "base and mirror stay: \(row.testDescription) + \(new.rawValue)")
        switch new {
        case .insert, .update: #expect(after.local?["n"] == 2, note)
        case .delete: #expect(after.local == nil, note)
        case .undelete: #expect(after.local == before.state?.mirror, note)
        }
        let last = try #require(after.operations.last, note)
        switch outcome {
        case "successor":
            var untouched = after.operations[0]
            untouched.frozen = nil
            #expect(after.operations.count == 2 && untouched == old, note)
            #expect(last.kind == new && last.state == .pending && last.revision == 1, note)
        case "end delete":
            #expect(after.operations.count == 1 && last.id != old.id && last.kind == .delete, note)
            #expect(last.sequence > old.sequence + 1, "after the other record's operation")
            #expect(last.isUncertain == old.isUncertain, note)
        default:
            #expect(after.operations.count == 1 && last.id == old.id, note)
            let isMoved = outcome == "→ delete"
            #expect(isMoved ? last.sequence > old.sequence + 1 : last.sequence == old.sequence, note)
            #expect(last.kind.rawValue == (outcome == "merge" ? old.kind.rawValue : String(outcome.dropFirst(2))))
            #expect(last.revision == old.revision + 1 && last.state == .pending && last.failure == nil, note)
        }
    }

    private func settle(_ device: Device) async throws {
        for _ in 0..<3 {
            try await device.context.queue.retryAll()
            _ = try await device.context.push()
            for operation in try await device.context.queue.operations(TableOperation.Filter(states: [.parked])) {
                try await device.context.queue.resolve(operation.id, .client)
            }
        }
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
        let remote = device.remote("a")
        #expect(try await device.local("a") == remote)
    }
}
