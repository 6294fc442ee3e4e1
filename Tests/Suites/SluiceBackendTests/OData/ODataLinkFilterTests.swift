import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend
@testable import SluiceBase
@testable import SluiceWire

/// Filters and orders along links: `customer/name`, `orders/any(o:o/total gt 5)`.
@Suite struct ODataLinkFilterTests {
    private static func path(_ set: String, _ filter: String, _ more: String = "") -> String {
        "\(set)?$filter=\(PercentEncoding.query(filter))\(more)"
    }

    @Test(
        "lists and counts are filtered along links",
        arguments: [
            ("orders", "customer/name eq 'N2'", ["o2"]), ("orders", "customer/points gt 1", ["o2", "o3"]),
            ("orders", "customer eq null or customer/name ne 'N2'", []),
            ("customers", "orders/any()", ["c1", "c2", "c3"]),
            ("customers", "orders/any(o:o/total ge 20)", ["c2", "c3"]),
            ("customers", "orders/any(o:o/total eq points mul 10 and o/customer/name eq 'N3')", ["c3"]),
            ("customers", "not orders/any(o:o/total ge 20)", ["c1"]),
            ("customers", "orders/all(o:o/total lt 25)", ["c1", "c2"]),
            ("customers", "orders/$count eq 1 and id ne 'c1'", ["c2", "c3"]),
            ("customers", "orders/$count($filter=total gt 10) gt 0", ["c2", "c3"]),
            ("orders", "customer/orders/any(o:o/total gt 20)", ["o3"]),
            ("orders", "startswith(customer/name,'N')", ["o1", "o2", "o3"]),
            ("orders", "customer/name in ('N1','N3')", ["o1", "o3"]), ("orders", "customer/id eq 'c1'", ["o1"]),
            ("orders", "customer/createdAt gt 2020-01-01T00:00:00Z", ["o1", "o2", "o3"]),
        ])
    func answers(_ set: String, _ filter: String, _ ids: [String]) async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(3)
        let answer = await fixture.v4(.get, Self.path(set, filter, "&$count=true"))
        if filter.hasPrefix("customer eq null") {
            // A link itself is no value.
            #expect(answer.status == 501, "\(answer.text)")
            return
        }
        #expect(answer.keys == ids, "\(answer.text)")
        #expect(answer.json["@odata.count"]?.int ?? answer.json["@count"]?.int == Int64(ids.count))
        let count = await fixture.v4(.get, Self.path("\(set)/$count", filter))
        #expect(count.text == String(ids.count))
    }

    @Test("v2 has links to one, and $expand filters along links, and $orderby sorts along them")
    func others() async throws {
        let fixture = try await ODataFixture(pageSize: 2)
        await fixture.plant(3)
        #expect(await fixture.v2(.get, Self.path("orders", "customer/name eq 'N2'")).keys == ["o2"])
        let expanded = await fixture.v4(.get, "customers?$expand=orders($filter=customer/points%20gt%202)")
        #expect(expanded.json["value"]?.elements?.map { $0["orders"]?.elements?.count } == [0, 0] as [Int?])
        let first = await fixture.v4(.get, "orders?$orderby=customer/points%20desc")
        #expect(first.keys == ["o3", "o2"])
        let next = try #require(first.path("@odata.nextLink"))
        #expect(await fixture.v4(.get, next).keys == ["o1"])
        let page = await fixture.v4(.get, Self.path("customers", "orders/any(o:o/total gt 5)"))
        #expect(page.keys == ["c1", "c2"])
        #expect(await fixture.v4(.get, try #require(page.path("@odata.nextLink"))).keys == ["c3"])
    }

    @Test("what would read from each of many again, or search, is refused, and changes are not followed along links")
    func refused() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        for (path, status) in [
            (Self.path("customers", "orders/any(o:o/customer/orders/any(p:p/total gt 1))"), 501),
            (Self.path("customers", "orders/$count($search=x) gt 0"), 501),
            (Self.path("orders", "customer/orders/any(o:o/customer/orders/any())"), 501),
            (Self.path("orders", "customer/nothing/any(x:x/y eq 1)"), 200), (Self.path("orders", "customer"), 501),
            (Self.path("orders", "customer gt 1"), 501), (Self.path("orders", "customer/points eq 'x'"), 400),
            ("orders?$compute=customer/points%20as%20p", 501),
            (Self.path("orders", "customer/points gt 0", "&$compute=total%20as%20t"), 501),
        ] {
            let answer = await fixture.v4(.get, path)
            #expect(answer.status == status, "\(path): \(answer.text)")
        }
        let tracked = await fixture.v4(
            .get, Self.path("orders", "customer/points gt 0"), headers: [("Prefer", "odata.track-changes")])
        #expect(tracked.status == 200 && tracked.json["@odata.deltaLink"] == nil && tracked.keys == ["o1"])
        #expect(await fixture.v2(.get, Self.path("orders", "customer/nothing eq 'x'")).status == 400)
    }

    @Test("nothing of what a request may not see shows in what it finds")
    func access() async throws {
        let fixture = try await ODataFixture(perUser: true)
        let alice = [("Authorization", "Bearer \(try await TestToken.user("alice"))")]
        let bob = [("Authorization", "Bearer \(try await TestToken.user("bob"))")]
        _ = await fixture.v4(.post, "customers", #"{"id":"a","name":"of-a"}"#, headers: alice)
        _ = await fixture.v4(.post, "customers", #"{"id":"b","name":"of-b"}"#, headers: bob)
        _ = await fixture.v4(.post, "customers", #"{"id":"h","name":"hidden"}"#, headers: alice)
        for (id, customer, headers) in [
            ("1", "a", alice), ("2", "b", alice), ("3", "a", bob), ("4", "b", bob), ("5", "h", alice),
        ] {
            let body = #"{"id":"\#(id)","customerId":"\#(customer)","total":\#(id)}"#
            #expect(await fixture.v4(.post, "orders", body, headers: headers).status == 201)
        }
        func keys(_ set: String, _ filter: String) async -> [String] {
            await fixture.v4(.get, Self.path(set, filter), headers: alice).keys
        }
        // Bob's customer, and one that the view hides, are not there for Alice, nor are Bob's orders.
        #expect(await keys("orders", "customer/name ne null") == ["1"])
        #expect(await keys("orders", "customer/name eq null") == ["2", "5"])
        #expect(await keys("orders", "contains(customer/name,'hid')").isEmpty)
        #expect(await keys("customers", "orders/$count eq 1") == ["a"])
        #expect(await keys("customers", "orders/any(o:o/total gt 1)").isEmpty)
        #expect(await keys("customers", "orders/all(o:o/total lt 2)") == ["a"])
        #expect(await keys("orders", "customer/orders/any(o:o/total eq 3)").isEmpty)
        #expect(await keys("orders", "customer/owner eq 'bob'").isEmpty)
        // Columns that no client can name are no way in.
        #expect(
            await keys("orders", "customer/deleted eq false or customer/version ne null or customer/__left ne null")
                .isEmpty)
        // A record that was deleted is not there.
        _ = await fixture.v4(.delete, "orders('1')", headers: alice)
        #expect(await keys("customers", "orders/any()").isEmpty)
        // Without a token neither table says anything.
        #expect(await fixture.v4(.get, Self.path("orders", "customer/name eq 'of-a'")).status == 401)
    }

    @Test("who may not read the other table may not ask about it, and what its hook takes away is not there")
    func otherTable() async throws {
        var customers = BackendConfiguration.Table(
            "customers", columns: [.init("name", .string)], access: .authenticated)
        var orders = BackendConfiguration.Table("orders", columns: [.init("customerId", .string)])
        orders.references = [.init("customer", column: "customerId", table: "customers", inverse: "orders")]
        let closed = try await BackendFixture(
            tables: [customers, orders], authentication: .init(secret: .text(TestToken.secret)))
        let path = "/odata/v4/" + Self.path("orders", "customer/name eq 'x'")
        let answer = await closed.send(.get, path, "", json: true, version: nil)
        #expect(answer.status == 401)
        // Orders by themselves are anyone's.
        #expect(await closed.send(.get, "/odata/v4/orders", "", json: true, version: nil).status == 200)
        customers.access = .anonymous
        let hooked = try await BackendFixture(tables: [customers, orders], hooks: ["customers": Hiding()])
        for (set, body) in [
            ("customers", #"{"id":"a","name":"x"}"#), ("customers", #"{"id":"b","name":"secret"}"#),
            ("orders", #"{"id":"1","customerId":"a"}"#), ("orders", #"{"id":"2","customerId":"b"}"#),
        ] {
            #expect(await hooked.send(.post, "/odata/v4/\(set)", body, json: true, version: nil).status == 201)
        }
        let found = await hooked.send(
            .get, "/odata/v4/" + Self.path("orders", "customer/name ne null"), "", json: true, version: nil)
        #expect(found.keys == ["1"])
    }

    private struct Hiding: TableHooks {
        func before(_ request: inout HookRequest) async throws {
            guard request.operation == .read else { return }
            request.filter = try QueryExpression(odata: "name ne 'secret'")
        }
    }
}
