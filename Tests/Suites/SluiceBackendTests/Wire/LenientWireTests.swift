import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// What the Node server takes, on the two wires that its clients speak, and what the other wires make of it.
@Suite("Requests that are written loosely") struct LenientWireTests {
    private static let lenient = ["2.0.0", "3.0.0"]

    private func send(
        _ fixture: BackendFixture, _ version: String?, _ method: HTTPRequest.Method, _ path: String,
        _ body: String = "",
        _ headers: [(String, String)] = []
    ) async -> Answer {
        await fixture.send(method, path, body, headers: headers, json: true, version: version)
    }

    @Test("an empty id is none, and a number is the id of that text", arguments: lenient)
    func ids(_ version: String) async throws {
        let fixture = try await BackendFixture.empty()
        let made = await send(fixture, version, .post, "/tables/t", #"{"id":"","x":1}"#)
        #expect(made.status == 201)
        #expect(made.json["id"] == "made-1")
        let number = await send(fixture, version, .post, "/tables/t", #"{"id":1,"x":1}"#)
        #expect(number.status == 201)
        #expect(number.json["id"] == "1")
        #expect(number.header("Location")?.hasSuffix("/tables/t/1") == true)
        #expect(await send(fixture, version, .post, "/tables/t", #"{"id":1}"#).status == 409)
        for id in ["1.5", "true", "[1]", "1e400", "\"a/b\""] {
            #expect(await send(fixture, version, .post, "/tables/t", #"{"id":\#(id)}"#).status == 400, "\(id)")
        }
    }

    @Test("a PATCH of the table changes the record that its body names", arguments: lenient)
    func patch(_ version: String) async throws {
        let fixture = try await BackendFixture.empty()
        _ = await send(fixture, version, .post, "/tables/t", #"{"id":"1","x":1,"y":2}"#)
        for id in ["\"1\"", "1"] {
            let answer = await send(fixture, version, .patch, "/tables/t", #"{"id":\#(id),"x":\#(id)}"#)
            #expect(answer.status == 200)
            #expect(answer.json["y"] == 2)
        }
        let stale = [("If-Match", "\"AAAA\"")]
        #expect(await send(fixture, version, .patch, "/tables/t", #"{"id":"1","x":3}"#, stale).status == 412)
        #expect(await send(fixture, version, .patch, "/tables/t", #"{"id":"2"}"#).status == 404)
        for body in ["{}", #"{"id":""}"#, #"{"id":null,"x":1}"#, "[]"] {
            #expect(await send(fixture, version, .patch, "/tables/t", body).status == 400, "\(body)")
        }
    }

    @Test("If-Match may be the version without quotes, and no other", arguments: lenient)
    func bare(_ version: String) async throws {
        let fixture = try await BackendFixture.empty()
        let first = await send(fixture, version, .post, "/tables/t", #"{"id":"a","x":1}"#)
        func status(_ field: String) async -> Int {
            await send(fixture, version, .patch, "/tables/t/a", #"{"x":2}"#, [("If-Match", field)]).status
        }
        for field in ["W/\(first.version)", "y, x", "\"\(first.version)", "x", ""] {
            #expect(await status(field) == 412, "\(field)")
        }
        #expect(await status(first.version) == 200)
        #expect(await status(first.version) == 412)
    }

    @Test("what another record has is null, also after that one is gone, and not in a selection", arguments: lenient)
    func lacking(_ version: String) async throws {
        let fixture = try await BackendFixture(.init("t", softDelete: false, columns: [.init("n", .integer)]))
        _ = await send(fixture, version, .post, "/tables/t", #"{"id":"a","x":1}"#)
        _ = await send(fixture, version, .post, "/tables/t", #"{"id":"b","y":{"z":2}}"#)
        _ = await send(fixture, version, .delete, "/tables/t/b")
        let list = await send(fixture, version, .get, "/tables/t")
        let row = try #require((list.json["items"] ?? list.json).elements?.first)
        #expect(row["x"] == 1 && row["y"] == JSON.null && row["n"] == JSON.null && row["z"] == nil)
        #expect(await send(fixture, version, .get, "/tables/t/a").json == row)
        let selected = await send(fixture, version, .get, "/tables/t?$select=id,n")
        #expect((selected.json["items"] ?? selected.json).elements == [["id": "a", "n": .null]])
        // The stored record is as it was.
        let other = await send(fixture, nil, .get, "/tables/t/a")
        #expect(other.json["y"] == nil && other.json["x"] == 1)
    }

    @Test(
        "what a record has that is not seen is not null in others: another user's, outside of the view, or a hook's",
        arguments: lenient)
    func lackingWhatIsHidden(_ version: String) async throws {
        struct Hiding: TableHooks {
            func before(_ request: inout HookRequest) async throws {
                request.filter = try QueryExpression(odata: "n eq 1")
            }
        }
        var viewed = BackendConfiguration.Table("viewed", columns: [.init("n", .integer)])
        viewed.view = try QueryExpression(odata: "n eq 1")
        let fixture = try await BackendFixture(
            tables: [
                .init("owned", columns: [.init("owner", .string), .init("n", .integer)], perUser: "owner"), viewed,
                .init("hooked", columns: [.init("n", .integer)]),
            ],
            authentication: .init(secret: .text(TestToken.secret)), hooks: ["hooked": Hiding()])
        for table in ["owned", "viewed", "hooked"] {
            for (id, user, body) in [("b", "bob", #""n":2,"secret":1"#), ("a", "ann", #""n":1"#)] {
                let answer = await fixture.send(
                    .post, "/tables/\(table)", #"{"id":"\#(id)",\#(body)}"#,
                    headers: [("X-ZUMO-AUTH", try await TestToken.user(user))], json: true, version: version)
                #expect(answer.status == 201)
            }
            for path in ["/tables/\(table)", "/tables/\(table)/a"] {
                let answer = await fixture.send(
                    .get, path, headers: [("X-ZUMO-AUTH", try await TestToken.user("ann"))], version: version)
                #expect(answer.status == 200 && answer.text.contains(#""n":1"#), "\(answer.text)")
                #expect(!answer.text.contains("secret"), "\(answer.text)")
            }
        }
    }

    @Test("many names make no list large") func many() async throws {
        let fixture = try await BackendFixture.empty()
        let names = (0..<300).map { #""p\#($0)":1"# }.joined(separator: ",")
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a",\#(names)}"#)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"b"}"#)
        #expect(await fixture.send(.get, "/tables/t/b").json.names.count < 250)
    }

    @Test("the other wires take none of it") func strict() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        let key = [("X-ZUMO-APPLICATION", "")]
        for headers in [[], key] {
            for body in [#"{"id":""}"#, #"{"id":1}"#] {
                #expect(await send(fixture, nil, .post, "/tables/t", body, headers).status == 400)
            }
            #expect(await send(fixture, nil, .patch, "/tables/t", #"{"id":"a"}"#, headers).status == 405)
        }
    }

    @Test("a refusal repeats no credential of its request") func credentials() async throws {
        let fixture = try await BackendFixture.empty()
        let token = "s3cret-token-0123456789"
        for field in ["X-ZUMO-AUTH", "Authorization", "Cookie", "X-Api-Key"] {
            let answer = await fixture.send(
                .get, "/tables/t?$filter=x eq \(token)", headers: [(field, "Bearer \(token)")])
            #expect(answer.status == 400)
            #expect(!String(decoding: answer.response.body.bytes, as: UTF8.self).contains(token), "\(answer.error)")
        }
    }
}
