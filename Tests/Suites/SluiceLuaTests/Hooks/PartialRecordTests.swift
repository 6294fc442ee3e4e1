import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("A part of a record")
struct PartialRecordTests {
    private let check = RecordCheck(dialect: .azureV3, schema: nil)
    private let record: JSON = ["id": "1", "version": "2", "title": "milk", "note": "two"]

    private func result(_ value: JSON, type: String? = nil) -> HookReturn {
        HookReturn(value: value, type: type, changed: [:], bodies: [], changedBodies: [], responses: [:], editor: nil)
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return (error as? ScriptFailure)?.message ?? "\(error)"
        }
    }

    private var operation: TableOperation {
        TableOperation(
            id: "o", sequence: 1, table: "todos", recordID: "1", kind: .update, createdAt: Timestamp(ticks: 0))
    }

    @Test("is refused in change_action, unless remove names what is missing", arguments: [true, false])
    func changeAction(isNamed: Bool) {
        var decision: JSON = ["decision": "change_action", "kind": "update"]
        decision["record"] = ["id": "1", "version": "2", "title": "x"]
        if isNamed { decision["remove"] = ["note"] }
        let before = message { _ = try BeforePushVerdict.read(result(decision), operation, record, check) }
        #expect(before.contains("decide.change_action leaves out note") == !isNamed, "\(before)")
        let failure = PushResult.Failure(operation: operation, record: record, code: .rejected, message: "no")
        let after = message { _ = try PushErrorVerdict.read(result(decision), failure, check) }
        #expect(after.contains("decide.change_action leaves out note") == !isNamed, "\(after)")
    }

    @Test("is refused in cancel_and_update, unless remove names what is missing", arguments: [true, false])
    func cancelAndUpdate(isNamed: Bool) {
        var decision: JSON = ["decision": "cancel_and_update"]
        decision["record"] = ["id": "1", "version": "2", "title": "x"]
        if isNamed { decision["remove"] = ["note"] }
        let failure = PushResult.Failure(operation: operation, record: record, code: .rejected, message: "no")
        let found = message { _ = try PushErrorVerdict.read(result(decision), failure, check) }
        #expect(found.contains("decide.cancel_and_update leaves out note") == !isNamed, "\(found)")
    }

    @Test("is refused from after_pull, where an object says what it takes out")
    func afterPull() {
        let row = PulledRow(id: "1", version: "2", updatedAt: nil, isTombstone: false, record: record)
        let part: JSON = ["id": "1", "version": "2", "title": "x"]
        let found = message { _ = try PulledVerdict.read(result(part), row, check) }
        #expect(found.contains("after_pull returned leaves out note"), "\(found)")
        #expect(message { _ = try PulledVerdict.read(result(part, type: "rec"), row, check) } == "")
    }

    @Test(
        "a table that a script builds is known as one, whatever it says of itself",
        arguments: [
            #"decide.merge { id = "1" }"#, #"{ decision = "merge", record = { id = "1" } }"#,
            #"{ decision = "merge", record = { id = "1" }, built = false }"#,
            #"(function() local d = decide.merge(c.server) d.record = { id = "1" } d.built = nil return d end)()"#,
        ])
    func built(_ decision: String) async throws {
        let text = PluginText(["on_conflict"], "return { on_conflict = function(c) return \(decision) end }")
        let plugins = try await text.loaded()
        let conflict = Conflict(
            operation: operation, client: record, server: ["id": "1", "version": "3", "title": "x", "note": "y"],
            base: record, maybeApplied: false, status: 412, isDeletedOnServer: false)
        let found = await #expect(throws: (any Error).self) { try await plugins.conflictHandler.decide(conflict) }
        #expect("\(String(describing: found))".contains("leaves out"), "\(String(describing: found))")
    }

    @Test("a next that was kept from an earlier call is dead")
    func keptNext() async throws {
        let text = PluginText(
            ["filter"],
            """
            local kept
            return { filter = function(req, next, ctx)
              if not kept then
                kept = next
                return next(req)
              end
              return kept(req)
            end }
            """)
        let transport = ScriptedTransport([], otherwise: .json(200, "{}"))
        let plugins = try await text.loaded()
        _ = try await plugins.send(.sample(), to: transport)
        let error = await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
        #expect(error?.message.contains("earlier call") == true && transport.requests.count == 1)
    }
}
