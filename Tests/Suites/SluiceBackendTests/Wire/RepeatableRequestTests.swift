import HTTPTypes
import SluiceCore
import SluiceSQLite
import Synchronization
import Testing

@testable import SluiceBackend

@Suite("Repeatable requests") struct RepeatableRequestTests {
    static let firstSent = "Mon, 06 May 2024 07:08:00 GMT"

    static func marked(_ id: String, firstSent: String = firstSent) -> [(String, String)] {
        [("Repeatability-Request-ID", id), ("Repeatability-First-Sent", firstSent)]
    }

    /// The headers that say which wire a request speaks.
    static let wires: [String: [(String, String)]] = [
        "azure-v1": [("X-ZUMO-APPLICATION", "key")], "azure-v2": [("ZUMO-API-VERSION", "2.0.0")],
        "azure-v3": [("ZUMO-API-VERSION", "3.0.0")], "datasync": [],
    ]

    @Test("a repeat is answered as the first was, and nothing happens twice", arguments: wires.keys.sorted())
    func repeats(wire: String) async throws {
        let fixture = try await BackendFixture.empty()
        let headers = Self.wires[wire] ?? []
        func send(_ method: HTTPRequest.Method, _ path: String, _ body: String, _ more: [(String, String)]) async
            -> Answer
        {
            await fixture.send(method, path, body, headers: headers + more, json: true, version: nil)
        }
        let steps: [(HTTPRequest.Method, String, String, Int)] = [
            (.post, "/tables/t?__systemproperties=*", #"{"text":"a"}"#, 201),
            (.put, "/tables/t/made-1", #"{"id":"made-1","text":"b"}"#, 200),
            (.delete, "/tables/t/made-1", "", 204),
        ]
        for (index, step) in steps.enumerated() {
            let first = await send(step.0, step.1, step.2, Self.marked("op-\(index)"))
            #expect(first.status == step.3, "\(first.json)")
            #expect(first.header("Repeatability-Result") == "accepted")
            // What comes in between changes no remembered answer.
            let again = await send(step.0, step.1, step.2, Self.marked("op-\(index)"))
            #expect(again.status == step.3)
            #expect(again.json == first.json)
            #expect(again.header("Repeatability-Result") == "accepted")
            for name in ["ETag", "Last-Modified", "Location", "Content-Type"] {
                #expect(again.header(name) == first.header(name), "\(name)")
            }
        }
        let rows = try await fixture.backend.served.database.read { connection in
            try fixture.backend.served.table("t")?.records(matching: TableQuery("t"), connection) ?? []
        }
        #expect(rows.count == 1)
        #expect(rows.first?["version"]?.string == HistoryPoint(epoch: 0, number: 3).version)
    }

    @Test("the undelete of the older wires is repeated as well") func undelete() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#)
        _ = await fixture.send(.delete, "/tables/t/a")
        let first = await fixture.send(.post, "/tables/t/a", headers: Self.marked("u"))
        _ = await fixture.send(.delete, "/tables/t/a")
        let again = await fixture.send(.post, "/tables/t/a", headers: Self.marked("u"))
        #expect(again.json == first.json)
        #expect(await fixture.send(.get, "/tables/t/a").status == 404)
    }

    @Test("a delete that was done is done, where a delete without an id is 404") func deletes() async throws {
        let fixture = try await BackendFixture.empty(softDelete: false)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#)
        #expect(await fixture.send(.delete, "/tables/t/a", headers: Self.marked("d")).status == 204)
        #expect(await fixture.send(.delete, "/tables/t/a", headers: Self.marked("d")).status == 204)
        #expect(await fixture.send(.delete, "/tables/t/a").status == 404)
    }

    @Test("an id that was used for another request is refused") func otherRequest() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","n":1}"#)
        let first = await fixture.send(.patch, "/tables/t/a", #"{"n":2}"#, headers: Self.marked("x"))
        #expect(first.status == 200)
        let tag = [("If-Match", first.etag ?? "")]
        for answer in [
            await fixture.send(.patch, "/tables/t/a", #"{"n":3}"#, headers: Self.marked("x")),
            await fixture.send(.put, "/tables/t/a", #"{"n":2}"#, headers: Self.marked("x")),
            await fixture.send(.patch, "/tables/t/b", #"{"n":2}"#, headers: Self.marked("x")),
            await fixture.send(.patch, "/tables/t/a", #"{"n":2}"#, headers: Self.marked("x") + tag),
        ] {
            #expect(answer.status == 400)
            #expect(answer.error.contains("used before"))
            #expect(answer.header("Repeatability-Result") == "rejected")
        }
        // The same, written otherwise.
        let same = await fixture.send(.patch, "/tables/t/%61", #"{ "n" : 2 }"#, headers: Self.marked("x"))
        #expect(same.status == 200)
        #expect(same.json == first.json)
    }

    @Test("a refusal is not remembered") func refusals() async throws {
        let fixture = try await BackendFixture.empty()
        let refused = await fixture.send(.patch, "/tables/t/a", #"{"n":2}"#, headers: Self.marked("x"))
        #expect(refused.status == 404)
        #expect(refused.header("Repeatability-Result") == "accepted")
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","n":1}"#)
        #expect(await fixture.send(.patch, "/tables/t/a", #"{"n":2}"#, headers: Self.marked("x")).status == 200)
    }

    @Test("an id without a date, a date without an id and what is neither are refused")
    func malformed() async throws {
        let fixture = try await BackendFixture.empty()
        let (id, date) = ("Repeatability-Request-ID", "Repeatability-First-Sent")
        for headers in [
            [(id, "x")], [(date, Self.firstSent)], [(id, ""), (date, Self.firstSent)], [(id, "x"), (date, "today")],
            [(id, "x y"), (date, Self.firstSent)], [(id, "x"), (id, "y"), (date, Self.firstSent)],
            [(id, String(repeating: "x", count: 256)), (date, Self.firstSent)],
            Self.marked("x") + [("Repeatability-Client-ID", String(repeating: "x", count: 256))],
        ] {
            let answer = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#, headers: headers)
            #expect(answer.status == 400, "\(headers)")
            #expect(answer.header("Repeatability-Result") == "rejected")
        }
        #expect(await fixture.send(.get, "/tables/t").ids == [])
        // Reading takes no part.
        #expect(await fixture.send(.get, "/tables/t", headers: [(id, "x")]).status == 200)
    }

    @Test("ids are forgotten after the window, and what was first sent before it is refused")
    func window() async throws {
        let clock = Mutex(BackendFixture.now.ticks)
        let fixture = try await BackendFixture(
            tables: [.init("t")], now: { Timestamp(ticks: clock.withLock { $0 }) })
        let hour = 3600 * Timestamp.ticksPerSecond
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#, headers: Self.marked("x")).status == 201)
        // A clock that is fast keeps the effect for longer.
        let future = Self.marked("f", firstSent: "Thu, 09 May 2024 07:08:09 GMT")
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"f"}"#, headers: future).status == 201)
        clock.withLock { $0 += 23 * hour }
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#, headers: Self.marked("x")).status == 201)
        clock.withLock { $0 += 2 * hour }
        let late = await fixture.send(.post, "/tables/t", #"{"id":"b"}"#, headers: Self.marked("late"))
        #expect(late.status == 412)
        #expect(late.header("Repeatability-Result") == "rejected")
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"f"}"#, headers: future).status == 201)
        let next = Self.marked("next", firstSent: "Tue, 07 May 2024 08:00:00 GMT")
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"c"}"#, headers: next).status == 201)
        let kept = try await fixture.backend.served.database.read {
            try $0.integer("SELECT count(*) FROM sluice_requests")
        }
        #expect(kept == 2)
        clock.withLock { $0 += 48 * hour }
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"f"}"#, headers: future).status == 201)
    }

    @Test("ids belong to their user") func users() async throws {
        let fixture = try await BackendFixture(
            tables: [.init("notes", perUser: "owner")], authentication: .init(secret: .text(TestToken.secret)))
        for user in ["alice", "bob"] {
            let headers = [("X-ZUMO-AUTH", try await TestToken.user(user))] + Self.marked("1")
            let answer = await fixture.send(.post, "/tables/notes", #"{"id":"of-\#(user)"}"#, headers: headers)
            #expect(answer.status == 201)
            #expect(answer.json["owner"] == JSON(user))
        }
        #expect(
            await fixture.send(.post, "/tables/notes", #"{"id":"of-bob"}"#, headers: Self.marked("1")).status == 401)
    }

    @Test("ids belong to their client, where the request names one") func clients() async throws {
        let fixture = try await BackendFixture.empty()
        for client in ["a", "b"] {
            let headers = Self.marked("1") + [("Repeatability-Client-ID", client)]
            #expect(await fixture.send(.post, "/tables/t", #"{"id":"\#(client)"}"#, headers: headers).status == 201)
        }
    }

    @Test("twenty of the same at once have one effect") func twins() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","n":1}"#)
        await withTaskGroup(of: Answer.self) { group in
            for _ in 0..<20 {
                group.addTask { await fixture.send(.patch, "/tables/t/a", #"{"n":2}"#, headers: Self.marked("x")) }
            }
            for await answer in group {
                #expect(answer.status == 200)
                #expect(answer.version == HistoryPoint(epoch: 0, number: 2).version)
            }
        }
        #expect(await fixture.send(.get, "/tables/t/a").version == HistoryPoint(epoch: 0, number: 2).version)
    }

    /// Counts how often it is asked; the first times `after` fails.
    private final class Counting: TableHooks {
        let calls = Mutex((before: 0, after: 0))
        let failures: Int
        init(failures: Int = 0) { self.failures = failures }

        func before(_ request: inout HookRequest) async throws { calls.withLock { $0.before += 1 } }
        func after(_ answer: inout HookAnswer) async throws {
            let number = calls.withLock { calls in
                calls.after += 1
                return calls.after
            }
            if number <= failures { throw HookRefusal(503, "not now") }
            for index in answer.records.indices { answer.records[index]["secret"] = nil }
        }
    }

    @Test("hooks do not run twice for a repeat, which is shown what they left") func hooks() async throws {
        let hooks = Counting()
        let fixture = try await BackendFixture(tables: [.init("t")], hooks: ["t": hooks])
        for _ in 0..<3 {
            let answer = await fixture.send(
                .post, "/tables/t", #"{"id":"a","secret":1,"n":2}"#, headers: Self.marked("x"))
            #expect(answer.status == 201)
            #expect(answer.json["secret"] == nil)
            #expect(answer.json["n"] == 2)
        }
        #expect(hooks.calls.withLock { $0.before } == 1)
        #expect(hooks.calls.withLock { $0.after } == 1)
    }

    @Test("a repeat after a failed hook shows no more than the hook leaves") func failedHook() async throws {
        let hooks = Counting(failures: 1)
        let fixture = try await BackendFixture(tables: [.init("t")], hooks: ["t": hooks])
        func insert() async -> Answer {
            await fixture.send(.post, "/tables/t", #"{"id":"a","secret":1}"#, headers: Self.marked("x"))
        }
        #expect(await insert().status == 503)
        let again = await insert()
        #expect(again.status == 201)
        #expect(again.json["secret"] == nil)
        #expect(await insert().json == again.json)
        #expect(hooks.calls.withLock { $0.before } == 1)
        #expect(hooks.calls.withLock { $0.after } == 2)
    }

    @Test("what a hook merged is remembered") func merging() async throws {
        struct Merging: TableHooks {
            func conflict(_ conflict: HookConflict) async throws -> JSON? {
                var merged = conflict.server
                merged["n"] = JSON((merged["n"]?.int ?? 0) + (conflict.client["n"]?.int ?? 0))
                return merged
            }
        }
        let fixture = try await BackendFixture(tables: [.init("t")], hooks: ["t": Merging()])
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","n":1}"#)
        for _ in 0..<2 {
            let answer = await fixture.send(
                .patch, "/tables/t/a", #"{"n":2}"#, headers: Self.marked("x") + [("If-Match", "\"old=\"")])
            #expect(answer.json["n"] == 3)
        }
    }
}
