import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// What the Datasync Community Toolkit's server answers, and so what this backend answers to its clients.
@Suite("The datasync wire") struct DatasyncWireTests {
    private func fixture() async throws -> (BackendFixture, Answer) {
        let fixture = try await BackendFixture.empty()
        return (fixture, await fixture.send(.post, "/tables/t", #"{"id":"a","x":1}"#, json: true, version: nil))
    }

    @Test("A list is an object with its count and link, or null in their place") func list() async throws {
        let (fixture, a) = try await fixture()
        let answer = await fixture.send(.get, "/tables/t", version: nil)
        #expect(answer.json == ["items": [a.json], "count": .null, "nextLink": .null])
        #expect(a.json["createdAt"] == nil)
        let counted = await fixture.send(.get, "/tables/t?$count=true&$top=0", version: nil)
        #expect(counted.json == ["items": [], "count": 1, "nextLink": .null])
    }

    @Test("The link to the next page is a query without a question mark") func nextLink() async throws {
        let movies = try await BackendFixture.movies()
        let first = await movies.send(.get, "/tables/movies?$orderby=title&$top=120", version: nil)
        #expect(first.json["nextLink"] == "$orderby=title&$skip=100&$top=20")
        let second = await movies.send(.get, "/tables/movies?\(first.json["nextLink"]?.string ?? "")", version: nil)
        #expect(second.json["items"]?.count == 20)
        #expect(second.json["nextLink"] == .null)
    }

    @Test("A record comes with its version and time in the header") func lookup() async throws {
        let (fixture, a) = try await fixture()
        let answer = await fixture.send(.get, "/tables/t/a", version: nil)
        #expect(answer.status == 200)
        #expect(answer.json == a.json)
        #expect(answer.etag == "\"\(a.version)\"")
        #expect(answer.header("Last-Modified") == "Mon, 06 May 2024 07:08:09 GMT")
        #expect(a.header("Location")?.hasSuffix("/tables/t/a") == true)
    }

    @Test(
        "Conditions are looked at in their order",
        arguments: [
            ("GET", "If-None-Match", "CURRENT", 304), ("GET", "If-None-Match", "\"other\"", 200),
            ("GET", "If-Match", "\"other\"", 412), ("GET", "If-Match", "CURRENT", 200),
            ("GET", "If-Modified-Since", "Mon, 06 May 2024 07:08:09 GMT", 304),
            ("GET", "If-Modified-Since", "Mon, 06 May 2024 07:08:08 GMT", 200),
            ("PUT", "If-Match", "\"other\"", 412), ("PUT", "If-Match", "CURRENT", 200), ("PUT", "If-Match", "*", 200),
            ("PUT", "If-Match", "W/CURRENT", 412), ("PUT", "If-None-Match", "CURRENT", 412),
            ("PUT", "If-Unmodified-Since", "Mon, 06 May 2024 07:08:08 GMT", 412),
            ("PUT", "If-Unmodified-Since", "Mon, 06 May 2024 07:08:09 GMT", 200),
            ("DELETE", "If-Match", "\"other\"", 412), ("DELETE", "If-Match", "CURRENT", 204),
        ])
    func conditions(method: String, field: String, value: String, status: Int) async throws {
        let (fixture, a) = try await fixture()
        let value = value.replacing("CURRENT", with: "\"\(a.version)\"")
        let body = method == "PUT" ? #"{"id":"a","x":2}"# : ""
        let answer = await fixture.send(
            HTTPRequest.Method(method)!, "/tables/t/a", body, headers: [(field, value)], json: true, version: nil)
        #expect(answer.status == status)
        if status == 412 {
            #expect(answer.json == a.json)
            #expect(answer.etag == "\"\(a.version)\"")
            #expect(answer.header("Last-Modified") != nil)
        }
    }

    @Test("PUT replaces a record whole, and passes over what only the server sets") func put() async throws {
        let (fixture, a) = try await fixture()
        let body = #"{"id":"a","y":2,"version":"x","updatedAt":"1999-01-01T00:00:00Z","deleted":true}"#
        let answer = await fixture.send(.put, "/tables/t/a", body, json: true, version: nil)
        #expect(answer.status == 200)
        #expect(answer.json["y"] == 2)
        #expect(answer.json["x"] == nil)
        #expect(answer.json["deleted"] == false)
        #expect(answer.version != a.version && answer.version != "x")
        let other = await fixture.send(.put, "/tables/t/a", #"{"id":"b"}"#, json: true, version: nil)
        #expect(other.status == 400)
        let missing = await fixture.send(.put, "/tables/t/none", "{}", json: true, version: nil)
        #expect(missing.status == 404)
        #expect(missing.response.body.isEmpty)
    }

    @Test("A tombstone is gone by its id until it is asked for, and comes back by PUT") func tombstone() async throws {
        let (fixture, _) = try await fixture()
        #expect(await fixture.send(.delete, "/tables/t/a", version: nil).status == 204)
        for (method, body) in [(HTTPRequest.Method.get, ""), (.put, #"{"id":"a"}"#), (.delete, "")] {
            let answer = await fixture.send(method, "/tables/t/a", body, json: true, version: nil)
            #expect(answer.status == 410)
            #expect(answer.response.body.isEmpty)
        }
        let shown = await fixture.send(.get, "/tables/t/a?__includedeleted=true", version: nil)
        #expect(shown.json["deleted"] == true)
        let again = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#, json: true, version: nil)
        #expect(again.status == 409)
        #expect(again.json == shown.json)
        let back = await fixture.send(
            .put, "/tables/t/a?__includedeleted=true", #"{"id":"a","x":9,"deleted":false}"#,
            headers: [("If-Match", "\"\(shown.version)\"")], json: true, version: nil)
        #expect(back.status == 200)
        #expect(back.json["deleted"] == false)
        #expect(back.json["x"] == 9)
    }

    @Test("There is no PATCH, and no undelete by POST") func methods() async throws {
        let (fixture, _) = try await fixture()
        for method in [HTTPRequest.Method.patch, .post] {
            let answer = await fixture.send(method, "/tables/t/a", "{}", json: true, version: nil)
            #expect(answer.status == 405)
            #expect(answer.header("Allow") == "GET, PUT, DELETE")
        }
    }

    @Test("A body must be declared as JSON") func mediaType() async throws {
        let (fixture, _) = try await fixture()
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"b"}"#, version: nil).status == 415)
        let typed = await fixture.send(
            .post, "/tables/t", #"{"id":"b"}"#, headers: [("Content-Type", "application/json; charset=utf-8")],
            version: nil)
        #expect(typed.status == 201)
    }

    @Test("An id is made where there is none") func madeID() async throws {
        let (fixture, _) = try await fixture()
        let answer = await fixture.send(.post, "/tables/t", #"{"x":1}"#, json: true, version: nil)
        #expect(answer.status == 201)
        #expect(answer.json["id"] == "made-1")
    }
}
