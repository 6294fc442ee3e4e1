import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct ODataV4WriteTests {
    @Test func changesUnderTheirTags() async throws {
        let fixture = try await ODataFixture()
        let made = await fixture.v4(.post, "customers", #"{"id":"a","name":"A","points":1}"#)
        let etag = try #require(made.etag)
        let changed = await fixture.v4(.patch, "customers('a')", #"{"points":2}"#, headers: [("If-Match", etag)])
        #expect(changed.status == 204)
        #expect(changed.etag != nil && changed.etag != etag)
        let stale = await fixture.v4(.patch, "customers('a')", #"{"points":3}"#, headers: [("If-Match", etag)])
        #expect(stale.status == 412)
        #expect(stale.json["error"]?["code"] == "412")
        let shown = await fixture.v4(
            .patch, "customers('a')", #"{"points":4}"#,
            headers: [("If-Match", "*"), ("Prefer", "return=representation")])
        #expect(shown.status == 200)
        #expect(shown.json["points"] == 4)
        #expect(shown.header("Preference-Applied") == "return=representation")
        _ = await fixture.v4(.put, "customers('a')", #"{"points":5}"#)
        #expect(await fixture.v4(.get, "customers('a')").json["name"] == .null)
        #expect(await fixture.v4(.put, "customers('a')/name", #"{"value":"B"}"#).status == 204)
        #expect(await fixture.v4(.get, "customers('a')/name/$value").text == "B")
        #expect(await fixture.v4(.delete, "customers('a')/name").status == 204)
        #expect(await fixture.v4(.get, "customers('a')/name").status == 204)
        #expect(await fixture.v4(.delete, "customers('a')", headers: [("If-Match", etag)]).status == 412)
        #expect(await fixture.v4(.delete, "customers('a')").status == 204)
        #expect(await fixture.v4(.delete, "customers('a')").status == 404)
        // What is deleted is not there, so its key is free.
        #expect(await fixture.v4(.post, "customers", #"{"id":"a","name":"again"}"#).status == 201)
        #expect(await fixture.v4(.post, "customers", #"{"id":"a"}"#).status == 409)
    }

    @Test func theSwitchForConditions() async throws {
        let fixture = try await ODataFixture(odata: .init(requiresIfMatch: true))
        await fixture.plant(1)
        #expect(await fixture.v4(.patch, "customers('c1')", #"{"points":2}"#).status == 428)
        #expect(await fixture.v2(.delete, "customers('c1')").status == 428)
        #expect(
            await fixture.v4(.patch, "customers('c1')", #"{"points":2}"#, headers: [("If-Match", "*")]).status == 204)
    }

    @Test func tunnelledMethods() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        for (name, value) in [("X-HTTP-Method", "MERGE"), ("X-HTTP-Method-Override", "PATCH")] {
            #expect(
                await fixture.v4(.post, "customers('c1')", #"{"points":8}"#, headers: [(name, value)]).status == 204)
        }
        #expect(await fixture.v4(.get, "customers('c1')").json["points"] == 8)
        #expect(await fixture.v4(.patch, "customers('c1')", "{}", headers: [("X-HTTP-Method", "DELETE")]).status == 400)
        #expect(await fixture.v4(.post, "customers('c1')", headers: [("X-HTTP-Method", "DELETE")]).status == 204)
    }

    @Test(arguments: [#"{"points":"many"}"#, #"{"active":1}"#, #"{"since":"yesterday"}"#, #"{"name":5}"#, "[]", "{"])
    func valuesOfOtherTypesAreRefused(_ body: String) async throws {
        let fixture = try await ODataFixture()
        #expect(await fixture.v4(.post, "customers", body).status == 400)
    }

    @Test func bodiesAsOtherClientsWriteThem() async throws {
        let fixture = try await ODataFixture()
        let body =
            ##"{"@odata.type":"#Shop.customers","name@odata.type":"String","id":null,"name":"N","rate":null,"createdAt":null}"##
        let made = await fixture.v4(.post, "customers", body, headers: [("Prefer", "return=minimal")])
        #expect(made.status == 204)
        #expect(made.header("OData-EntityId") == made.header("Location"))
        #expect(made.header("Location")?.hasSuffix("customers('made-1')") == true)
    }

    @Test func deepInsertsAndBindings() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        let deep = await fixture.v4(
            .post, "customers", #"{"id":"d","orders":[{"id":"d1","total":1},{"id":"d2"}]}"#)
        #expect(deep.status == 201)
        #expect(deep.json["orders"]?.count == 2)
        #expect(await fixture.v4(.get, "customers('d')/orders").keys == ["d1", "d2"])
        // One that cannot be made takes the others with it.
        let failed = await fixture.v4(.post, "customers", #"{"id":"e","orders":[{"id":"e1"},{"id":"d1"}]}"#)
        #expect(failed.status == 409)
        #expect(await fixture.v4(.get, "customers('e')").status == 404)
        #expect(await fixture.v4(.get, "orders('e1')").status == 404)
        let bound = await fixture.v4(.post, "orders", #"{"id":"b","customer@odata.bind":"customers('d')"}"#)
        #expect(bound.json["customerId"] == "d")
        #expect(await fixture.v4(.post, "orders", #"{"customer":{"@id":"customers('none')"}}"#).status == 400)
        #expect(await fixture.v4(.patch, "orders('b')", #"{"customer":{"@id":"customers('c1')"}}"#).status == 204)
        #expect(await fixture.v4(.get, "orders('b')").json["customerId"] == "c1")
        let new = await fixture.v4(.post, "orders", #"{"id":"n","customer":{"id":"n","name":"New"}}"#)
        #expect(new.json["customer"]?["name"] == "New")
        #expect(await fixture.v4(.delete, "orders('b')/customer/$ref").status == 204)
        #expect(await fixture.v4(.get, "orders('b')/customer").status == 204)
        let root = "http://127.0.0.1:8080/odata/v4/"
        #expect(
            await fixture.v4(.put, "orders('b')/customer/$ref", #"{"@odata.id":"\#(root)customers('d')"}"#).status
                == 204)
        #expect(await fixture.v4(.post, "customers('c1')/orders/$ref", #"{"@odata.id":"orders('b')"}"#).status == 204)
        #expect(await fixture.v4(.get, "orders('b')").json["customerId"] == "c1")
        #expect(await fixture.v4(.delete, "customers('c1')/orders/$ref?$id=orders('b')").status == 204)
        #expect(await fixture.v4(.get, "orders('b')").json["customerId"] == .null)
    }

    @Test func requestIdsMakeRepeatsHarmless() async throws {
        let fixture = try await ODataFixture()
        let headers = [
            ("Repeatability-Request-ID", "r1"), ("Repeatability-First-Sent", "Mon, 06 May 2024 07:08:09 GMT"),
        ]
        let body = #"{"name":"once","orders":[{"total":1},{"total":2}]}"#
        let first = await fixture.v4(.post, "customers", body, headers: headers)
        let second = await fixture.v4(.post, "customers", body, headers: headers)
        #expect(first.status == 201)
        #expect(first.header("Repeatability-Result") == "accepted")
        #expect(second.json["id"] == first.json["id"])
        #expect(await fixture.v4(.get, "customers/$count").text == "1")
        #expect(await fixture.v4(.get, "orders/$count").text == "2")
        let refused = await fixture.v4(
            .delete, "customers('none')", headers: [("Repeatability-Request-ID", "r2"), headers[1]])
        #expect(refused.status == 404)
        #expect(refused.header("Repeatability-Result") == "accepted")
        let other = await fixture.v4(.post, "customers", #"{"name":"other"}"#, headers: headers)
        #expect(other.status == 400)
        #expect(other.header("Repeatability-Result") == "rejected")
    }

    @Test func changesNeedTheTokenWhereItIsRequired() async throws {
        let fixture = try await ODataFixture(odata: .init(requiresCSRFToken: true))
        let refused = await fixture.v4(.post, "customers", "{}")
        #expect(refused.status == 403)
        #expect(refused.header("X-CSRF-Token") == "Required")
        let fetched = await fixture.v2(.get, "", headers: [("X-CSRF-Token", "Fetch")])
        let token = try #require(fetched.header("X-CSRF-Token"))
        let cookie = try #require(fetched.header("Set-Cookie")?.split(separator: ";").first.map(String.init))
        let headers = [("X-CSRF-Token", token), ("Cookie", "other=1; \(cookie)")]
        #expect(await fixture.v4(.post, "customers", "{}", headers: headers).status == 201)
        #expect(await fixture.v4(.post, "customers", "{}", headers: [headers[0]]).status == 403)
        #expect(await fixture.v2(.post, "$batch", "", headers: [headers[1]]).status == 403)
        let other = await fixture.v2(.get, "", headers: [("X-CSRF-Token", "Fetch")])
        #expect(other.header("X-CSRF-Token") != token)
    }
}
