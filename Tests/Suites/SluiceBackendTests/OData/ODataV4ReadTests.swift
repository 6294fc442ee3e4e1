import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct ODataV4ReadTests {
    @Test func serviceDocumentAndMetadata() async throws {
        let fixture = try await ODataFixture()
        let document = await fixture.v4(.get, "")
        #expect(document.status == 200)
        #expect(document.header("OData-Version") == "4.01")
        #expect(document.json["@odata.context"] == "http://127.0.0.1:8080/odata/v4/$metadata")
        #expect(document.json["value"]?[0]?["name"] == "customers")
        let xml = await fixture.v4(.get, "$metadata")
        #expect(xml.header("Content-Type")?.hasPrefix("application/xml") == true)
        #expect(xml.text.contains(#"<EntityType Name="customers" OpenType="true"><Key><PropertyRef Name="id"/></Key>"#))
        #expect(
            xml.text.contains(#"<NavigationProperty Name="orders" Type="Collection(Shop.orders)" Partner="customer">"#))
        #expect(xml.text.contains(#"<ReferentialConstraint Property="customerId" ReferencedProperty="id"/>"#))
        let json = await fixture.v4(.get, "$metadata", headers: [("Accept", "application/json")])
        #expect(json.json["Shop"]?["customers"]?["points"]?["$Type"] == "Edm.Int64")
        let old = await fixture.v4(.get, "", headers: [("OData-MaxVersion", "4.0")])
        #expect(old.header("OData-Version") == "4.0")
        #expect(await fixture.v4(.get, "", headers: [("OData-MaxVersion", "3.0")]).status == 400)
    }

    @Test func entitiesInTheirForms() async throws {
        let fixture = try await ODataFixture()
        let made = await fixture.v4(
            .post, "customers", #"{"id":"a'b","name":"A","points":9007199254740993,"tags":{"x":[1]},"extra":true}"#)
        #expect(made.status == 201)
        #expect(made.header("Location") == "http://127.0.0.1:8080/odata/v4/customers('a''b')")
        let etag = try #require(made.etag)
        #expect(etag.hasPrefix("W/\""))
        let minimal = await fixture.v4(.get, "customers('a''b')")
        #expect(minimal.json["@odata.context"] == "http://127.0.0.1:8080/odata/v4/$metadata#customers/$entity")
        #expect(minimal.json["@odata.etag"] == JSON(etag))
        #expect(minimal.json["points"]?.int == 9_007_199_254_740_993)
        #expect(minimal.json["rate"] == .null)
        #expect(minimal.json["extra"] == true)
        #expect(minimal.json["version"] == nil)
        #expect(minimal.json["deleted"] == nil)
        let full = await fixture.v4(
            .get, "customers(id='a''b')",
            headers: [("Accept", "application/json;odata.metadata=full;IEEE754Compatible=true")])
        #expect(full.json["@odata.type"] == "#Shop.customers")
        #expect(full.json["@odata.editLink"] == "customers('a''b')")
        #expect(full.json["points"] == "9007199254740993")
        #expect(full.json["points@odata.type"] == "#Int64")
        #expect(full.json["orders@odata.navigationLink"] == "http://127.0.0.1:8080/odata/v4/customers('a''b')/orders")
        let bare = await fixture.v4(
            .get, "customers('a''b')", headers: [("Accept", "application/json;odata.metadata=none")])
        #expect(bare.json["@odata.etag"] == nil)
        #expect(await fixture.v4(.get, "customers('a''b')", headers: [("If-None-Match", etag)]).status == 304)
        #expect(await fixture.v4(.get, "customers('a''b')/name/$value").text == "A")
        #expect(await fixture.v4(.get, "customers('a''b')/points").json["value"]?.int == 9_007_199_254_740_993)
        #expect(await fixture.v4(.get, "customers('a''b')/rate").status == 204)
        #expect(await fixture.v4(.get, "customers('none')").status == 404)
        #expect(await fixture.v4(.get, "customers('a''b')", headers: [("Accept", "text/html")]).status == 406)
    }

    @Test func optionsOfLists() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(5)
        #expect(await fixture.v4(.get, "customers?$filter=(points gt 3)").keys == ["c4", "c5"])
        #expect(await fixture.v4(.get, "customers?%24filter=name%20eq%20%27N2%27").keys == ["c2"])
        #expect(await fixture.v4(.get, "customers?$orderby=points desc&$top=2&$skip=1").keys == ["c4", "c3"])
        let counted = await fixture.v4(.get, "customers?$count=true&$top=1&$select=name")
        #expect(counted.json["@odata.count"] == 5)
        #expect(counted.json["value"]?[0]?["points"] == nil)
        #expect(counted.json["value"]?[0]?["@odata.etag"] != nil)
        #expect(await fixture.v4(.get, "customers?filter=points eq 1").keys == ["c1"])
        let number = await fixture.v4(
            .get, "customers/$count?$filter=points lt 3", headers: [("Accept", "application/json")])
        #expect(number.text == "2")
        #expect(number.header("Content-Type") == "text/plain")
        #expect(await fixture.v4(.get, "customers?$filter=nonsense(").status == 400)
        #expect(await fixture.v4(.get, "customers?$apply=aggregate(points)").status == 501)
        #expect(await fixture.v4(.get, "customers?$index=1").status == 501)
        #expect(await fixture.v4(.get, "customers?$filter=version eq 'x'").status == 400)
        let query = await fixture.v4(
            .post, "customers/$query", "$filter=points eq 4", headers: [("Content-Type", "text/plain")])
        #expect(query.keys == ["c4"])
    }

    @Test(arguments: ["customers", "customers?$orderby=points desc", "customers?$top=6", "customers?$skip=1"])
    func pages(_ first: String) async throws {
        let fixture = try await ODataFixture(pageSize: 3)
        await fixture.plant(7)
        var (ids, path): ([String], String?) = ([], first)
        while let next = path, ids.count < 20 {
            let page = await fixture.v4(.get, next)
            #expect(page.keys.count <= 3)
            ids += page.keys
            path = page.path("@odata.nextLink")
        }
        let all = (1...7).map { "c\($0)" }
        switch first {
        case "customers": #expect(ids == all)
        case "customers?$top=6": #expect(ids == Array(all.prefix(6)))
        case "customers?$skip=1": #expect(ids == Array(all.dropFirst()))
        default: #expect(ids == all.reversed())
        }
        let wish = await fixture.v4(.get, "customers", headers: [("Prefer", "odata.maxpagesize=2")])
        #expect(wish.keys.count == 2)
        #expect(wish.header("Preference-Applied") == "odata.maxpagesize=2")
    }

    @Test func aPageBehindADeletedRowLeavesNothingOut() async throws {
        let fixture = try await ODataFixture(pageSize: 2)
        await fixture.plant(4)
        let first = await fixture.v4(.get, "customers")
        _ = await fixture.v4(.delete, "customers('c1')")
        let second = await fixture.v4(.get, try #require(first.path("@odata.nextLink")))
        #expect(second.keys == ["c3", "c4"])
    }

    @Test func navigationAndExpansion() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(3)
        _ = await fixture.v4(.post, "customers('c1')/orders", #"{"id":"o9","total":5}"#)
        #expect(await fixture.v4(.get, "customers('c1')/orders").keys == ["o1", "o9"])
        #expect(await fixture.v4(.get, "customers('c1')/orders/$count").text == "2")
        #expect(await fixture.v4(.get, "orders('o9')/customer").json["id"] == "c1")
        #expect(await fixture.v4(.get, "orders('o9')/customer/name/$value").text == "N1")
        #expect(await fixture.v4(.get, "customers('c1')/orders('o9')/total").json["value"] == 5)
        #expect(await fixture.v4(.get, "customers('c2')/orders('o9')").status == 404)
        #expect(await fixture.v4(.get, "customers('none')/orders").status == 404)
        let expanded = await fixture.v4(
            .get,
            "customers?$expand=orders($filter=total gt 5;$select=total;$count=true;$expand=customer($select=name))")
        let first = expanded.json["value"]?[0]
        #expect(first?["orders@odata.count"] == 1)
        #expect(first?["orders"]?[0]?["total"] == 10)
        #expect(first?["orders"]?[0]?["customerId"] == nil)
        #expect(first?["orders"]?[0]?["customer"]?["name"] == "N1")
        let references = await fixture.v4(.get, "customers('c1')/orders/$ref")
        #expect(references.json["value"]?[0]?["@odata.id"] == "http://127.0.0.1:8080/odata/v4/orders('o1')")
        _ = await fixture.v4(.post, "orders", #"{"id":"lone","total":1}"#)
        #expect(await fixture.v4(.get, "orders('lone')/customer").status == 204)
        #expect(await fixture.v4(.get, "customers?$expand=nothing").status == 400)
    }

    @Test func expansionsAreBounded() async throws {
        let fixture = try await ODataFixture(pageSize: 2)
        await fixture.plant(1)
        for number in 2...6 { _ = await fixture.v4(.post, "orders", #"{"id":"o\#(number)","customerId":"c1"}"#) }
        let page = await fixture.v4(.get, "customers('c1')?$expand=orders")
        #expect(page.json["orders"]?.count == 2)
        let next = try #require(page.path("orders@odata.nextLink"))
        #expect(await fixture.v4(.get, next).keys == ["o3", "o4"])
        var nest = "orders"
        for _ in 1...3 { nest = "orders($expand=customer($expand=\(nest)))" }
        #expect(await fixture.v4(.get, "customers?$expand=\(nest)").status == 400)
    }

    @Test func deltaLinks() async throws {
        let fixture = try await ODataFixture(pageSize: 2)
        await fixture.plant(3)
        let track = [("Prefer", "odata.track-changes")]
        let first = await fixture.v4(.get, "customers?$filter=points lt 10&$select=name", headers: track)
        #expect(first.header("Preference-Applied") == "odata.track-changes")
        #expect(first.json["@odata.deltaLink"] == nil)
        // What changes while the client pages comes behind.
        _ = await fixture.v4(.patch, "customers('c1')", #"{"name":"new"}"#)
        let second = await fixture.v4(.get, try #require(first.path("@odata.nextLink")))
        var third = second
        var rows = second.json["value"]?.elements ?? []
        while let next = third.path("@odata.nextLink") {
            third = await fixture.v4(.get, next)
            rows += third.json["value"]?.elements ?? []
        }
        #expect(rows.contains { $0["name"] == "new" })
        let delta = try #require(third.path("@odata.deltaLink"))
        #expect(await fixture.v4(.get, delta).keys == [])
        _ = await fixture.v4(.patch, "customers('c2')", #"{"points":99}"#)
        _ = await fixture.v4(.delete, "customers('c3')")
        let changes = await fixture.v4(.get, delta)
        let gone = changes.json["value"]?.elements ?? []
        #expect(gone.map { $0["@removed"]?["reason"] } == ["changed", "deleted"])
        #expect(gone.map { $0["id"] } == ["c2", "c3"])
        #expect(changes.json["@odata.context"]?.string?.hasSuffix("#customers(name)/$delta") == true)
        let old = await fixture.v4(.get, delta, headers: [("OData-MaxVersion", "4.0")])
        #expect(old.json["value"]?[1]?["@odata.context"]?.string?.hasSuffix("#customers/$deletedEntity") == true)
        #expect(old.json["value"]?[1]?["reason"] == "deleted")
        #expect(await fixture.v4(.get, "customers?$deltatoken=garbage").status == 400)
        let token = try #require(delta.split(separator: "$deltatoken=").last)
        #expect(await fixture.v4(.get, "orders?$deltatoken=\(token)").status == 410)
    }
}
