import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Operation session: one operation of a push as a pure state machine")
struct OperationSessionTests {
    private let columns = PushColumns(SystemColumns(createdAt: nil))

    private func item(_ kind: TableOperation.Kind, sent: JSON? = nil, base: JSON? = nil, local: JSON? = nil) -> PushItem
    {
        var operation = TableOperation(
            id: "op", sequence: 7, table: "todos", recordID: "a", kind: kind, createdAt: Timestamp(ticks: 0))
        if let sent {
            operation.attempts = 1
            operation.sent = [SentBody(revision: 1, request: sent, final: sent, local: local)]
        }
        return PushItem(operation: operation, local: local, base: base)
    }

    private func name(_ effect: OperationSession.Effect) -> String {
        switch effect {
        case .send(let item): "send \(item.operation.kind.rawValue)"
        case .review: "review"
        case .consult(let failure): "consult \(failure.code)"
        case .commit(.hooked(_, let commit)): "hooked \(commit)"
        case .readBack: "readBack"
        case .ask(_, let sent): "ask \(sent.revision)"
        case .decide(let conflict): "decide\(conflict.isDeletedOnServer ? " deleted" : "")"
        case .commit(.gone): "gone"
        case .commit(.applied(_, let server)): server == nil ? "applied nothing" : "applied record"
        case .commit(.confirmed(_, _, let confirmation)):
            "confirmed by \(confirmation.current?["version"]?.string ?? "nothing")"
        case .commit(.found): "found"
        case .commit(.rebased): "rebased"
        case .commit(.unneeded): "unneeded"
        case .commit(.unidentified): "unidentified"
        case .commit(.renewed): "renewed"
        case .commit(.held(_, let state, let failure, _)): "held \(state.rawValue) \(failure.code)"
        case .commit(.kept(_, let state, let failure, let uncertain)):
            "kept \(state.rawValue) \(failure?.code ?? "")\(uncertain ? " uncertain" : "")"
        case .commit(.decided(_, _, let decision)): "decided \(decision)"
        case .end(.stopped(let error)): "stopped \(error.code)"
        case .end(let outcome): "\(outcome)"
        }
    }

    /// What the session does when the operation is answered so.
    private func answer(_ item: PushItem, _ status: Int, _ record: JSON? = nil) -> String {
        var session = OperationSession(columns: columns)
        _ = session.handle(.loaded(item))
        return name(session.handle(.answered(item, PushAnswer(status: status, record: record, isEmpty: record == nil))))
    }

    @Test("what counts as done, operation by operation")
    func done() {
        let mine: JSON = ["id": "a", "text": "mine"]
        let server: JSON = ["id": "a", "text": "mine", "extra": 1, "version": "2"]
        let theirs: JSON = ["id": "a", "text": "theirs", "version": "2"]
        let tombstone: JSON = ["id": "a", "text": "mine", "version": "2", "deleted": true]
        let insert = item(.insert, sent: mine, local: mine)
        let update = item(.update, sent: mine, base: ["id": "a", "text": "old", "version": "1"], local: mine)
        let delete = item(.delete, sent: .object, base: ["id": "a", "text": "theirs", "version": "1"])
        for (item, status, record, expected) in [
            (insert, 201, server, "applied record"), (insert, 200, nil, "readBack"), (insert, 204, nil, "readBack"),
            (insert, 409, server, "found"), (insert, 409, theirs, "decide"), (insert, 409, nil, "readBack"),
            (insert, 409, tombstone, "decided client"), (insert, 404, nil, "kept parked notFound"),
            (update, 200, server, "applied record"), (update, 200, tombstone, "decide deleted"),
            (update, 404, nil, "readBack"), (update, 412, server, "decide"), (update, 412, theirs, "decide"),
            (update, 412, nil, "readBack"), (update, 409, nil, "readBack"),
            (delete, 204, nil, "applied nothing"), (delete, 200, tombstone, "applied nothing"),
            (delete, 404, nil, "readBack"), (delete, 410, nil, "readBack"), (delete, 412, tombstone, "applied nothing"),
            (delete, 412, ["id": "a", "version": "1", "deleted": true], "applied nothing"),
            (delete, 412, theirs, "decide"), (insert, 401, nil, "kept pending unauthorized"),
            (insert, 403, nil, "kept parked forbidden"), (insert, 422, nil, "kept parked rejected"),
            (insert, 503, nil, "kept pending serverFailure"), (insert, 424, nil, "kept pending "),
            (insert, 500, nil, "kept pending serverFailure uncertain"),
            (insert, 302, nil, "kept pending brokenProtocol"), (insert, 407, nil, "kept pending serverFailure"),
            (insert, 425, nil, "kept pending serverFailure"), (insert, 511, nil, "kept pending serverFailure"),
        ] as [(PushItem, Int, JSON?, String)] {
            #expect(
                answer(item, status, record) == expected,
                "\(item.operation.kind.rawValue) answered \(status) \(record?.description ?? "")")
        }
    }

    /// The second revision of an operation whose first one was certainly refused.
    private func refused(_ first: TableOperation) -> PushItem {
        var operation = first
        operation.revision = 2
        operation.sent.append(
            SentBody(revision: 2, request: ["id": "a", "text": "two"], final: ["id": "a", "text": "two"], local: nil))
        return PushItem(operation: operation, local: ["id": "a", "text": "two"], base: nil)
    }

    @Test("an answer to an earlier revision that may be done is the base of the next")
    func earlierRevision() {
        var operation = item(.insert, sent: ["id": "a", "text": "one"]).operation
        #expect(answer(refused(operation), 409, ["id": "a", "text": "one", "version": "1"]) == "decide")
        operation.doubt()
        operation.revision = 2
        operation.sent.append(
            SentBody(revision: 2, request: ["id": "a", "text": "two"], final: ["id": "a", "text": "two"], local: nil))
        let second = PushItem(operation: operation, local: ["id": "a", "text": "two"], base: nil)
        #expect(answer(second, 409, ["id": "a", "text": "one", "version": "1"]) == "rebased")
        #expect(answer(second, 409, ["id": "a", "text": "two", "version": "1"]) == "found")
        var repeated = second
        repeated.operation.doubt()
        #expect(answer(repeated, 409, ["id": "a", "text": "one", "version": "1"]) == "decide")
    }

    @Test("what has the condition's version proves nothing, whatever it holds")
    func unmoved() {
        let base: JSON = ["id": "a", "text": "old", "version": "1"]
        let mine: JSON = ["id": "a", "text": "mine"]
        let update = item(.update, sent: mine, base: base, local: mine)
        for record: JSON in [base, ["id": "a", "text": "mine", "version": "1"]] {
            for status in [200, 201, 409, 412] { #expect(answer(update, status, record) == "readBack", "\(status)") }
        }
    }

    @Test("where an answer may be an old one the record is read, and anew if a pull moves what is known meanwhile")
    func doubt() {
        var session = OperationSession(columns: columns)
        let insert = item(.insert, sent: ["id": "a", "n": 1], local: ["id": "a", "n": 1])
        let server: JSON = ["id": "a", "n": 1, "version": "2"]
        _ = session.handle(.loaded(insert))
        #expect(name(session.handle(.answered(insert, PushAnswer(status: 201, record: server)))) == "applied record")
        #expect(name(session.handle(.doubted(newest: nil))) == "readBack")
        #expect(name(session.handle(.readBack(server))) == "confirmed by 2")
        #expect(name(session.handle(.doubted(newest: ["id": "a", "version": "3"]))) == "readBack")
        #expect(
            name(session.handle(.readBack(["id": "a", "version": "4", "deleted": true]))) == "confirmed by nothing")
        #expect(name(session.handle(.doubted(newest: ["id": "a", "version": "5"]))) == "readBack")
        let kept = session.handle(.failed(SluiceError(.network, "gone")))
        #expect(name(kept) == "kept pending network uncertain")
        #expect(name(session.handle(.committed)) == "stopped network")
    }

    @Test("while it cannot be told which record is the newest, the operation stays")
    func unresolvedDoubt() {
        var session = OperationSession(columns: columns)
        let insert = item(.insert, sent: ["id": "a", "n": 1], local: ["id": "a", "n": 1])
        _ = session.handle(.loaded(insert))
        _ = session.handle(.answered(insert, PushAnswer(status: 201, record: ["id": "a", "version": "2"])))
        #expect(name(session.handle(.doubted(newest: nil))) == "readBack")
        let kept = session.handle(.failed(SluiceError(.forbidden, "no")))
        #expect(name(kept) == "kept pending forbidden uncertain")
        #expect(name(session.handle(.committed)) == "kept")
    }

    @Test("a record that moves all the time is left to the next push")
    func endlessDoubt() {
        var session = OperationSession(columns: columns)
        let insert = item(.insert, sent: ["id": "a"], local: ["id": "a"])
        _ = session.handle(.loaded(insert))
        _ = session.handle(.answered(insert, PushAnswer(status: 201, record: ["id": "a", "version": "2"])))
        for _ in 0..<OperationSession.maximumRounds {
            #expect(name(session.handle(.doubted(newest: nil))) == "readBack")
            _ = session.handle(.readBack(nil))
        }
        #expect(name(session.handle(.doubted(newest: nil))) == "kept pending conflict uncertain")
        #expect(name(session.handle(.committed)) == "kept")
    }

    @Test("a push without network keeps the operation and ends")
    func network() {
        var session = OperationSession(columns: columns)
        let insert = item(.insert, local: ["id": "a"])
        #expect(name(session.handle(.loaded(insert))) == "send insert")
        let kept = session.handle(.unanswered(insert, SluiceError(.network, "gone"), wasSent: true))
        #expect(name(kept) == "kept pending network uncertain")
        #expect(name(session.handle(.committed)) == "stopped network")
    }

    @Test("a conflict's decision is committed and the operation looked at again")
    func decision() {
        var session = OperationSession(columns: columns)
        let update = item(
            .update, sent: ["id": "a"], base: ["id": "a", "version": "1", "n": 1], local: ["id": "a", "n": 2])
        _ = session.handle(.loaded(update))
        _ = session.handle(.answered(update, PushAnswer(status: 404)))
        #expect(name(session.handle(.readBack(nil))) == "decide deleted")
        #expect(name(session.handle(.decided(.client))) == "decided client")
        #expect(name(session.handle(.committed)) == "again")
    }

    @Test("an event out of turn ends the push instead of trapping")
    func outOfTurn() {
        var session = OperationSession(columns: columns)
        #expect(name(session.handle(.committed)) == "stopped brokenProtocol")
    }
}
