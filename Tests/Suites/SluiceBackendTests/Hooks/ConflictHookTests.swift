import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBackend

/// Merges field by field, after something else may have happened meanwhile.
private struct Merging: TableHooks {
    var meanwhile: @Sendable (_ round: Int) async -> Void = { _ in }
    var answers = true
    let asked = Counter()

    final class Counter: Sendable {
        private let value = Mutex(0)
        func next() -> Int {
            value.withLock {
                $0 += 1
                return $0
            }
        }
        var count: Int { value.withLock { $0 } }
    }

    func conflict(_ conflict: HookConflict) async throws -> JSON? {
        await meanwhile(asked.next())
        guard answers else { return nil }
        var merged = conflict.server
        for (name, value) in conflict.client.members ?? [] { merged[name] = value }
        return merged
    }
}

/// Waits before a change for what a test does meanwhile.
private struct Meanwhile: TableHooks {
    let action: @Sendable (_ round: Int) async -> Void
    let asked = Merging.Counter()

    func before(_ request: inout HookRequest) async throws {
        guard request.operation == .update else { return }
        await action(asked.next())
        request.record?["seen"] = request.stored?["n"]
    }
}

/// A backend that a hook can reach, once it is open.
private final class Later: Sendable {
    private let fixture = Mutex<BackendFixture?>(nil)
    func set(_ value: BackendFixture) { fixture.withLock { $0 = value } }

    /// Changes the record as somebody beside the hooks would.
    func write(_ id: String, _ name: String, _ value: JSON) async {
        guard let backend = fixture.withLock({ $0 })?.backend, let table = backend.served.table("t") else { return }
        do {
            try await backend.served.database.write { connection in
                guard var record = try table.record(RecordID(id), connection) else { return }
                record[name] = value
                _ = try table.put(record, now: BackendFixture.now, connection)
            }
        } catch {
            Issue.record(error)
        }
    }
}

@Suite struct ConflictHookTests {
    private let stale = [("If-Match", "\"AAAAAAAAAAA=\"")]

    private func fixture(_ hooks: any TableHooks) async throws -> BackendFixture {
        let seed: [JSON] = [["id": "a", "n": 1, "t": "x"], ["id": "gone", "n": 5, "deleted": true]]
        return try await BackendFixture(tables: [.init("t", seed: .records(seed))], hooks: ["t": hooks])
    }

    @Test("a merged record is written in place of a 412, with a new version on top of the server's")
    func merges() async throws {
        let hooks = Merging()
        let fixture = try await fixture(hooks)
        let before = await fixture.send(.get, "/tables/t/a")
        let answer = await fixture.send(.patch, "/tables/t/a", #"{"n":9}"#, headers: stale)
        #expect(answer.status == 200)
        #expect(answer.json["n"] == 9 && answer.json["t"] == "x")
        #expect(answer.version != before.version)
        #expect(answer.etag == "\"\(answer.version)\"")
        #expect(answer.json["createdAt"] == before.json["createdAt"])
        #expect(await fixture.send(.get, "/tables/t/a").version == answer.version)
        #expect(hooks.asked.count == 1)
    }

    @Test("an insert of an id that exists may be merged too, also over a tombstone")
    func inserts() async throws {
        let fixture = try await fixture(Merging())
        let merged = await fixture.send(.post, "/tables/t", #"{"id":"a","n":2}"#)
        #expect(merged.status == 201)
        #expect(merged.json["n"] == 2 && merged.json["t"] == "x")
        let revived = await fixture.send(.post, "/tables/t", #"{"id":"gone","t":"y"}"#)
        #expect(revived.status == 201)
        #expect(revived.json["deleted"] == false && revived.json["n"] == 5)
    }

    @Test("without an answer the conflict stays the client's, with the server's record; a delete always does")
    func leaves() async throws {
        var hooks = Merging()
        hooks.answers = false
        let fixture = try await fixture(hooks)
        let refused = await fixture.send(.patch, "/tables/t/a", #"{"n":9}"#, headers: stale)
        #expect(refused.status == 412)
        #expect(refused.json["n"] == 1)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).status == 409)
        #expect(hooks.asked.count == 2)
        let merging = try await self.fixture(Merging())
        #expect(await merging.send(.delete, "/tables/t/a", headers: stale).status == 412)
    }

    @Test("a record that changes while a hook merges is merged anew")
    func races() async throws {
        let later = Later()
        var hooks = Merging()
        hooks.meanwhile = { round in if round <= 2 { await later.write("a", "t", JSON("moved \(round)")) } }
        let fixture = try await fixture(hooks)
        later.set(fixture)
        let answer = await fixture.send(.patch, "/tables/t/a", #"{"n":9}"#, headers: stale)
        #expect(answer.status == 200)
        #expect(answer.json["n"] == 9 && answer.json["t"] == "moved 2")
        #expect(hooks.asked.count == 3)
    }

    @Test("merging ends after 5 rounds with 503, and the others' change stands")
    func loop() async throws {
        let later = Later()
        var hooks = Merging()
        hooks.meanwhile = { round in await later.write("a", "t", JSON("moved \(round)")) }
        let fixture = try await fixture(hooks)
        later.set(fixture)
        let answer = await fixture.send(.patch, "/tables/t/a", #"{"n":9}"#, headers: stale)
        #expect(answer.status == 503)
        #expect(answer.header("Retry-After") == "1")
        #expect(hooks.asked.count == 5)
        let stored = await fixture.send(.get, "/tables/t/a")
        #expect(stored.json["n"] == 1 && stored.json["t"] == "moved 5")
    }

    @Test("what a hook saw before a change is what is changed, or it is asked again")
    func beforeSeesWhatIsChanged() async throws {
        let later = Later()
        let hooks = Meanwhile { round in if round == 1 { await later.write("a", "n", 7) } }
        let fixture = try await fixture(hooks)
        later.set(fixture)
        let answer = await fixture.send(.patch, "/tables/t/a", #"{"t":"z"}"#)
        #expect(answer.status == 200)
        #expect(answer.json["seen"] == 7 && answer.json["n"] == 7 && answer.json["t"] == "z")
        #expect(hooks.asked.count == 2)

        let restless = Meanwhile { round in await later.write("a", "n", JSON(round)) }
        let second = try await self.fixture(restless)
        later.set(second)
        #expect(await second.send(.patch, "/tables/t/a", #"{"t":"z"}"#).status == 503)
        #expect(restless.asked.count == 5)
    }
}

/// Hides a column from all who read.
private struct Hiding: TableHooks {
    func after(_ answer: inout HookAnswer) async throws {
        for index in answer.records.indices { answer.records[index]["secret"] = nil }
    }
}

@Suite("Conflicts and what hooks hide") struct HiddenColumnTests {
    @Test("a conflict shows the server's record as a read would", arguments: ["2.0.0", "3.0.0", nil])
    func conflicts(_ version: String?) async throws {
        let fixture = try await BackendFixture(tables: [.init("t")], hooks: ["t": Hiding()])
        let made = await fixture.send(
            .post, "/tables/t", #"{"id":"a","n":1,"secret":"x"}"#, json: true, version: version)
        #expect(made.json["n"] == 1 && made.json["secret"] == nil)
        let stale = [("If-Match", "\"other\"")]
        let answers = [
            await fixture.send(.post, "/tables/t", #"{"id":"a","n":2}"#, json: true, version: version),
            await fixture.send(.put, "/tables/t/a", #"{"id":"a","n":2}"#, headers: stale, json: true, version: version),
            await fixture.send(.delete, "/tables/t/a", headers: stale, version: version),
            await fixture.send(.get, "/tables/t/a", headers: stale, version: version),
        ]
        #expect(answers.map(\.status) == [409, 412, 412, 412])
        for answer in answers {
            #expect(answer.json["n"] == 1 && answer.json["secret"] == nil)
            #expect(answer.etag == made.etag)
        }
    }
}
