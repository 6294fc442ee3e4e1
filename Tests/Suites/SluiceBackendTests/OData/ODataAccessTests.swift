import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// Asks over every route as one user for what belongs to another.
@Suite struct ODataAccessTests {
    private static let operations = [
        ODataOperation.function("All", returns: .records(table: "customers")) { call in
            JSON(try await call.records(matching: TableQuery("customers")))
        },
        ODataOperation.function("Orders", returns: .records(table: "orders"), access: .authenticated) { call in
            JSON(try await call.records(matching: TableQuery("orders")))
        },
    ]

    private func fixture() async throws -> (ODataFixture, alice: [(String, String)], bob: [(String, String)]) {
        let fixture = try await ODataFixture(operations: Self.operations, perUser: true)
        let alice = [("Authorization", "Bearer \(try await TestToken.user("alice"))")]
        let bob = [("Authorization", "Bearer \(try await TestToken.user("bob"))")]
        for (id, headers) in [("a", alice), ("b", bob)] {
            let body = #"{"id":"\#(id)","name":"of-\#(id)","owner":"alice","orders":[{"id":"o\#(id)","total":5}]}"#
            #expect(await fixture.v4(.post, "customers", body, headers: headers).status == 201)
        }
        // In the table, and not in the view.
        #expect(await fixture.v4(.post, "customers", #"{"id":"h","name":"hidden"}"#, headers: bob).status == 201)
        return (fixture, alice, bob)
    }

    @Test func noReadShowsWhatIsAnothers() async throws {
        let (fixture, alice, bob) = try await fixture()
        // Even where a record of one's own refers to it.
        _ = await fixture.v4(.patch, "orders('oa')", #"{"customerId":"b"}"#, headers: alice)
        let paths = [
            "customers", "customers('b')", "customers('h')", "customers('b')/name", "customers('b')/name/$value",
            "customers('b')/orders", "customers('b')/orders/$count", "customers('b')/orders('ob')", "orders('ob')",
            "orders('oa')/customer", "orders('oa')/customer/name", "orders('oa')/customer/orders",
            "orders?$expand=customer", "orders('oa')?$expand=customer($expand=orders)", "orders?$expand=*",
            "customers?$filter=name eq 'of-b'", "customers?$orderby=owner desc", "customers?$filter=owner eq 'bob'",
            "All()", "Orders()", "customers/$count?$filter=owner eq 'bob'", "customers?$count=true&$top=0",
            "customers?$filter=owner eq 'bob' or true", "customers?$search=of", "customers?$search=NOT%20x",
            "customers?$compute=concat(name,'!')%20as%20loud", "customers?$apply=groupby((name))",
            "customers?$apply=aggregate(name%20with%20max%20as%20top)", "orders?$apply=groupby((id,owner))",
            "orders?$expand=customer($search=of)",
        ]
        for path in paths {
            let answer = await fixture.v4(.get, path, headers: alice)
            #expect(!answer.text.contains("of-b") && !answer.text.contains("bob"), "\(path): \(answer.text)")
            #expect(!answer.text.contains("hidden") && !answer.text.contains("\"ob\""), "\(path): \(answer.text)")
            let old = await fixture.v2(.get, path, headers: alice)
            #expect(!old.text.contains("of-b") && !old.text.contains("bob"), "\(path): \(old.text)")
            let atom = await fixture.v2(.get, path, headers: alice + [("Accept", "application/atom+xml")])
            #expect(!atom.text.contains("of-b"), "\(path): \(atom.text)")
        }
        #expect(await fixture.v4(.get, "customers/$count", headers: alice).text == "1")
        #expect(await fixture.v4(.get, "customers", headers: alice).keys == ["a"])
        #expect(await fixture.v4(.get, "customers", headers: bob).keys == ["b"])
        #expect(await fixture.v4(.post, "customers/$query", "$filter=true", headers: alice).keys == ["a"])
    }

    @Test func nobodySeesNothing() async throws {
        let (fixture, _, _) = try await fixture()
        for path in ["customers", "customers('a')", "customers/$count", "customers('a')/orders", "Orders()", "All()"] {
            #expect(await fixture.v4(.get, path).status == 401, "\(path)")
            #expect(await fixture.v2(.get, path).status == 401, "\(path)")
        }
        #expect(await fixture.v4(.post, "customers", "{}").status == 401)
        #expect(await fixture.v4(.get, "customers", headers: [("Authorization", "Bearer x.y.z")]).status == 401)
    }

    @Test func noWriteTouchesWhatIsAnothers() async throws {
        let (fixture, alice, bob) = try await fixture()
        let before = await fixture.v4(.get, "customers('b')?$expand=orders", headers: bob).text
        let writes: [(HTTPRequest.Method, String, String)] = [
            (.patch, "customers('b')", #"{"name":"x"}"#), (.put, "customers('b')", #"{"name":"x"}"#),
            (.delete, "customers('b')", ""), (.put, "customers('b')/name", #"{"value":"x"}"#),
            (.delete, "customers('b')/name", ""), (.post, "customers('b')/orders", "{}"),
            (.post, "customers('b')/orders/$ref", #"{"@odata.id":"orders('oa')"}"#),
            (.put, "orders('oa')/customer/$ref", #"{"@odata.id":"customers('b')"}"#),
            (.delete, "orders('ob')/customer/$ref", ""), (.patch, "orders('ob')", #"{"total":1}"#),
            (.post, "customers('a')/orders/$ref", #"{"@odata.id":"orders('ob')"}"#),
            (.post, "orders", #"{"customer@odata.bind":"customers('b')"}"#),
            (.post, "customers", #"{"id":"b","name":"x"}"#), (.post, "customers", #"{"id":"h","name":"x"}"#),
            (.post, "customers", #"{"id":"z","orders":[{"id":"ob"}]}"#),
            (.post, "customers", #"{"id":"z","orders@odata.bind":["orders('ob')"]}"#),
        ]
        for (method, path, body) in writes {
            let answer = await fixture.v4(method, path, body, headers: alice)
            #expect((400...404).contains(answer.status), "\(method) \(path): \(answer.status)")
            #expect(!answer.text.contains("of-b"))
        }
        let batch =
            #"{"requests":[{"id":"1","method":"PATCH","url":"customers('b')","body":{"name":"x"}},{"id":"2","method":"GET","url":"customers('b')"}]}"#
        let parts = await fixture.v4(.post, "$batch", batch, headers: alice + [("Prefer", "continue-on-error")])
        #expect(parts.json["responses"]?.elements?.map { $0["status"]?.int } == [404, 404])
        #expect(await fixture.v4(.get, "customers('b')?$expand=orders", headers: bob).text == before)
        #expect(await fixture.v4(.get, "customers('z')", headers: alice).status == 404)
        // The owner is the user, whatever the body says.
        #expect(await fixture.v4(.get, "customers('b')", headers: bob).json["owner"] == "bob")
    }

    @Test func aDeltaTellsNothingOfAnothers() async throws {
        let (fixture, alice, bob) = try await fixture()
        let first = await fixture.v4(.get, "customers", headers: alice + [("Prefer", "track-changes")])
        let delta = try #require(first.path("@odata.deltaLink"))
        _ = await fixture.v4(.patch, "customers('b')", #"{"name":"of-b2"}"#, headers: bob)
        _ = await fixture.v4(.delete, "customers('b')", headers: bob)
        #expect(await fixture.v4(.get, delta, headers: alice).json["value"]?.count == 0)
        #expect(await fixture.v4(.get, delta, headers: bob).status == 410)
    }

    @Test func hooksAndDisabledOperationsHoldOnEveryRoute() async throws {
        struct Hooks: TableHooks {
            func before(_ request: inout HookRequest) async throws {
                if request.operation == .read { request.filter = try QueryExpression(odata: "points lt 3") }
                if request.operation == .delete { throw HookRefusal(403, "nobody deletes") }
            }
            func after(_ answer: inout HookAnswer) async throws {
                for index in answer.records.indices { answer.records[index]["rate"] = nil }
            }
        }
        let fixture = try await ODataFixture(hooks: ["customers": Hooks()])
        await fixture.plant(4)
        #expect(await fixture.v4(.get, "customers").keys == ["c1", "c2"])
        #expect(await fixture.v4(.get, "customers('c3')").status == 404)
        #expect(await fixture.v4(.get, "customers('c3')/orders").status == 404)
        #expect(await fixture.v4(.get, "orders('o3')?$expand=customer").json["customer"] == .null)
        #expect(await fixture.v4(.get, "orders('o3')/customer").status == 404)
        #expect(await fixture.v4(.get, "customers('c1')").json["rate"] == nil)
        #expect(await fixture.v4(.delete, "customers('c1')").status == 403)
        #expect(
            await fixture.v4(.get, "customers", headers: [("Prefer", "track-changes")]).json["@odata.deltaLink"] == nil)
    }
}
