import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// What the servers of versions 5 and 6 answer.
@Suite("The azure-v3 wire") struct AzureV3WireTests {
    private static let version = "3.0.0"

    private func fixture() async throws -> (BackendFixture, Answer) {
        let fixture = try await BackendFixture.empty()
        let body = #"{"id":"a","x":1,"list":[1,2]}"#
        return (fixture, await fixture.send(.post, "/tables/t", body, json: true, version: Self.version))
    }

    private func patch(_ fixture: BackendFixture, _ body: String, type: String = "application/json") async -> Answer {
        await fixture.send(
            .patch, "/tables/t/a", body, headers: [("Content-Type", type)], version: Self.version)
    }

    @Test("A list leaves out what it has not; its link is a URL, or a path where that is asked for")
    func list() async throws {
        let (fixture, a) = try await fixture()
        #expect(await fixture.send(.get, "/tables/t", version: Self.version).json == ["items": [a.json]])
        let movies = try await BackendFixture.movies()
        let first = await movies.send(.get, "/tables/movies?$count=true", version: Self.version)
        #expect(first.json["count"] == 248)
        #expect(first.json["nextLink"] == "http://127.0.0.1:8080/tables/movies?$count=true&$skip=100")
        let path = await movies.send(
            .get, "/tables/movies", headers: [("X-ZUMO-Options", "nextLink=path")], version: Self.version)
        #expect(path.json["nextLink"] == "/tables/movies?$skip=100")
    }

    @Test("Tombstones come where the query or a header asks for them") func deleted() async throws {
        let (fixture, _) = try await fixture()
        #expect(await fixture.send(.delete, "/tables/t/a", version: Self.version).status == 204)
        #expect(await fixture.send(.get, "/tables/t", version: Self.version).json == ["items": []])
        let asked = await fixture.send(.get, "/tables/t?__includedeleted=true", version: Self.version)
        #expect(asked.json["items"]?.count == 1)
        let header = await fixture.send(
            .get, "/tables/t", headers: [("X-ZUMO-Options", "include:deleted")], version: Self.version)
        #expect(header.json == asked.json)
        #expect(await fixture.send(.get, "/tables/t/a", version: Self.version).status == 410)
    }

    @Test("PATCH merges, and brings a tombstone back; nothing else touches one") func patches() async throws {
        let (fixture, _) = try await fixture()
        let merged = await patch(fixture, #"{"y":2}"#)
        #expect(merged.status == 200)
        #expect(merged.json["x"] == 1 && merged.json["y"] == 2)
        _ = await fixture.send(.delete, "/tables/t/a", version: Self.version)
        #expect(await patch(fixture, #"{"y":3}"#).status == 410)
        let back = await patch(fixture, #"{"deleted":false}"#)
        #expect(back.status == 200)
        #expect(back.json["deleted"] == false && back.json["y"] == 2)
    }

    @Test(
        "A PATCH that touches what only the server sets is refused",
        arguments: [
            #"{"id":"b"}"#, #"{"version":"x"}"#, #"{"updatedAt":"1999-01-01T00:00:00.000Z"}"#, #"{"deleted":true}"#,
        ])
    func touching(_ body: String) async throws {
        let (fixture, a) = try await fixture()
        let answer = await patch(fixture, body)
        #expect(answer.status == 400)
        #expect(answer.header("Content-Type") == "application/problem+json")
        #expect(answer.json["status"] == 400)
        #expect(await fixture.send(.get, "/tables/t/a", version: Self.version).json == a.json)
    }

    @Test(
        "A JSON patch changes a record step by step",
        arguments: [
            (#"[{"op":"replace","path":"/x","value":5}]"#, "x", "5"),
            (#"[{"op":"add","path":"/list/-","value":3},{"op":"remove","path":"/list/0"}]"#, "list", "[2,3]"),
            (#"[{"op":"test","path":"/x","value":1},{"op":"move","from":"/x","path":"/y"}]"#, "y", "1"),
            (#"[{"op":"copy","from":"/list","path":"/z"}]"#, "z", "[1,2]"),
            (#"[{"op":"add","path":"/a~1b","value":null}]"#, "a/b", "null"),
        ])
    func jsonPatch(body: String, name: String, value: String) async throws {
        let (fixture, _) = try await fixture()
        let answer = await patch(fixture, body, type: "application/json-patch+json")
        #expect(answer.status == 200)
        #expect(try answer.json[name] == JSON(parsing: Array(value.utf8)))
    }

    @Test(
        "A JSON patch that cannot be made changes nothing",
        arguments: [
            ("{}", 400), (#"[{"op":"add","path":"/x"}]"#, 400), (#"[{"op":"swap","path":"/x"}]"#, 400),
            (#"[{"op":"remove","path":"/none"}]"#, 400), (#"[{"op":"replace","path":"/version","value":"x"}]"#, 400),
            (#"[{"op":"replace","path":"/id","value":"x"}]"#, 400), (#"[{"op":"remove","path":""}]"#, 400),
            (#"[{"op":"add","path":"/list/9","value":1}]"#, 400), (#"[{"op":"test","path":"/x","value":2}]"#, 409),
            (#"[{"op":"add","path":"/list/01","value":1}]"#, 400),
        ])
    func badPatch(body: String, status: Int) async throws {
        let (fixture, a) = try await fixture()
        #expect(await patch(fixture, body, type: "application/json-patch+json").status == status)
        #expect(await fixture.send(.get, "/tables/t/a", version: Self.version).json == a.json)
    }

    @Test("PUT replaces, also with all that the server sends in the body") func put() async throws {
        let (fixture, a) = try await fixture()
        var body = a.json
        body["x"] = 7
        let answer = await fixture.send(.put, "/tables/t/a", body.description, json: true, version: Self.version)
        #expect(answer.status == 200)
        #expect(answer.json["x"] == 7)
    }

    @Test("A refusal is a problem with its status") func problem() async throws {
        let (fixture, _) = try await fixture()
        let answer = await fixture.send(.get, "/tables/t/none", version: Self.version)
        #expect(answer.status == 404)
        #expect(answer.json["title"] == "Not Found")
        #expect(answer.json["detail"] == "The item does not exist")
    }
}
