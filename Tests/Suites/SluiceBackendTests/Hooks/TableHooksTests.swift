import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBackend

/// Hooks made of closures, which note what they were asked.
private struct Scripted: TableHooks {
    var onBefore: @Sendable (inout HookRequest) async throws -> Void = { _ in }
    var onAfter: @Sendable (inout HookAnswer) async throws -> Void = { _ in }
    var onConflict: @Sendable (HookConflict) async throws -> JSON? = { _ in nil }

    func before(_ request: inout HookRequest) async throws { try await onBefore(&request) }
    func after(_ answer: inout HookAnswer) async throws { try await onAfter(&answer) }
    func conflict(_ conflict: HookConflict) async throws -> JSON? { try await onConflict(conflict) }
}

@Suite struct TableHooksTests {
    private static let seed: [JSON] = [["id": "a", "n": 1, "t": "x"], ["id": "b", "n": 2, "t": "y"]]

    private func fixture(_ hooks: any TableHooks, perUser: PropertyName? = nil) async throws -> BackendFixture {
        try await BackendFixture(
            tables: [.init("t", seed: .records(Self.seed), perUser: perUser)],
            authentication: .init(secret: .text(TestToken.secret)), hooks: ["t": hooks])
    }

    @Test("a hook changes what is inserted and updated, but not id, times, version or deleted")
    func changes() async throws {
        let hooks = Scripted(onBefore: { request in
            request.record?["by"] = "hook"
            for name in ["id", "createdAt", "updatedAt", "version"] { request.record?[name] = "forged" }
            request.record?["deleted"] = true
        })
        let fixture = try await fixture(hooks)
        let made = await fixture.send(.post, "/tables/t", #"{"id":"c","n":3}"#)
        #expect(made.status == 201)
        let json = [
            "patched": (await fixture.send(.patch, "/tables/t/a", #"{"n":9}"#)).json,
            "replaced": (await fixture.send(.put, "/tables/t/b", #"{"n":9}"#)).json, "made": made.json,
        ]
        for (name, record) in json {
            #expect(record["by"] == "hook", "\(name)")
            #expect(record["deleted"] == false)
            #expect(!"\(record)".contains("forged"))
        }
        #expect(made.json["id"] == "c")
        #expect(json["patched"]?["t"] == "x")
        // A column of the table that the record lacks is null, as the Node server has it.
        #expect(json["replaced"]?["t"] == .null)
    }

    @Test("a hook sees operation, user, id and the stored record, in every wire")
    func sees() async throws {
        let seen = Mutex<[String]>([])
        let hooks = Scripted(onBefore: { request in
            let parts = [
                request.operation.rawValue, request.principal?.user ?? "-", request.recordID?.text ?? "-",
                request.stored?["n"]?.description ?? "-", request.record?.description ?? "-", "\(request.replaces)",
            ]
            seen.withLock { $0.append(parts.joined(separator: " ")) }
        })
        let fixture = try await fixture(hooks)
        let alice = [("X-ZUMO-AUTH", try await TestToken.user("alice"))]
        _ = await fixture.send(.get, "/tables/t")
        _ = await fixture.send(.get, "/tables/t/a", headers: alice)
        _ = await fixture.send(.patch, "/tables/t/a", #"{"n":5}"#)
        _ = await fixture.send(.put, "/tables/t/a", #"{"n":6}"#)
        _ = await fixture.send(
            .patch, "/tables/t/a", #"[{"op":"replace","path":"/n","value":7}]"#,
            headers: [("Content-Type", "application/json-patch+json")], version: "3.0.0")
        _ = await fixture.send(.delete, "/tables/t/a")
        _ = await fixture.send(.post, "/tables/t/a")
        #expect(
            seen.withLock { $0 } == [
                "read - - - - false", "read alice a - - false", #"update - a 1 {"id":"a","n":5} false"#,
                #"update - a 5 {"id":"a","n":6} true"#, #"update - a 6 {"id":"a","n":7} true"#,
                "delete - a 7 - false", "undelete - a 7 - false",
            ])
        #expect(await fixture.send(.get, "/tables/t/a").json["n"] == 7)
    }

    @Test("a hook refuses with its status and reason, and nothing is written")
    func refuses() async throws {
        let fixture = try await fixture(
            Scripted(onBefore: { request in
                if request.operation != .read { throw HookRefusal(403, "read only today") }
            }))
        let refused = await fixture.send(.patch, "/tables/t/a", #"{"n":9}"#)
        #expect(refused.status == 403)
        #expect(refused.error == "read only today")
        #expect(await fixture.send(.delete, "/tables/t/a").status == 403)
        #expect(await fixture.send(.get, "/tables/t/a").json["n"] == 1)
    }

    @Test(
        "what else a hook throws is 500 and told to no client; so is a status that is none", arguments: [0, 200, 9999])
    func fails(status: Int) async throws {
        struct Secret: Error { let text = "the database's password" }
        let fixture = try await fixture(
            Scripted(onBefore: { request in
                if request.operation == .delete { throw HookRefusal(status, "no") }
                throw Secret()
            }))
        let answer = await fixture.send(.get, "/tables/t")
        #expect(answer.status == 500)
        #expect(!String(decoding: answer.response.body.bytes, as: UTF8.self).contains("password"))
        #expect(await fixture.send(.delete, "/tables/t/a").status == 500)
        #expect(try await fixture.backend.expire() == 0)
    }

    @Test("a hook's filter takes records away, in lists, counts, by id and from changes")
    func narrows() async throws {
        let fixture = try await fixture(
            Scripted(onBefore: { request in
                request.filter = try QueryExpression(odata: "n gt 1")
            }))
        let list = await fixture.send(.get, "/tables/t?$inlinecount=allpages&$filter=n lt 3 or n ge 0")
        #expect(list.ids == ["b"])
        #expect(list.json["count"] == 1)
        #expect(await fixture.send(.get, "/tables/t/a").status == 404)
        #expect(await fixture.send(.patch, "/tables/t/a", "{}").status == 404)
        #expect(await fixture.send(.delete, "/tables/t/a").status == 404)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).status == 400)
        #expect(await fixture.send(.patch, "/tables/t/b", "{}").status == 200)
    }

    @Test("a hook changes the answer and not what is stored")
    func after() async throws {
        let asked = Mutex<[String]>([])
        let hooks = Scripted(onAfter: { answer in
            asked.withLock { $0.append("\(answer.operation.rawValue) \(answer.records.count)") }
            for index in answer.records.indices { answer.records[index]["t"] = nil }
            if answer.operation == .insert { answer.record?["note"] = "welcome" }
        })
        let fixture = try await fixture(hooks)
        #expect(await fixture.send(.get, "/tables/t").json[0]?["t"] == nil)
        #expect(await fixture.send(.get, "/tables/t/a").json["t"] == nil)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"c","t":"z"}"#).json["note"] == "welcome")
        #expect(await fixture.send(.delete, "/tables/t/a").status == 204)
        #expect(asked.withLock { $0 } == ["read 2", "read 1", "insert 1", "delete 1"])
        let stored = try await fixture.backend.served.database.read { connection in
            try fixture.backend.served.table("t")?.record("c", connection)
        }
        #expect(stored?["t"] == "z")
        #expect(stored?["note"] == nil)
    }

    @Test("hooks cannot give a record to another user")
    func owner() async throws {
        let hooks = Scripted(onBefore: { $0.record?["owner"] = "mallory" })
        let fixture = try await fixture(hooks, perUser: "owner")
        let alice = [("X-ZUMO-AUTH", try await TestToken.user("alice"))]
        let made = await fixture.send(.post, "/tables/t", #"{"id":"c"}"#, headers: alice)
        #expect(made.json["owner"] == "alice")
    }

    @Test("hooks for a table that is not there stop the start")
    func unknownTable() async {
        let error = await #expect(throws: SluiceError.self) {
            try await Backend(BackendConfiguration(tables: [.init("movies")]), hooks: ["movie": Scripted()])
        }
        #expect(error?.message.contains("did you mean movies?") == true)
    }
}
