import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Runs an http row: the answer it describes is given to the client, as that to a list, a lookup or an operation, and
/// the facts say what the client takes it for.
struct AnswerRunner {
    private let dialect: String
    private let uses: [String]
    private let answer: SyncResponse
    private let readBack: JSON
    /// The number of times that a list gets the answer before it gets an empty page: a smaller page is refused as well.
    private let times: Int

    init(_ input: JSON) {
        let wires: [String: String] = ["ct10": "datasync", "v6": "azure-v3"]
        dialect = input["dialect"]?.string ?? wires[input["server"]?.string ?? ""] ?? "azure-v2"
        uses = (input["as"]?.elements ?? []).compactMap(\.string)
        let body = input["answer"]
        let status = input["as_status"]?.int ?? input["status"]?.int ?? 0
        var response = SyncResponse.json(Int(status), body.map { $0 == "" ? "" : $0.description } ?? "")
        response.head.headerFields[.eTag] = input["etag"]?.string
        answer = response
        readBack = input["read_back"] ?? .array
        times = input["times"]?.int.map { Int($0) } ?? 1
    }

    func observe() async throws -> JSON {
        var observed = JSON.object
        for use in uses { observed[use] = JSON(try await understanding(use)) }
        return observed
    }

    private func understanding(_ use: String) async throws -> String {
        do {
            switch use {
            case "list": return try await list()
            case "lookup": return try await lookup()
            default: return try await push(use)
            }
        } catch let error as SluiceError {
            let record = error.serverRecord?["text"]?.string.map { " with the record of \($0)" } ?? ""
            return "error \(error.code)\(record)"
        }
    }

    private func list() async throws -> String {
        let device = try await CaseDevice(
            dialect: dialect,
            transport: ScriptedTransport(Array(repeating: .answer(answer), count: times), otherwise: end))
        let result = try await device.table.pull()
        return "\(result.stored) stored, \(result.deleted) deleted"
    }

    private var end: ScriptedTransport.Step {
        .answer(dialect == "azure-v2" ? .json(200, "[]") : .json(200, #"{"items":[]}"#))
    }

    private func lookup() async throws -> String {
        let device = try await CaseDevice(dialect: dialect, transport: ScriptedTransport([.answer(answer)]))
        guard let client = device.context.client else { return "no client" }
        let request = client.dialect.lookup(table: "todos", id: "a", version: "v1", endpoint: client.endpoint)
        let response = try await client.send(request)
        guard let record = try client.dialect.record(in: response, for: request.context) else { return "no record" }
        return "record of \(record["text"]?.string ?? "nobody"), version \(record["version"]?.string ?? "none")"
    }

    /// Pushes one operation of that kind, and says what became of it.
    private func push(_ kind: String) async throws -> String {
        let wasRead = Mutex(false)
        let transport = ScriptedTransport { [answer, readBack, dialect] request in
            guard request.head.method == .get else { return answer }
            // Lists alone show records: a wire that replaces them asks for the first one by its id.
            guard request.head.path?.contains("$filter") ?? false else { return .json(405, "") }
            wasRead.withLock { $0 = true }
            return .json(200, dialect == "azure-v2" ? "\(readBack)" : #"{"items":\#(readBack)}"#)
        }
        let device = try await CaseDevice(dialect: dialect, transport: transport)
        let known: JSON = ["id": "a", "text": "base", "version": "v1"]
        if kind == "update" || kind == "delete" { try await device.settle([known]) }
        switch kind {
        case "insert": try await device.table.insert(["id": "a", "text": "mine"])
        case "update": try await device.table.update(["id": "a", "text": "mine"])
        case "delete": try await device.table.delete(id: "a")
        default: try await device.table.undelete(id: "a")
        }
        let result = try await device.context.push()
        let read = wasRead.withLock { $0 } ? ", read back" : ""
        guard let operation = try await device.operations().first else {
            let version = try await device.table.lookup(id: "a").map { ", version \($0["version"]?.string ?? "none")" }
            return "done\(version ?? ", no record")\(read)"
        }
        let end = result.end == .completed ? "" : "push ends, "
        let state = result.conflicts > 0 ? "conflict" : "\(operation.state.rawValue) \(operation.failure?.code ?? "")"
        let record = operation.failure?.serverRecord?["text"]?.string.map { " with the record of \($0)" } ?? ""
        return "\(end)\(state)\(record)\(read)"
    }
}
