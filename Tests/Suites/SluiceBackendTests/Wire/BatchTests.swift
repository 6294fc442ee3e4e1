import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("Batches") struct BatchTests {
    private func fixture() async throws -> BackendFixture {
        try await BackendFixture(.init("t"), .init("other"))
    }

    private func batch(
        _ fixture: BackendFixture, _ requests: String, headers: [(String, String)] = [], version: String? = "2.0.0"
    ) async -> Answer {
        await fixture.send(
            .post, "/tables/$batch", #"{"requests":[\#(requests)]}"#, headers: headers, json: true, version: version)
    }

    private func insert(_ id: String, table: String = "t", more: String = "") -> String {
        #"{"id":"\#(id)","method":"POST","url":"tables/\#(table)","body":{"id":"\#(id)"}\#(more)}"#
    }

    private func delete(_ name: String, _ id: String, more: String = "") -> String {
        #"{"id":"\#(name)","method":"delete","url":"tables/t/\#(id)"\#(more)}"#
    }

    private func statuses(_ answer: Answer) -> [Int64] {
        answer.json["responses"]?.elements?.compactMap { $0["status"]?.int } ?? []
    }

    @Test("each part has its own answer, in order") func order() async throws {
        let fixture = try await fixture()
        let answer = await batch(
            fixture,
            [
                insert("a"), insert("a").replacing(#"{"id":"a","m"#, with: #"{"id":"again","m"#),
                #"{"id":"p","method":"PATCH","url":"/tables/t/a","body":{"n":5}}"#,
                #"{"id":"g","method":"GET","url":"tables/t/a"}"#, delete("d", "a"), delete("d2", "a"),
                insert("b", table: "other"), insert("c", table: "missing"),
            ].joined(separator: ","))
        #expect(answer.status == 200)
        #expect(statuses(answer) == [201, 409, 200, 200, 204, 404, 201, 404])
        let responses = answer.json["responses"]?.elements ?? []
        #expect(responses.compactMap { $0["id"]?.string } == ["a", "again", "p", "g", "d", "d2", "b", "c"])
        #expect(responses[2]["body"]?["n"] == 5)
        #expect(responses[2]["headers"]?["ETag"]?.string == responses[3]["headers"]?["ETag"]?.string)
        #expect(responses[1]["body"]?["id"] == "a")
        #expect(responses[4]["body"] == nil)
    }

    @Test("what depends on a failed part is not carried out, nor what depends on that") func dependencies() async throws
    {
        let fixture = try await fixture()
        let answer = await batch(
            fixture,
            [
                delete("x", "none"), insert("a", more: #","dependsOn":["x"]"#),
                insert("b", more: #","dependsOn":["a"]"#), insert("c"), insert("d", more: #","dependsOn":["c"]"#),
            ].joined(separator: ","))
        #expect(statuses(answer) == [404, 424, 424, 201, 201])
        #expect(await fixture.send(.get, "/tables/t").ids.sorted() == ["c", "d"])
    }

    @Test("a group is carried out whole or not at all", arguments: [true, false]) func groups(fails: Bool) async throws
    {
        let fixture = try await fixture()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"x"}"#)
        let group = #","atomicityGroup":"g""#
        let answer = await batch(
            fixture,
            [
                insert("a", more: group), insert("b", table: "other", more: group),
                delete("d", fails ? "none" : "x", more: group), insert("c", more: group),
                insert("after", more: #","dependsOn":["g"]"#), insert("free"),
            ].joined(separator: ","))
        let ids = await fixture.send(.get, "/tables/t").ids.sorted()
        let others = await fixture.send(.get, "/tables/other").ids
        if fails {
            #expect(statuses(answer) == [424, 424, 404, 424, 424, 201])
            #expect((ids, others) == (["free", "x"], []))
            let reason = answer.json["responses"]?.elements?[0]["body"]?["error"]?.string
            #expect(reason?.contains("d of the same atomicity group") == true)
        } else {
            #expect(statuses(answer) == [201, 201, 204, 201, 201, 201])
            #expect((ids, others) == (["a", "after", "c", "free"], ["b"]))
            #expect(answer.json["responses"]?.elements?[0]["atomicityGroup"] == "g")
        }
    }

    @Test("a conflict within a group is its part's own, with its record; the others are skipped")
    func conflictsInGroups() async throws {
        let fixture = try await fixture()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"x","n":1}"#)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"y","n":2}"#)
        let group = #","atomicityGroup":"g""#
        let stale =
            #"{"id":"s","method":"PATCH","url":"tables/t/y","headers":{"If-Match":"\"old\""},"body":{"n":9}\#(group)}"#
        for (conflict, status, id) in [(insert("x", more: group), 409, "x"), (stale, 412, "y")]
            as [(String, Int64, JSON)]
        {
            let answer = await batch(
                fixture, [insert("a", more: group), conflict, insert("b", more: group)].joined(separator: ","))
            #expect(statuses(answer) == [424, status, 424])
            let bodies = answer.json["responses"]?.elements?.map { $0["body"]?["id"] }
            #expect(bodies == [nil, id, nil])
        }
        #expect(await fixture.send(.get, "/tables/t").ids.sorted() == ["x", "y"])
    }

    @Test("parts of a group see what those before did") func withinGroup() async throws {
        let fixture = try await fixture()
        let group = #","atomicityGroup":"g""#
        let answer = await batch(
            fixture,
            insert("a", more: group)
                + #",{"id":"p","method":"PATCH","url":"tables/t/a","body":{"n":1}\#(group),"dependsOn":["a"]}"#)
        #expect(statuses(answer) == [201, 200])
    }

    @Test("a part that cannot even be read takes its group with it") func unreadable() async throws {
        let fixture = try await fixture()
        let group = #","atomicityGroup":"g""#
        for bad in [
            #"{"id":"r","method":"GET","url":"tables/t/a"\#(group)}"#,
            #"{"id":"r","method":"POST","url":"tables/t","body":7\#(group)}"#,
            #"{"id":"r","method":"POST","url":"tables/$batch","body":{}\#(group)}"#,
        ] {
            #expect(statuses(await batch(fixture, insert("a", more: group) + "," + bad)) == [424, 400], "\(bad)")
        }
        #expect(await fixture.send(.get, "/tables/t").ids == [])
    }

    @Test("a repeat within a batch, and by itself, has no second effect") func repeats() async throws {
        let fixture = try await fixture()
        let marks =
            #","headers":{"Repeatability-Request-ID":"op-1","Repeatability-First-Sent":"Mon, 06 May 2024 07:08:00 GMT"}"#
        let part = insert("a", more: marks)
        let first = await batch(fixture, part)
        #expect(statuses(first) == [201])
        #expect(await batch(fixture, part).json == first.json)
        let alone = await fixture.send(
            .post, "/tables/t", #"{ "id": "a" }"#, headers: RepeatableRequestTests.marked("op-1"))
        #expect(alone.status == 201)
        #expect(alone.json == first.json["responses"]?.elements?[0]["body"])
        // In a group: what was done stands, and the rest is carried out.
        let group = #","atomicityGroup":"g""#
        let again = insert("a", more: marks + group)
        #expect(statuses(await batch(fixture, again + "," + insert("b", more: group))) == [201, 201])
        #expect(await fixture.send(.get, "/tables/t").ids.sorted() == ["a", "b"])
    }

    @Test("a failed group is not remembered") func failedGroup() async throws {
        let fixture = try await fixture()
        let group = #","atomicityGroup":"g""#
        let marks =
            #","headers":{"Repeatability-Request-ID":"op-1","Repeatability-First-Sent":"Mon, 06 May 2024 07:08:00 GMT"}"#
        let part = insert("a", more: marks + group)
        #expect(statuses(await batch(fixture, part + "," + delete("d", "none", more: group))) == [424, 404])
        #expect(statuses(await batch(fixture, part)) == [201])
    }

    @Test("parts speak the batch's wire, or their own", arguments: ["2.0.0", "3.0.0", nil, "v1"])
    func wires(version: String?) async throws {
        let fixture = try await fixture()
        let own = #","headers":{"ZUMO-API-VERSION":"2.0.0"}"#
        let headers = version == "v1" ? [("X-ZUMO-APPLICATION", "key")] : []
        let answer = await batch(
            fixture, insert("a") + "," + insert("b", more: own), headers: headers,
            version: version == "v1" ? nil : version)
        #expect(statuses(answer) == [201, 201])
        let bodies = answer.json["responses"]?.elements?.compactMap { $0["body"] } ?? []
        // The second generation alone shows createdAt so.
        #expect((bodies[0]["createdAt"] != nil) == (version == "2.0.0"))
        #expect((bodies[0]["version"] != nil) == (version != "v1"))
        #expect(bodies[1]["createdAt"] != nil)
    }

    @Test("users are told apart part by part") func users() async throws {
        let fixture = try await BackendFixture(
            tables: [.init("notes", perUser: "owner"), .init("t")],
            authentication: .init(secret: .text(TestToken.secret)))
        let (alice, bob) = (try await TestToken.user("alice"), try await TestToken.user("bob"))
        let own = #","headers":{"X-ZUMO-AUTH":"\#(bob)"}"#
        let parts = [insert("a", table: "notes"), insert("b", table: "notes", more: own)].joined(separator: ",")
        let answer = await batch(fixture, parts, headers: [("Authorization", "Bearer \(alice)")])
        #expect(statuses(answer) == [201, 201])
        let owners = answer.json["responses"]?.elements?.compactMap { $0["body"]?["owner"]?.string }
        #expect(owners == ["alice", "bob"])
        #expect(statuses(await batch(fixture, insert("c", table: "notes") + "," + insert("d"))) == [401, 201])
    }

    @Test(
        "a hostile part is refused and harms nothing",
        arguments: [
            "http://evil.example/tables/t", "//evil.example/tables/t", "tables", "tables/", "../tables/t", "t", "",
            "tables/t#x", "tables/t/a b", "tables/t/ä", "tables/../t", "tables/%2e%2e/t", "tables/t/a/b",
            "tables/$batch", "tables/%24batch", "/tables//$batch", "tables/t\\u0000", "tables/t\\r\\nX: y",
        ])
    func hostileURLs(url: String) async throws {
        let fixture = try await fixture()
        let part = #"{"id":"h","method":"POST","url":"\#(url)","body":{"id":"x"}}"#
        let answer = await batch(fixture, part + "," + insert("good"))
        #expect(answer.status == 200)
        #expect([400, 404, 405].contains(statuses(answer).first ?? 0), "\(answer.json)")
        #expect(statuses(answer).last == 201)
        #expect(await fixture.send(.get, "/tables/t").ids == ["good"])
    }

    @Test(
        "a hostile header, method or list is its own part's failure",
        arguments: [
            #"{"id":"h","method":"POST","url":"tables/t","headers":{"a b":"c"},"body":{}}"#,
            #"{"id":"h","method":"POST","url":"tables/t","headers":{"a":"b\r\nc: d"},"body":{}}"#,
            #"{"id":"h","method":"POST","url":"tables/t","headers":{"a":1},"body":{}}"#,
            #"{"id":"h","method":"POST","url":"tables/t","headers":["a"],"body":{}}"#,
            #"{"id":"h","method":"CONNECT","url":"tables/t"}"#, #"{"id":"h","url":"tables/t"}"#,
            #"{"id":"h","method":"GET","url":"tables/t"}"#, #"{"id":"h","method":"POST"}"#,
            #"{"id":"h","method":"POST","url":"tables/t","headers":{"ZUMO-API-VERSION":"9.0.0"},"body":{}}"#,
        ])
    func hostileParts(part: String) async throws {
        let fixture = try await fixture()
        #expect(statuses(await batch(fixture, part + "," + insert("good"))) == [400, 201], "\(part)")
        #expect(await fixture.send(.get, "/tables/t").ids == ["good"])
    }

    @Test("what is no batch is refused whole") func noBatch() async throws {
        let fixture = try await fixture()
        let group = #","atomicityGroup":"g""#
        for requests in [
            "7", #"{"method":"GET","url":"tables/t/a"}"#, insert("a") + "," + insert("a"),
            insert("a", more: #","dependsOn":["b"]"#) + "," + insert("b"), insert("a", more: #","dependsOn":["a"]"#),
            insert("a", more: #","dependsOn":7"#), insert("a", more: #","atomicityGroup":7"#),
            insert("a", more: group) + "," + insert("b") + "," + insert("c", more: group),
            insert("a", more: group) + "," + insert("g"),
            (0...100).map { insert("n\($0)") }.joined(separator: ","),
        ] {
            #expect(await batch(fixture, requests).status == 400, "\(requests.prefix(200))")
        }
        for body in ["", "[]", "{}", #"{"requests":{}}"#, "{"] {
            #expect(await fixture.send(.post, "/tables/$batch", body, json: true).status == 400)
        }
        #expect(await fixture.send(.get, "/tables/$batch").status == 405)
        let large = #"{"requests":[],"x":"\#(String(repeating: "x", count: 4 << 20))"}"#
        #expect(await fixture.send(.post, "/tables/$batch", large, json: true).status == 413)
        #expect(await fixture.send(.get, "/tables/t").ids == [])
        #expect(await batch(fixture, (0..<100).map { insert("n\($0)") }.joined(separator: ",")).status == 200)
    }

    @Test("hooks run outside the group's transaction, and are asked again where a record moved") func hooks()
        async throws
    {
        struct Meddling: TableHooks {
            let backend: @Sendable () async -> Void
            func before(_ request: inout HookRequest) async throws {
                if request.record?["m"] != nil, request.stored?["n"] == 5 { await backend() }
                if request.record?["bad"] == true { throw HookRefusal(403, "no") }
            }
        }
        // The hook changes the record that it is asked about, once, through the backend itself.
        let holder = FixtureHolder()
        let fixture = try await BackendFixture(
            tables: [.init("t")],
            hooks: [
                "t": Meddling {
                    _ = await holder.fixture?.send(.patch, "/tables/t/a", #"{"n":1}"#, headers: [("If-Match", "*")])
                }
            ])
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","n":5}"#)
        await holder.set(fixture)
        let group = #","atomicityGroup":"g""#
        let patch = #"{"id":"p","method":"PATCH","url":"tables/t/a","body":{"m":1}\#(group)}"#
        #expect(statuses(await batch(fixture, patch + "," + insert("b", more: group))) == [200, 201])
        let bad = #"{"id":"q","method":"POST","url":"tables/t","body":{"id":"c","bad":true}\#(group)}"#
        #expect(statuses(await batch(fixture, insert("d", more: group) + "," + bad)) == [424, 403])
        #expect(await fixture.send(.get, "/tables/t").ids.sorted() == ["a", "b"])
    }
}

/// A place for a backend that its own hooks use.
private actor FixtureHolder {
    var fixture: BackendFixture?
    func set(_ fixture: BackendFixture) { self.fixture = fixture }
}
