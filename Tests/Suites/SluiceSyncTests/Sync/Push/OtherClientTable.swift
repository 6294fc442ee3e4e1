import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// One case of the table of ``OtherClientTests``: a change from here whose first push is disturbed, a write of another
/// client, a further edit here, and a push that goes well.
struct OtherClientCase: CustomStringConvertible {
    enum Change: String, CaseIterable { case insert, update, delete, undelete }
    enum Disturbance: String, CaseIterable {
        case answerLost, requestLost, failedAfter, endBeforeSeal, endAfterSeal, endAfterAnswer, endBeforeCommit
        case endAfterCommit
        /// Whether the request was sealed.
        var isSealed: Bool { self != .endBeforeSeal }
    }
    enum Other: String, CaseIterable { case nothing, editsSame, editsElse, deletes, makesAnew, makesAndDeletes }
    enum FollowUp: String, CaseIterable { case nothing, editSame, editElse, takeBack, delete, restore, insert }

    let change: Change
    let disturbance: Disturbance
    let other: Other
    let followUp: FollowUp
    let remembersRequests: Bool

    var description: String {
        "\(change), \(disturbance), other \(other), then \(followUp)\(remembersRequests ? ", ids remembered" : "")"
    }

    static func all(_ change: Change) -> [OtherClientCase] {
        Disturbance.allCases.flatMap { disturbance in
            Other.allCases.flatMap { other in
                FollowUp.allCases.flatMap { followUp in
                    [false, true].map {
                        OtherClientCase(
                            change: change, disturbance: disturbance, other: other, followUp: followUp,
                            remembersRequests: $0)
                    }
                }
            }
        }
    }

    /// Plays the case and says what is wrong with its end.
    func play() async throws -> [String] {
        let line = ObservedServer()
        if remembersRequests { line.server.offer([.requestIDs]) }
        let device = try await begin(line)
        try await disturb(device, line)
        line.server.onRequest(nil)

        let next = try await Device(.memory, server: line.server, store: device.store, transport: line)
        let wasDone = !line.effects.isEmpty
        let written = write(line.server)
        try await follow(next)
        let result = try await next.context.push()
        var wrong: [String] = []
        if result.end != .completed { wrong.append("it ended with \(result.end)") }
        if result.conflicts == 0 {
            wrong += written.flatMap { lack($0, line.server) } ?? []
            if try await next.context.queue.operations().isEmpty {
                wrong += try await settled(next, line, wasDone: wasDone)
            } else {
                wrong.append("left: \(try await next.queue())")
            }
        }
        let twice = Dictionary(grouping: line.effects) { $0 }.filter { $0.value.count > 1 }.keys
        if !twice.isEmpty { wrong.append("done twice: \(twice.sorted())") }
        return wrong + (try await decided(next))
    }

    private func begin(_ line: ObservedServer) async throws -> Device {
        let device = try await Device(
            .memory, server: line.server, transport: line, reached: { try line.reached($0, $1) })
        if change != .insert { line.server.seed("todos", [["id": "a", "n": 1, "m": 1]]) }
        if change == .undelete { line.server.softDelete("todos", "a") }
        try await device.todos.pull()
        switch change {
        case .insert: try await device.todos.insert(["id": "a", "n": 2])
        case .update: try await device.todos.update(["id": "a", "n": 2])
        case .delete: try await device.todos.delete(id: "a")
        case .undelete: try await device.todos.undelete(id: "a")
        }
        return device
    }

    private func disturb(_ device: Device, _ line: ObservedServer) async throws {
        let disturbance = disturbance
        line.server.onRequest { request in
            guard request.isWrite else { return .none }
            switch disturbance {
            case .answerLost: return .loseAnswer
            case .requestLost: return .loseRequest
            case .failedAfter: return .answerAfter(.json(500, "{}"))
            default: return .none
            }
        }
        switch disturbance {
        case .endBeforeSeal: line.end(at: .sealed, .before)
        case .endAfterSeal: line.end(at: .sealed, .after)
        case .endAfterAnswer: line.end(at: .answered, .after)
        case .endBeforeCommit: line.end(at: .applied, .before)
        case .endAfterCommit: line.end(at: .applied, .after)
        default: break
        }
        _ = try? await device.context.push()
    }

    /// What the other client's write left: nil where it had nothing to write.
    private func write(_ server: ModelServer) -> JSON? {
        let isLive = server.rows("todos")["a"].map { $0["deleted"] == false } ?? false
        switch other {
        case .nothing: return nil
        case .editsSame, .editsElse:
            guard isLive else { return nil }
            let name = other == .editsSame ? "n" : "m"
            server.seed("todos", [["id": "a", name: 9]])
            return [name: 9, "deleted": false]
        case .deletes:
            guard isLive else { return nil }
            server.softDelete("todos", "a")
            return ["deleted": true]
        case .makesAnew:
            if isLive { server.softDelete("todos", "a") }
            server.seed("todos", [["id": "a", "n": 9]])
            return ["n": 9, "deleted": false]
        case .makesAndDeletes:
            server.seed("todos", [["id": "a", "n": 9]])
            server.softDelete("todos", "a")
            return ["deleted": true]
        }
    }

    private func follow(_ device: Device) async throws {
        switch followUp {
        case .nothing: break
        // Some make no sense where the record stands by then, and are refused.
        case .editSame: _ = try? await device.todos.update(["id": "a", "n": 3])
        case .editElse: _ = try? await device.todos.update(["id": "a", "m": 3])
        case .takeBack: _ = try? await device.todos.update(["id": "a", "n": 1])
        case .delete: try? await device.todos.delete(id: "a")
        case .restore: _ = try? await device.todos.undelete(id: "a")
        case .insert: _ = try? await device.todos.insert(["id": "a", "n": 4])
        }
    }

    /// What is not as the other client left it.
    private func lack(_ written: JSON, _ server: ModelServer) -> [String] {
        let row = server.rows("todos")["a"]
        // A new record, or a wish to restore, that has never met the server finds the tombstone that is there.
        let isMadeHere = change == .insert || change == .undelete || followUp == .restore || followUp == .insert
        if written["deleted"] == true, isMadeHere, !disturbance.isSealed || followUp != .nothing { return [] }
        return (written.members ?? []).filter { row?[$0.name] != $0.value }.map {
            "overridden: \($0.name) = \($0.value), it is \(row?[$0.name] ?? .null)"
        }
    }

    /// Without operations both sides are the same, and what was done here was done there.
    private func settled(_ device: Device, _ line: ObservedServer, wasDone: Bool) async throws -> [String] {
        var wrong: [String] = []
        if try await device.states() != 0 { wrong.append("a settled record has a state") }
        try await device.todos.pull()
        let (local, remote) = (try await device.local("a"), device.remote("a"))
        if local != remote { wrong.append("here \(local ?? .null), there \(remote ?? .null)") }
        guard followUp == .nothing, other == .nothing else { return wrong }
        switch change {
        case .insert, .update: if remote?["n"] != 2 { wrong.append("lost: \(remote ?? .null)") }
        case .delete: if remote != nil { wrong.append("lost: \(remote ?? .null)") }
        case .undelete: if remote == nil { wrong.append("lost: it is not restored") }
        }
        if line.effects.count != 1 { wrong.append("\(line.effects.count) effects") }
        return wrong
    }

    /// Whatever conflict is held can be decided for the device, and both sides are the same then.
    private func decided(_ device: Device) async throws -> [String] {
        for _ in 0..<4 {
            guard let held = try await device.context.queue.operations().first else { break }
            if held.state == .parked { try await device.context.queue.resolve(held.id, .client) }
            _ = try await device.context.push()
        }
        try await device.todos.pull()
        let (local, remote) = (try await device.local("a"), device.remote("a"))
        let left = try await device.queue()
        if !left.isEmpty { return ["never through: \(left)"] }
        return local == remote ? [] : ["decided, and here \(local ?? .null), there \(remote ?? .null)"]
    }
}

/// A model server whose effects are counted, and a process that can end.
final class ObservedServer: Transport {
    let server = ModelServer()
    private let state = Mutex(State())

    private struct State {
        var effects: [String] = []
        var end: (point: CommitPoint, side: CommitPoint.Side)?
        var isOver = false
    }

    /// The ids of the requests that changed something.
    var effects: [String] { state.withLock { $0.effects } }

    func end(at point: CommitPoint, _ side: CommitPoint.Side) { state.withLock { $0.end = (point, side) } }

    /// Nothing happens any more in a process that has ended.
    func reached(_ point: CommitPoint, _ side: CommitPoint.Side) throws {
        try state.withLock { state in
            if let end = state.end, end.point == point, end.side == side { state.isOver = true }
            if state.isOver { throw SluiceError(.cancelled, "the process ended") }
        }
    }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let before = server.rows("todos")
        defer {
            if request.isWrite, server.rows("todos") != before {
                state.withLock { $0.effects.append(request.context.operationID ?? "") }
            }
        }
        return try await server.send(request)
    }
}
