import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct ODataV2Tests {
    @Test func metadataDeclaresAll() async throws {
        let fixture = try await ODataFixture()
        let answer = await fixture.v2(.get, "$metadata")
        #expect(answer.header("DataServiceVersion") == "2.0")
        #expect(answer.text.contains(#"<Property Name="points" Type="Edm.Int64" Nullable="true"/>"#))
        #expect(answer.text.contains(#"<Association Name="orders_customer">"#))
        #expect(answer.text.contains(#"m:IsDefaultEntityContainer="true""#))
        #expect(await fixture.v2(.get, "").json["d"]?["EntitySets"]?[0] == "customers")
        let atom = await fixture.v2(.get, "", headers: [("Accept", "application/atomsvc+xml")])
        #expect(atom.text.contains(#"<collection href="customers">"#))
    }

    @Test func entitiesInJSON() async throws {
        let fixture = try await ODataFixture()
        let made = await fixture.v2(
            .post, "customers",
            #"{"d":{"id":"a","name":"A","points":"9007199254740993","since":"/Date(86400000+0060)/","tags":"{\"x\":1}"}}"#
        )
        #expect(made.status == 201)
        let row = try #require(made.json["d"])
        #expect(row["__metadata"]?["etag"]?.string == made.etag)
        #expect(row["__metadata"]?["uri"] == "http://127.0.0.1:8080/odata/v2/customers('a')")
        #expect(row["points"] == "9007199254740993")
        #expect(row["since"]?.string?.hasPrefix("/Date(86400000") == true)
        #expect(row["tags"] == #"{"x":1}"#)
        #expect(row["orders"]?["__deferred"]?["uri"] == "http://127.0.0.1:8080/odata/v2/customers('a')/orders")
        #expect(await fixture.v4(.get, "customers('a')").json["tags"]?["x"] == 1)
        let list = await fixture.v2(.get, "customers()?$inlinecount=allpages&$filter=substringof('A',name)")
        #expect(list.json["d"]?["__count"] == "1")
        let first = await fixture.v2(.get, "customers", headers: [("MaxDataServiceVersion", "1.0")])
        #expect(first.json["d"]?[0]?["id"] == "a")
        let filter = "customers?$filter=since gt datetimeoffset'1970-01-01T12:00:00Z' and points gt 5L"
        #expect(await fixture.v2(.get, filter).keys == ["a"])
        #expect(await fixture.v2(.get, "customers('a')/name").json["d"]?["name"] == "A")
        #expect(await fixture.v2(.get, "customers('a')/points/$value").text == "9007199254740993")
        #expect(await fixture.v2(.post, "customers", #"{"unknown":1}"#).status == 400)
        #expect(await fixture.v2(.get, "customers?$filter=unknown eq 1").status == 400)
    }

    @Test func changes() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(2)
        for method in ["MERGE", "PATCH", "PUT"] {
            let answer = await fixture.v2(
                .post, "customers('c1')", #"{"points":"3"}"#, headers: [("X-HTTP-Method", method)])
            #expect(answer.status == 204)
        }
        let stale = await fixture.v2(.patch, "customers('c1')", "{}", headers: [("If-Match", #"W/"x""#)])
        #expect(stale.status == 412)
        #expect(stale.json["error"]?["message"]?["lang"] == "en")
        #expect(stale.json["error"]?["innererror"]?["errordetails"]?[0]?["message"] != nil)
        let links = "orders('o2')/$links/customer"
        #expect(
            await fixture.v2(.put, links, #"{"uri":"http://127.0.0.1:8080/odata/v2/customers('c1')"}"#).status == 204)
        #expect(await fixture.v2(.get, links).json["d"]?["uri"] == "http://127.0.0.1:8080/odata/v2/customers('c1')")
        #expect(await fixture.v2(.get, "customers('c1')/$links/orders").json["d"]?["results"]?.count == 2)
        #expect(await fixture.v2(.delete, "customers('c1')/$links/orders('o2')").status == 204)
        #expect(await fixture.v2(.get, "orders('o2')/customer").status == 404)
        let bound = #"{"id":"b","customer":{"__metadata":{"uri":"customers('c2')"}}}"#
        #expect(await fixture.v2(.post, "orders", bound).json["d"]?["customerId"] == "c2")
        let deep = #"{"id":"d","orders":{"results":[{"id":"d1"}]}}"#
        #expect(await fixture.v2(.post, "customers", deep).json["d"]?["orders"]?["results"]?[0]?["id"] == "d1")
    }

    @Test func expansionsAndSelectionsByPath() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        let answer = await fixture.v2(.get, "orders?$expand=customer/orders&$select=id,customer/name")
        let row = answer.json["d"]?["results"]?[0]
        #expect(row?["total"] == nil)
        #expect(row?["customer"]?["name"] == "N1")
        #expect(row?["customer"]?["points"] == nil)
        #expect(row?["customer"]?["orders"]?["results"]?[0]?["id"] == "o1")
    }

    @Test func pagesAndDeltas() async throws {
        let fixture = try await ODataFixture(pageSize: 2)
        await fixture.plant(3)
        let prefer = [("Prefer", "odata.track-changes")]
        var page = await fixture.v2(.get, "customers", headers: prefer)
        while let next = page.path("__next") { page = await fixture.v2(.get, next, headers: prefer) }
        let delta = try #require(page.path("__delta"))
        #expect(delta.contains("!deltatoken='"))
        _ = await fixture.v2(.delete, "customers('c2')")
        let gone = await fixture.v2(.get, delta).json["d"]?["results"]?[0]?["__metadata"]
        #expect(gone?["deleted"] == true)
        let atom = await fixture.v2(.get, delta, headers: [("Accept", "application/atom+xml")])
        #expect(atom.text.contains("<at:deleted-entry"))
    }

    @Test func readsInAtom() async throws {
        let fixture = try await ODataFixture(pageSize: 1)
        await fixture.plant(2)
        _ = await fixture.v4(.patch, "customers('c1')", #"{"name":"<&>\u0001"}"#)
        let accept = [("Accept", "application/atom+xml,application/xml")]
        let feed = await fixture.v2(.get, "customers()?$expand=orders", headers: accept)
        #expect(feed.header("Content-Type") == "application/atom+xml;type=feed;charset=utf-8")
        #expect(feed.text.contains("<d:name>&lt;&amp;&gt;</d:name>"))
        #expect(feed.text.contains(#"<link rel="next" href="http://127.0.0.1:8080/odata/v2/customers()?"#))
        #expect(feed.text.contains("<m:inline><feed>"))
        let entry = await fixture.v2(.get, "customers('c1')", headers: accept)
        #expect(entry.text.contains("m:etag=\"W/&quot;"))
        #expect(entry.text.contains(#"<d:rate m:type="Edm.Double" m:null="true"/>"#))
        let error = await fixture.v2(.get, "customers('none')", headers: accept)
        #expect(error.text.contains("<code>404</code>"))
        #expect(await fixture.v2(.get, "customers?$format=json").json["d"] != nil)
    }
}
