import HTTPTypes
import Synchronization
import Testing

@testable import SluiceCore
@testable import SluiceTesting

@Suite("Histories: random edits on two devices over a network that loses requests and answers")
struct HistoryTests {
    @Test(
        "after the network heals all copies are equal and no edit has vanished",
        arguments: 1...80 as ClosedRange<UInt64>)
    func history(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let kind = StoreKind.allCases[Int(seed) % StoreKind.allCases.count]
        let server = ModelServer(pageSize: Int.random(in: 1...7, using: &random))
        server.seed("todos", (0..<6).map { ["id": JSON("r\($0)"), "a": 0, "b": 0] })
        let policy: ConflictPolicy = seed % 2 == 0 ? .clientWins : .serverWins
        var devices: [Device] = []
        for _ in 0..<2 { devices.append(try await Device(kind, server: server, policy: policy)) }
        for device in devices { try await device.todos.pull(named: "all") }

        let faults = Mutex(SeededGenerator(seed: seed &* 31))
        server.onRequest { _ in
            faults.withLock { generator -> ModelServer.Fault in
                switch Int.random(in: 0..<10, using: &generator) {
                case 0: .loseRequest
                case 1, 2: .loseAnswer
                case 3: .answerAfter(.model(500, nil))
                case 4: .answer(.model(503, nil))
                default: .none
                }
            }
        }
        for step in 0..<40 {
            let device = devices[Int.random(in: 0..<2, using: &random)]
            try await edit(device, step, &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: _ = try await device.context.push()
            case 1: _ = try? await device.todos.pull(named: "all")
            default: break
            }
        }

        server.onRequest(nil)
        for _ in 0..<3 {
            for device in devices {
                for operation in try await device.context.queue.operations() where operation.state == .parked {
                    // An undelete of what the server has never had stays refused.
                    if operation.kind == .undelete, operation.failure?.status == 404 {
                        try await device.context.queue.discard(operation.id)
                    } else {
                        try await device.context.queue.retry(operation.id)
                    }
                }
                _ = try await device.context.push()
                try await device.todos.pull(named: "all")
            }
        }
        let remote = server.rows("todos").filter { $0.value["deleted"] != true }
        for device in devices {
            let left = try await device.context.queue.operations().map {
                "\($0.kind) \($0.recordID) \($0.state) \($0.failure?.message ?? "")"
            }
            #expect(left == [], "seed \(seed)")
            #expect(try await device.states() == 0, "seed \(seed)")
            let local = try await device.todos.records()
            #expect(
                Set(local.map(Device.plain)) == Set(remote.values.map(Device.plain)), "seed \(seed): copies differ")
        }
    }

    private func edit(_ device: Device, _ step: Int, _ random: inout SeededGenerator) async throws {
        let id = "r\(Int.random(in: 0..<8, using: &random))"
        do {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try await device.todos.insert(["id": JSON(id), "a": JSON(step), "b": JSON(step)])
            case 1: try await device.todos.delete(id: id)
            case 2: try await device.todos.undelete(id: id)
            case 3...5: try await device.todos.update(["id": JSON(id), "a": JSON(step)])
            default: try await device.todos.update(["id": JSON(id), "b": JSON(step)])
            }
        } catch let error as SluiceError
            where [.recordExists, .recordMissing, .operationRefused].contains(error.code)
        {
            // What cannot be done to the record as it is now; nothing has changed.
        }
    }
}
