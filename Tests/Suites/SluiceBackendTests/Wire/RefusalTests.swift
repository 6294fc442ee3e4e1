import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("Bad input") struct RefusalTests {
    @Test(
        "A bad request is answered with its reason and changes nothing",
        arguments: [
            ("POST", "/tables/t", "", 400, "no body"), ("POST", "/tables/t", "{", 400, "line 1"),
            ("POST", "/tables/t", "[]", 400, "object"), ("POST", "/tables/t", "null", 400, "object"),
            ("POST", "/tables/t", #"{"id":true}"#, 400, "id"), ("POST", "/tables/t", #"{"id":1.5}"#, 400, "id"),
            ("POST", "/tables/t", #"{"id":"a/b"}"#, 400, "id"), ("POST", "/tables/t", #"{"id":".."}"#, 400, "id"),
            ("POST", "/tables/t", #"{"a":1,"a":2}"#, 400, "repeated"),
            ("POST", "/tables/t", #"{"deleted":false}"#, 400, "reserved"),
            ("PATCH", "/tables/t/a", #"{"updatedAt":null}"#, 400, "reserved"),
            ("PUT", "/tables/t/a", #"{"createdAt":"x"}"#, 400, "reserved"),
            ("PATCH", "/tables/t/a", #"{"id":"b"}"#, 400, "path"), ("PATCH", "/tables/t/a", "x", 400, "JSON"),
            ("PATCH", "/tables/t/none", "{}", 404, "does not exist"),
            ("PUT", "/tables/t/none", "{}", 404, "does not exist"),
            ("DELETE", "/tables/t/none", "", 404, "does not exist"),
            ("POST", "/tables/t/none", "", 404, "does not exist"),
            ("GET", "/tables/t/none", "", 404, "does not exist"), ("GET", "/tables/none", "", 404, "table"),
            ("GET", "/tables/t/a%2Fb", "", 400, "id"), ("GET", "/", "", 404, "/tables"),
            ("GET", "/tables/t/a/b", "", 404, "/tables"), ("PUT", "/tables/t", "{}", 405, "GET, PATCH, POST"),
        ] as [(String, String, String, Int, String)])
    func refused(method: String, path: String, body: String, status: Int, reason: String) async throws {
        let fixture = try await BackendFixture.empty()
        let before = await fixture.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        let answer = await fixture.send(HTTPRequest.Method(method)!, path, body)
        #expect(answer.status == status)
        #expect(answer.error.contains(reason), "\(answer.error)")
        #expect((answer.header("Allow") != nil) == (status == 405))
        #expect(await fixture.send(.get, "/tables/t").json == JSON([before.json]))
    }

    @Test(
        "An unknown version of the protocol is refused, in a header or in the query of any case",
        arguments: [
            ("1.0", "", 400), ("4.0.0", "", 400), ("2.0.", "", 400), ("2.0.0", "", 200), ("2.0.17", "", 200),
            (nil, "?zumo-api-version=2.0.0", 200), (nil, "?ZUMO-API-VERSION=2.0.0", 200), ("3.0.0", "", 200),
            ("2.0.0", "?zumo-api-version=9", 400), (nil, "", 200),
        ] as [(String?, String, Int)])
    func apiVersion(header: String?, query: String, status: Int) async throws {
        let fixture = try await BackendFixture.empty()
        let answer = await fixture.send(.get, "/tables/t\(query)", version: header)
        #expect(answer.status == status)
        if status == 400 { #expect(answer.error.contains("ZUMO-API-VERSION of 2.0.0")) }
    }
}
