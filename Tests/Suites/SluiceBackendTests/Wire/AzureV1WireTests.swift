import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// What Mobile Services answered to its clients.
@Suite("The azure-v1 wire") struct AzureV1WireTests {
    private func send(
        _ fixture: BackendFixture, _ method: HTTPRequest.Method, _ path: String, _ body: String = "",
        headers: [(String, String)] = []
    ) async -> Answer {
        await fixture.send(method, path, body, headers: headers + [("X-ZUMO-APPLICATION", "key")], version: nil)
    }

    @Test(
        "System columns come when they are asked for, by either spelling",
        arguments: [
            ("", []), ("?__systemproperties=*", ["__createdAt", "__updatedAt", "__version", "__deleted"]),
            ("?__systemProperties=__version,__updatedAt", ["__updatedAt", "__version"]),
            ("?__SYSTEMPROPERTIES=version", ["__version"]), ("?__systemProperties=", []),
        ] as [(String, [PropertyName])])
    func systemProperties(query: String, names: [PropertyName]) async throws {
        let fixture = try await BackendFixture.empty()
        _ = await send(fixture, .post, "/tables/t", #"{"id":"a","x":1}"#)
        let one = await send(fixture, .get, "/tables/t/a\(query)")
        #expect(Set(one.json.names) == Set(["id", "x"] + names))
        let list = await send(fixture, .get, "/tables/t\(query)")
        #expect(list.json == JSON([one.json]))
        #expect(one.etag != nil)
    }

    @Test("System columns that are asked for come beside a selection") func selection() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await send(fixture, .post, "/tables/t", #"{"id":"a","x":1,"y":2}"#)
        for (query, names) in [
            ("$select=x&__systemProperties=__version", ["x", "__version"]),
            ("$select=x,__version", ["x", "__version"]),
            ("$select=x,__version&__systemProperties=version,deleted", ["x", "__version", "__deleted"]),
            ("$select=x", ["x"]),
        ] as [(String, [PropertyName])] {
            let list = await send(fixture, .get, "/tables/t?\(query)")
            #expect(Set(list.json[0]?.names ?? []) == Set(names), "\(query)")
        }
    }

    @Test("Queries name them with underscores") func queries() async throws {
        let fixture = try await BackendFixture.empty()
        for id in ["a", "b"] { _ = await send(fixture, .post, "/tables/t", #"{"id":"\#(id)"}"#) }
        let path =
            "/tables/t?$filter=(__updatedAt ge datetimeoffset'1970-01-01T00:00:00.0000000%2B00:00')"
            + "&$orderby=__updatedAt desc&$skip=0&$top=50&__includeDeleted=true&__systemproperties=__updatedAt,__deleted"
        let answer = await send(fixture, .get, path)
        #expect(answer.status == 200)
        #expect(answer.ids == ["b", "a"])
        #expect(Set(answer.json[0]?.names ?? []) == ["id", "__updatedAt", "__deleted"])
        let unprefixed = await send(fixture, .get, "/tables/t?$filter=updatedAt ne null")
        #expect(unprefixed.status == 400)
        #expect(unprefixed.error.contains("updatedAt"))
    }

    @Test(
        "A body that holds one is refused",
        arguments: ["__version", "__createdAt", "__updatedAt", "__deleted", "__other", "version"])
    func reserved(name: String) async throws {
        let fixture = try await BackendFixture.empty()
        #expect(await send(fixture, .post, "/tables/t", #"{"id":"a","\#(name)":"x"}"#).status == 400)
        _ = await send(fixture, .post, "/tables/t", #"{"id":"a"}"#)
        #expect(await send(fixture, .patch, "/tables/t/a", #"{"\#(name)":"x"}"#).status == 400)
    }

    @Test("A stale change is 412 with the server's record and version") func conflict() async throws {
        let fixture = try await BackendFixture.empty()
        let a = await send(fixture, .post, "/tables/t?__systemProperties=__version", #"{"id":"a","x":1}"#)
        let version = a.json["__version"]?.string ?? ""
        #expect(a.etag == "\"\(version)\"")
        let stale = await send(
            fixture, .patch, "/tables/t/a", #"{"x":2}"#, headers: [("If-Match", "\"other\"")])
        #expect(stale.status == 412)
        #expect(stale.json["__version"]?.string == version)
        #expect(stale.json["x"] == 1)
        let fresh = await send(
            fixture, .patch, "/tables/t/a", #"{"x":2}"#, headers: [("If-Match", "\"\(version)\"")])
        #expect(fresh.status == 200)
    }

    @Test("A tombstone is 404 by its id, and comes back by POST") func tombstone() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await send(fixture, .post, "/tables/t", #"{"id":"a","x":1}"#)
        #expect(await send(fixture, .delete, "/tables/t/a").status == 204)
        #expect(await send(fixture, .get, "/tables/t/a").status == 404)
        let back = await send(fixture, .post, "/tables/t/a?__systemProperties=__deleted")
        #expect(back.status == 201)
        #expect(back.json == ["id": "a", "x": 1, "__deleted": false])
    }

    @Test("The next page is told in a Link header, with the parameters of this one") func link() async throws {
        let fixture = try await BackendFixture(
            .init("t", seed: .records((0..<3).map { ["id": JSON("\($0)")] }), pageSize: 2))
        let first = await send(fixture, .get, "/tables/t?$inlinecount=allpages&__systemproperties=version")
        #expect(first.json["count"] == 3)
        #expect(first.next == "/tables/t?$inlinecount=allpages&__systemproperties=version&$skip=2")
    }
}
