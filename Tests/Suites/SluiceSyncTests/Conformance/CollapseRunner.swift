import SluiceCore
import SluiceTestSupport
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Runs a collapse row: a record with an operation is changed again, with another record's operation queued after.
struct CollapseRunner {
    private let existing: String
    private let state: String
    private let then: String

    init(_ input: JSON) {
        let parts = (input["existing"]?.string ?? "").split(separator: "(", maxSplits: 1)
        existing = parts.first.map(String.init) ?? ""
        state = parts.count > 1 ? String(parts[1].dropLast()) : ""
        then = input["then"]?.string ?? ""
    }

    func observe() async throws -> JSON {
        let server = ModelServer()
        let device = try await CaseDevice(transport: server)
        if existing != "insert" {
            server.seed("todos", [["id": "a", "text": "server"]])
            try await device.table.pull()
        }
        try await change(existing, device)
        let outcome = Mutex<JSON>(.object)
        switch state {
        case "in flight":
            server.onRequest { [self] request in
                guard request.isWrite, outcome.withLock({ $0 == .object }),
                    let observed = try? await changeAgain(device)
                else { return .none }
                outcome.withLock { $0 = observed }
                return .none
            }
            _ = try await device.context.push()
            server.onRequest(nil)
            return outcome.withLock { $0 }
        case "attempted":
            server.onRequest { $0.isWrite ? .loseAnswer : .none }
            _ = try await device.context.push()
        case "failed":
            server.onRequest { $0.isWrite ? .answer(.model(500, nil)) : .none }
            _ = try await device.context.push()
        case "refused":
            server.onRequest { $0.isWrite ? .answer(.model(400, nil)) : .none }
            _ = try await device.context.push()
        default: break
        }
        return try await changeAgain(device)
    }

    private func change(_ kind: String, _ device: CaseDevice) async throws {
        switch kind {
        case "insert": try await device.table.insert(["id": "a", "text": JSON("local \(kind)")])
        case "update": try await device.table.update(["id": "a", "text": JSON("local \(kind)"), "again": true])
        case "delete": try await device.table.delete(id: "a")
        default: try await device.table.undelete(id: "a")
        }
    }

    private func changeAgain(_ device: CaseDevice) async throws -> JSON {
        try await device.table.insert(["id": "other"])
        let before = try await device.operations().filter { $0.recordID == "a" }
        var isRefused = false
        do { try await change(then, device) } catch is SluiceError { isRefused = true }
        let all = try await device.operations()
        let after = all.filter { $0.recordID == "a" }
        return [
            "outcome": JSON(isRefused ? "error" : outcome(before, after, isAtEnd: all.last?.recordID == "a")),
            "ops_after": JSON(after.count),
        ]
    }

    private func outcome(_ before: [TableOperation], _ after: [TableOperation], isAtEnd: Bool) -> String {
        guard let old = before.first, let new = after.first else { return "cancel-both" }
        if after.count > before.count { return "add-second" }
        if old.id != new.id { return isAtEnd ? "replace-with-new" : "replaced, not at the end" }
        if old.kind == new.kind { return new.revision > old.revision ? "keep-first" : "no-op" }
        if new.kind == .update { return "convert-to-update" }
        return old.wasSent ? "convert" : "convert-in-place"
    }
}
