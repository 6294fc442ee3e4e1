import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Two devices and a server, driven by a seed, with a ledger of every edit that was acknowledged.
struct History {
    private let seed: UInt64
    private let repairs: Bool
    private var random: SeededGenerator
    private let server: WatchedServer
    private var devices: [Device] = []
    private var stores: [MortalStore] = []
    private let ledgers = [Ledger(), Ledger()]
    private let faults: SharedGenerator
    private let isHealed = Flag()
    private let clock = Counter()

    /// - Parameter repairs: whether some edits never merge, and operations are edited, resolved and undone too.
    init(seed: UInt64, repairs: Bool = false) async throws {
        self.seed = seed
        self.repairs = repairs
        random = SeededGenerator(seed: seed)
        faults = SharedGenerator(seed: seed &* 31)
        server = WatchedServer(ModelServer(pageSize: Int.random(in: 1...7, using: &random)))
        server.inner.seed("todos", (0..<6).map { ["id": JSON("r\($0)"), "a": 0, "b": 0] })
        let kind = StoreKind.allCases[Int(seed) % StoreKind.allCases.count]
        for _ in 0..<2 {
            stores.append(MortalStore(try await kind.make()))
            devices.append(try await device(devices.count))
            try await devices[devices.count - 1].todos.pull(named: "all")
        }
        installFaults()
    }

    /// A new process on the device's store.
    private func device(_ index: Int, policy: ConflictPolicy? = nil) async throws -> Device {
        let policies: [ConflictPolicy] = [.clientWins, .serverWins, .hold]
        return try await Device(
            .memory, server: server.inner, handlers: seed % 4 == 3 ? [FieldMerge(preferring: .client)] : [],
            policy: policy ?? policies[Int(seed / 2) % 3], store: stores[index], transport: server,
            retry: seed % 3 == 0 ? RetryPolicy(attempts: 3) : .never)
    }

    private func installFaults() {
        server.inner.onRequest { [faults, isHealed] request in
            if isHealed.isSet { return .none }
            return faults.withLock { generator -> ModelServer.Fault in
                switch Int.random(in: 0..<12, using: &generator) {
                case 0: .loseRequest
                case 1, 2: .loseAnswer
                case 3: .answerAfter(.model(500, nil))
                case 4: .answer(.model(503, nil))
                case 5: .answer(.model(400, ["error": "not today"]))
                // To a delete it would be a lie where the server refuses it.
                case 6 where request.head.method != .delete: .answerAfter(.model(204, nil))
                default: .none
                }
            }
        }
    }

    mutating func step() async throws {
        let index = Int.random(in: 0..<2, using: &random)
        try await edit(index, Int.random(in: 0..<1 << 30, using: &random))
        let choice = Int.random(in: 0..<14, using: &random)
        if choice < 5, Bool.random(using: &random) { editDuringRequests(index) }
        defer { server.beforeSend.withLock { $0 = nil } }
        switch choice {
        case 0, 1: _ = try await devices[index].context.push()
        case 2, 3: _ = try? await devices[index].todos.pull(named: "all")
        case 4: _ = try? await devices[index].todos.pull()
        case 5, 6:
            stores[index].die(after: Int.random(in: 0..<12, using: &random))
            if choice == 5 {
                _ = try? await devices[index].context.push()
            } else {
                _ = try? await devices[index].todos.pull(named: "all")
            }
            stores[index].revive()
            devices[index] = try await device(index)
        case 7:
            if let operation = try await devices[index].context.queue.operations().randomElement(using: &random) {
                try await devices[index].context.queue.discard(operation.id)
            }
        case 8:
            for operation in try await devices[index].context.queue.operations() {
                try await devices[index].context.queue.retry(operation.id)
            }
        case 9 where Int.random(in: 0..<10, using: &random) == 0:
            try await devices[index].todos.purge(force: true)
        case 10...13 where repairs: try await repair(index, choice)
        default: break
        }
    }

    /// What an operator does, as far as it is possible with the operation as it is.
    private mutating func repair(_ index: Int, _ choice: Int) async throws {
        let queue = devices[index].context.queue
        guard let operation = try await queue.operations().randomElement(using: &random) else { return }
        do {
            switch choice {
            case 10: try await queue.undo(operation.recordID, in: operation.table)
            case 11:
                guard var body = try await queue.body(of: operation) else { return }
                body["c"] = JSON(clock.next())
                try await queue.edit(operation.id, to: body, revision: operation.revision)
            case 12:
                let decision = [ConflictDecision.client, .server, .delete, .discard].randomElement(using: &random)
                try await queue.resolve(operation.id, decision ?? .client)
            default:
                let kind = TableOperation.Kind.allCases.randomElement(using: &random)
                try await queue.changeKind(operation.id, to: kind ?? .update)
            }
        } catch let error as SluiceError where [.operationRefused, .invalidArgument].contains(error.code) {
            return
        }
    }

    /// Edits made while a push or pull of the same device waits for an answer.
    private mutating func editDuringRequests(_ index: Int) {
        let generator = SharedGenerator(seed: UInt64.random(in: 0..<1 << 40, using: &random))
        let history = self
        server.beforeSend.withLock {
            $0 = {
                let choice = generator.withLock {
                    Bool.random(using: &$0) ? Int.random(in: 0..<1 << 30, using: &$0) : nil
                }
                if let choice { try? await history.edit(index, choice) }
            }
        }
    }

    /// One edit by the application, which `choice` stands for, noted in the ledger once it is acknowledged.
    private func edit(_ index: Int, _ choice: Int) async throws {
        let (id, value, todos) = ("r\(choice / 8 % 8)", clock.next(), devices[index].todos)
        let options = OperationOptions(isMergeable: !repairs || choice / 64 % 3 > 0)
        var edit = Ledger.Edit(id: id, requestsSeen: server.requests)
        do {
            switch choice % 8 {
            case 0:
                edit.fields = ["a": value, "b": value]
                try await todos.insert(["id": JSON(id), "a": JSON(value), "b": JSON(value)], options: options)
            case 1:
                let before = try await operations(index, on: id)
                try await todos.delete(id: id, options: options)
                // Not so where it only takes back what the server has not heard of: then nothing is to be said to it.
                let cancels = before.last == .insert || before.last == .undelete
                let isCancelled = try await operations(index, on: id).isEmpty
                edit.isDelete = !(cancels && isCancelled)
                edit.endsEarlier = true
            case 2:
                edit.isUndelete = true
                try await todos.undelete(id: id, options: options)
            case 3...5:
                edit.fields = ["a": value]
                try await todos.update(["id": JSON(id), "a": JSON(value)], options: options)
            default:
                edit.fields = ["b": value]
                try await todos.update(["id": JSON(id), "b": JSON(value)], options: options)
            }
        } catch let error as SluiceError
            where [.recordExists, .recordMissing, .operationRefused].contains(error.code)
        {
            // What cannot be done to the record as it is now; nothing has changed.
            return
        }
        ledgers[index].note(edit)
    }

    private func operations(_ index: Int, on id: String) async throws -> [TableOperation.Kind] {
        try await devices[index].context.queue.operations().filter { $0.recordID == RecordID(id) }.map(\.kind)
    }

    mutating func heal() async throws {
        isHealed.set()
        for round in 0..<4 {
            for index in 0..<2 {
                devices[index] = try await device(index, policy: seed / 2 % 3 == 2 ? .clientWins : nil)
                for operation in try await devices[index].context.queue.operations() where operation.isHeld {
                    // An undelete of what the server has never had stays refused.
                    if round > 0, operation.kind == .undelete, operation.failure?.status == 404 {
                        try await devices[index].context.queue.discard(operation.id)
                    } else {
                        try await devices[index].context.queue.retry(operation.id)
                    }
                }
                _ = try await devices[index].context.push()
                try await devices[index].todos.pull(named: "all")
            }
        }
    }

    func check() async throws {
        let remote = server.inner.rows("todos").filter { $0.value["deleted"] != true }
        for (index, device) in devices.enumerated() {
            let left = try await device.context.queue.operations().map {
                "\($0.kind) \($0.recordID) \($0.state) \($0.failure?.message ?? "")"
            }
            #expect(left == [], "seed \(seed)")
            #expect(try await device.states() == 0, "seed \(seed)")
            let local = try await device.todos.records()
            #expect(
                Set(local.map(Device.plain)) == Set(remote.values.map(Device.plain)), "seed \(seed): copies differ")
            let lost = ledgers[index].lost(server: server, audit: try await device.audit())
            #expect(lost == [], "seed \(seed), device \(index): acknowledged, and nowhere to be found")
        }
    }
}

/// What one device's store has acknowledged, in order.
final class Ledger: Sendable {
    struct Edit: Sendable {
        var id: String
        /// How many requests the server had seen before the edit.
        var requestsSeen: Int
        var fields: [String: Int] = [:]
        var isDelete = false
        var isUndelete = false
        /// Whether the record's earlier edits are given up by this one.
        var endsEarlier = false
    }

    private let edits = Mutex<[Edit]>([])

    func note(_ edit: Edit) { edits.withLock { $0.append(edit) } }

    /// The edits that neither reached the server, nor were overwritten here by a later one, nor are in the audit.
    func lost(server: WatchedServer, audit: [JSON]) -> [String] {
        let edits = edits.withLock { $0 }
        var lost: [String] = []
        for (position, edit) in edits.enumerated() {
            let later = edits[(position + 1)...].filter { $0.id == edit.id }
            let given = audit.filter { $0["operation"]?["record"]?.string == edit.id }
            for (field, value) in edit.fields
            where !later.contains(where: { $0.endsEarlier || $0.fields[field] != nil }) {
                let isInAudit = given.contains { $0["local"]?[field]?.int == Int64(value) }
                if !server.hasHeld(edit.id, field, value), !isInAudit { lost.append("\(edit.id).\(field) = \(value)") }
            }
            if edit.isDelete, !later.contains(where: { $0.isUndelete || !$0.fields.isEmpty }) {
                let isInAudit = given.contains { $0["operation"]?["kind"] == "delete" }
                if server.lastAbsence(of: edit.id) < edit.requestsSeen, !isInAudit { lost.append("delete \(edit.id)") }
            }
        }
        return lost
    }
}

/// A server that remembers every value that any of its rows has had.
final class WatchedServer: Transport {
    let inner: ModelServer
    /// Done before each request.
    let beforeSend = Mutex<(@Sendable () async -> Void)?>(nil)
    private let seen = Mutex(Seen())

    private struct Seen {
        var values: Set<String> = []
        var lastAbsence: [String: Int] = [:]
        var requests = 0
    }

    init(_ inner: ModelServer) { self.inner = inner }

    var requests: Int { seen.withLock { $0.requests } }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        await beforeSend.withLock { $0 }?()
        look()
        defer { look() }
        return try await inner.send(request)
    }

    private func look() {
        let rows = inner.rows("todos")
        seen.withLock { seen in
            seen.requests += 1
            for index in 0..<8 {
                let id = "r\(index)"
                guard let row = rows[RecordID(id)], row["deleted"] != true else {
                    seen.lastAbsence[id] = seen.requests
                    continue
                }
                for field in ["a", "b"] { seen.values.insert("\(id) \(field) \(row[field]?.int ?? -1)") }
            }
        }
    }

    func hasHeld(_ id: String, _ field: String, _ value: Int) -> Bool {
        seen.withLock { $0.values.contains("\(id) \(field) \(value)") }
    }

    /// The number of the last request at which the record was not there.
    func lastAbsence(of id: String) -> Int { seen.withLock { $0.lastAbsence[id] ?? -1 } }
}

final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>
    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }
    func withLock<Result: Sendable>(_ body: (inout sending SeededGenerator) -> sending Result) -> Result {
        generator.withLock(body)
    }
}

final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

final class Counter: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}
