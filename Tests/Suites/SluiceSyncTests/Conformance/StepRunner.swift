import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Runs a push or purge row, told as steps: see ``StepRunner/carryOut(_:)``.
final class StepRunner: Sendable {
    private let input: JSON
    private let server = ModelServer()
    private let faults = Mutex<[String]>([])
    private let during = Mutex<[String]>([])
    private let count = Mutex(0)
    private let current = Mutex<CaseDevice?>(nil)
    private let thrown = Mutex<[String]>([])
    private let later = Mutex<[Task<Void, Never>]>([])
    private let seen = Mutex<[String: Int]>([:])

    init(_ input: JSON) { self.input = input }

    func observe() async throws -> JSON {
        let store = MemoryStore()
        try await start(store)
        server.onRequest { [self] request in await fault(request) }
        var observed = JSON.object
        for step in input["steps"]?.elements ?? [] {
            let step = step.string ?? ""
            if step == "restart" {
                try await start(store)
            } else {
                for (name, value) in await attempt(step).members ?? [] { observed[name] = value }
            }
        }
        for task in later.withLock({ $0 }) { await task.value }
        let thrown = thrown.withLock { $0 }
        observed["thrown"] = JSON(thrown.map { JSON($0) })
        observed["failed"] = observed["failed"] ?? JSON(!thrown.isEmpty)
        return try await observation(observed)
    }

    /// Carries a step out; what it throws is one of the facts.
    private func attempt(_ step: String) async -> JSON {
        do {
            return try await carryOut(step)
        } catch {
            let code = (error as? SluiceError)?.code.description ?? "\(error)"
            thrown.withLock { $0.append("\(step): \(code)") }
            return .object
        }
    }

    private func start(_ store: any LocalStore) async throws {
        let device = try await CaseDevice(
            transport: server, policy: input["policy"]?.string, pageSize: 50,
            retries: input["retries"]?.int.map(Int.init) ?? 1, store: store)
        current.withLock { $0 = device }
    }

    private var device: CaseDevice {
        get throws {
            guard let device = current.withLock({ $0 }) else { throw SluiceError(.storeClosed, "not started") }
            return device
        }
    }

    /// What a step's words mean. An id may have its table before it: `other/a`.
    ///
    /// - `server a {…}`, `server deletes a`: another client's change.
    /// - `pull`, `pull NAME`, `push`, `push again` (whose outcome is told apart), `restart`.
    /// - `insert a {…}`, `update a {…}`, `delete a`: here. `have a VERSION`: it is here, settled, with that version.
    /// - `answer 412 {…}`, `answer`, `lose request`, `lose answer`: what becomes of the next write.
    /// - `during STEP`: while the next write is under way; `later STEP`: in a task of its own.
    /// - `retry a`, `discard a`, `discard a as seen` (after the last push).
    /// - `purge`, `purge force`, `purge where FILTER`, `purge named NAME`.
    private func carryOut(_ step: String) async throws -> JSON {
        let words = step.split(separator: " ", maxSplits: 2).map(String.init)
        let (table, id) = try place(words.count > 1 ? words[1] : "")
        switch words[0] {
        case "server" where words[1] == "deletes": server.softDelete("todos", RecordID(words[2]))
        case "server": server.seed(table.name, [content(id, words, "server")])
        case "pull": try await table.pull(named: words.count > 1 ? words[1] : nil)
        case "insert": try await table.insert(content(id, words, "local"))
        case "update": try await table.update(content(id, words, "local"))
        case "delete": try await table.delete(id: id)
        case "answer", "lose": faults.withLock { $0.append(step) }
        case "during": during.withLock { $0.append(String(step.dropFirst(7))) }
        case "later":
            let step = String(step.dropFirst(6))
            later.withLock { $0.append(Task.detached { [self] in _ = await attempt(step) }) }
        case "have":
            try await device.settle([["id": JSON(id), "text": "had", "version": JSON(words[2])]])
        case "push": return try await push(again: words.count > 1)
        case "purge": return ["removed": JSON(try await purge(step))]
        case "retry": try await device.context.queue.retry(operation(id).id)
        case "discard":
            let revision = words.count > 2 ? seen.withLock { $0[id] } : nil
            try await device.context.queue.discard(operation(id).id, revision: revision)
        default: throw SluiceError(.invalidArgument, "no such step: \(step)")
        }
        return .object
    }

    private func place(_ word: String) throws -> (SyncTable<JSON>, String) {
        let parts = word.split(separator: "/").map(String.init)
        return try (device.context.table(parts.count == 2 ? parts[0] : "todos"), parts.last ?? "")
    }

    private func content(_ id: String, _ words: [String], _ side: String) -> JSON {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let given = words.count > 2 ? try? JSON(parsing: Array(words[2].utf8)) : nil
        var record = given ?? ["text": JSON("\(side) \(number)")]
        record["id"] = JSON(id)
        return record
    }

    private func operation(_ id: String) async throws -> TableOperation {
        guard let operation = try await device.operations().first(where: { $0.recordID == RecordID(id) }) else {
            throw SluiceError(.invalidArgument, "nothing is queued for \(id)")
        }
        return operation
    }

    private func push(again: Bool) async throws -> JSON {
        let before = try await device.operations().count
        let result = try await device.context.push()
        if again { return ["again": JSON("\(result.end), \(result.remaining) left")] }
        for operation in try await device.operations() {
            seen.withLock { $0[operation.recordID.text] = operation.revision }
        }
        // The error that ended the push is told once, in the result, and once on its operation.
        let failures = result.failures.filter { $0.failure?.code != result.error?.code.description }
        return [
            "end": JSON(result.end.description), "errors": JSON(failures.count), "failed": JSON(failures.count),
            "conflicts": JSON(result.conflicts), "ops_after": JSON(result.remaining),
            "completed": JSON(before - result.remaining),
            "op_http": failures.first?.failure?.status.map { JSON($0) } ?? .null,
            "op_state": failures.first.map { JSON($0.state.rawValue) } ?? .null,
            "failures": JSON(failures.map { JSON("\($0.recordID) \($0.failure?.code ?? "")") }),
            "server_record": failures.first?.failure?.serverRecord?["text"] ?? .null,
        ]
    }

    private func purge(_ step: String) async throws -> Int {
        let table = try device.table
        let rest = step.dropFirst("purge ".count)
        if rest.hasPrefix("where ") {
            let filter = try QueryExpression(odata: String(rest.dropFirst(6)))
            return try await table.purge(TableQuery(table.name, filter: filter))
        }
        if rest.hasPrefix("force where ") {
            let filter = try QueryExpression(odata: String(rest.dropFirst(12)))
            return try await table.purge(TableQuery(table.name, filter: filter), force: true)
        }
        if rest.hasPrefix("force named ") {
            return try await table.purge(named: String(rest.dropFirst(12)), force: true)
        }
        if rest.hasPrefix("named ") { return try await table.purge(named: String(rest.dropFirst(6))) }
        return try await table.purge(force: rest == "force")
    }

    private func fault(_ request: SyncRequest) async -> ModelServer.Fault {
        guard request.isWrite else { return .none }
        let steps = during.withLock { steps in
            defer { steps = [] }
            return steps
        }
        for step in steps { _ = await attempt(step) }
        guard let fault = faults.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return .none }
        let words = fault.split(separator: " ", maxSplits: 2).map(String.init)
        switch words[0] {
        case "lose": return words[1] == "answer" ? .loseAnswer : .loseRequest
        default:
            guard words.count > 1, let status = Int(words[1]) else { return .none }
            let body = words.count > 2 ? Array(words[2].utf8) : []
            return .answer(.json(status, String(decoding: body, as: UTF8.self)))
        }
    }
}

extension StepRunner {
    /// What is to be seen at the end, besides what the last push told.
    private func observation(_ told: JSON) async throws -> JSON {
        var observed = told
        let operations = try await device.operations()
        let records = try await device.table.records()
        let writes = server.requests.filter(\.isWrite)
        let showsConditions = input["requests"]?.elements?.contains { $0.string?.contains("If-Match") == true } == true
        observed["requests"] = JSON(
            writes.map { request in
                let id = (ModelCall(request).id ?? (try? request.body.json)?["id"]?.textID)?.text ?? ""
                let condition =
                    request.head.headerFields[.ifMatch].map { " If-Match \($0.filter { $0 != "\"" })" } ?? ""
                return JSON(showsConditions ? "\(request.head.method)\(condition)" : "\(request.head.method) \(id)")
            })
        observed["conditions"] = JSON(writes.map { JSON($0.head.headerFields[.ifMatch]?.filter { $0 != "\"" } ?? "") })
        observed["texts_sent"] = JSON(writes.map { (try? $0.body.json)?["text"] ?? .null })
        let field = HTTPField.Name("X-ZUMO-FEATURES")
        observed["features"] = JSON(
            writes.map { request in JSON(field.flatMap { request.head.headerFields[$0] } ?? "") })
        observed["request_count"] = JSON(writes.count)
        let follows = input["steps"]?.elements?.last?.string?.hasPrefix("push") == false
        if follows || observed["ops_after"] == nil { observed["ops_after"] = JSON(operations.count) }
        observed["queue"] = JSON(
            operations.map { JSON("\($0.kind.rawValue) \($0.recordID) \($0.state.rawValue) \($0.revision)") })
        observed["kept_failures"] = JSON(operations.filter { $0.failure != nil }.count)
        observed["local"] = Self.texts(records)
        let live = server.rows("todos").values.filter { $0["deleted"] != true }
        observed["server"] = Self.texts(Array(live))
        let isList = input["rows_after"]?.elements != nil
        let ids = records.compactMap { $0["id"] }
        observed["rows_after"] = isList ? JSON(ids) : JSON(ids.count)
        observed["tokens_after"] = JSON(try await device.context.status().cursors.count)
        observed["audit"] = JSON(
            try await device.store.read { try $0.count(matching: TableQuery(SyncTables.audit.name)) })
        return observed
    }

    private static func texts(_ records: [JSON]) -> JSON {
        JSON(members: records.map { ($0["id"]?.string ?? "", $0["text"] ?? .null) })
    }
}
