import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// What the lists of OData 4.01's conformance levels, and HTTP itself, ask of a service beside its data.
@Suite("OData services by the lists of the standard")
struct ODataProtocolTests {
    private func planted() async throws -> ODataFixture {
        let fixture = try await ODataFixture()
        await fixture.plant(4)
        return fixture
    }

    @Test(
        "aliases stand in filters, orders and keys",
        arguments: [
            ("customers?$filter=name%20eq%20@n&@n='N2'", ["c2"]),
            ("customers?@n='N2'&$filter=contains(name,@n)", ["c2"]),
            ("customers?$filter=points%20in%20@l&@l=[1,3]", ["c1", "c3"]),
            ("customers?$orderby=@o%20desc&@o=points&$top=1", ["c4"]),
            ("customers?$filter=orders/any(o:o/total%20gt%20@t)&@t=30", ["c4"]),
        ])
    func aliases(_ path: String, _ ids: [String]) async throws {
        #expect(try await planted().v4(.get, path).keys == ids)
    }

    @Test("what is computed and brought together may name an alias, too")
    func computed() async throws {
        let fixture = try await planted()
        let sum = await fixture.v4(.get, "customers?$compute=points%20add%20@n%20as%20x&$select=x&$top=1&@n=5")
        #expect(sum.json["value"]?[0]?["x"] == 6)
        let path = "customers?$apply=filter(points%20gt%20@n)/aggregate(points%20with%20sum%20as%20all)&@n=2"
        #expect(await fixture.v4(.get, path).json["value"]?[0]?["all"] == 7)
    }

    @Test("a change makes no entity, and says so")
    func noUpsert() async throws {
        let answer = try await planted().v4(.patch, "customers('none')", #"{"points":1}"#)
        #expect(answer.status == 404)
        #expect(answer.json["error"]?["message"]?.string?.contains("POST") == true)
    }

    @Test("a key may be an alias, and in 4.01 a segment by itself")
    func keys() async throws {
        let fixture = try await planted()
        for path in [
            "customers(@k)?@k='c2'", "customers(id=@k)?@k='c2'", "customers/c2", "customers/c2/orders/o2/customer",
        ] {
            #expect(await fixture.v4(.get, path).json["id"] == "c2", "\(path)")
        }
        #expect(await fixture.v4(.get, "customers/none").status == 404)
        #expect(await fixture.v4(.get, "customers/c1/orders/o2").status == 404)
        #expect(await fixture.v4(.get, "customers/c2", headers: [("OData-MaxVersion", "4.0")]).status == 404)
        for path in ["customers(@k)", "customers(@k)?@k=@k", "customers?$filter=name%20eq%20@n"] {
            #expect(await fixture.v4(.get, path).status == 400, "\(path)")
        }
    }

    @Test(
        "what is read and not run is 501, and no query is 500",
        arguments: [
            "$filter=now()%20gt%202020-01-01T00:00:00Z", "$filter=geo.length(name)%20gt%201",
            "$filter=hassubset(name,%5B'a'%5D)", "$filter=isof(name,Edm.String)",
            "$filter=$root/customers('c1')/points%20eq%201", "$compute=@Core.Messages%20as%20x&$select=x",
        ])
    func unsupported(_ options: String) async throws {
        #expect(try await planted().v4(.get, "customers?\(options)").status == 501)
    }

    @Test("of a list of entity tags one has to be the entity's")
    func tags() async throws {
        let fixture = try await planted()
        let tag = try #require(await fixture.v4(.get, "customers('c1')").etag)
        func change(_ field: String) async -> Int {
            await fixture.v4(.patch, "customers('c1')", #"{"points":1}"#, headers: [("If-Match", field)]).status
        }
        #expect(await change(#""other", W/"a,b""#) == 412)
        #expect(await change(#"W/"a,b", "# + tag) == 204)
    }

    @Test("an entity of another type is refused")
    func types() async throws {
        let fixture = try await planted()
        #expect(await fixture.v4(.post, "customers", ##"{"@odata.type":"#Shop.orders","id":"x"}"##).status == 400)
        #expect(await fixture.v4(.post, "customers", ##"{"@odata.type":"#Shop.customers","id":"x"}"##).status == 201)
        #expect(await fixture.v2(.post, "customers", #"{"__metadata":{"type":"Shop.orders"},"id":"y"}"#).status == 400)
    }

    @Test("HEAD is GET without the content", arguments: ["", "customers", "customers('c1')", "$metadata"])
    func head(_ path: String) async throws {
        let fixture = try await planted()
        let read = await fixture.v4(.get, path)
        let head = await fixture.v4(.head, path, headers: [("X-CSRF-Token", "Fetch")])
        #expect(head.status == 200 && head.response.body.isEmpty)
        #expect(head.etag == read.etag)
        #expect(head.response.head.headerFields[.contentLength] == String(read.response.body.bytes.count))
        #expect(head.header("X-CSRF-Token") != nil)
    }

    @Test("a page of an origin that is named may use the service, and no other")
    func origins() async throws {
        var rules = BackendConfiguration.OData(namespace: "Shop")
        rules.origins = ["https://app.example"]
        let fixture = try await ODataFixture(odata: rules)
        let asked = [("Access-Control-Request-Method", "PATCH"), ("Access-Control-Request-Headers", "if-match")]
        let own = await fixture.v4(.options, "customers", headers: asked + [("Origin", "https://app.example")])
        #expect(own.status == 204)
        #expect(own.response.head.headerFields[.accessControlAllowOrigin] == "https://app.example")
        #expect(own.response.head.headerFields[.accessControlAllowMethods]?.contains("PATCH") == true)
        #expect(own.response.head.headerFields[.accessControlAllowHeaders] == "if-match")
        let other = await fixture.v4(.get, "customers", headers: [("Origin", "https://other.example")])
        #expect(other.response.head.headerFields[.accessControlAllowOrigin] == nil)
        #expect(other.response.head.headerFields[.vary] == "Origin")
    }

    @Test("a request names its server once")
    func host() throws {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "a.example", path: "/odata/v4/")
        try Backend.checkHost(head)
        head.headerFields[try #require(HTTPField.Name("Host"))] = "b.example"
        #expect(throws: Refusal.self) { try Backend.checkHost(head) }
        #expect(throws: Refusal.self) {
            try Backend.checkHost(HTTPRequest(method: .get, scheme: "http", authority: nil, path: "/"))
        }
    }

    @Test("a client that knows version 1 at the most is answered in it")
    func versionOne() async throws {
        let answer = try await planted().v2(.get, "customers?$top=1", headers: [("MaxDataServiceVersion", "1.0")])
        #expect(answer.header("DataServiceVersion") == "1.0")
    }
}
