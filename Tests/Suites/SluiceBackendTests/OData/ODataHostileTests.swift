import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend
@testable import SluiceWire

/// Requests that no client of good will sends.
@Suite struct ODataHostileTests {
    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test(arguments: [
        "customers(", "customers('a", "customers('a''", "customers(')", "customers(1)", "customers('a')('b')",
        "customers/x",
        "customers('a')/$count", "$count", "customers/$value", "customers('a')/name/name", "$links/x",
        "customers//$ref/$ref",
        "customers(%00)", "customers('%27')", "customers('/')", "customers?$skiptoken=x", "customers?$skiptoken=W10",
        "customers?$top=-1", "customers?$top=99999999999999999999", "customers?$skip=1e3", "customers?$top=1&$top=2",
        "customers?$expand=orders(", "customers?$expand=orders($filter=)", "customers?$expand=orders($expand=orders)",
        "customers?$select=a/b/c", "customers?$deltatoken=", "customers?$orderby=name descending",
        "customers?$unknown=1",
        "customers?$format=text/html",
    ])
    func addressesThatLeadNowhere(_ path: String) async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        let answer = await fixture.v4(.get, path)
        #expect((400...406).contains(answer.status) || answer.status == 501, "\(path): \(answer.status) \(answer.text)")
        let old = await fixture.v2(.get, path)
        #expect((400...406).contains(old.status) || old.status == 501, "\(path): \(old.status) \(old.text)")
    }

    @Test func keysWithEveryCharacter() async throws {
        let fixture = try await ODataFixture()
        for id in ["it's", "''", "100%", "%27", "a(b)c", "a,b=c", "ü 😀", "a&b", "$count", "a#b", "a;b:c@d"] {
            let body = JSON(members: [("id", JSON(id)), ("name", "n")]).description
            let made = await fixture.v4(.post, "customers", body)
            #expect(made.status == 201, "\(id): \(made.text)")
            let path = try #require(made.header("Location")?.dropFirst("http://127.0.0.1:8080/odata/v4/".count))
            let found = await fixture.v4(.get, String(path))
            #expect(found.json["id"] == JSON(id), "\(path)")
            #expect(await fixture.v2(.delete, String(path)).status == 204, "\(path)")
        }
    }

    @Test func brokenBatchesAreRefusedOrAnswered() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        let whole = [
            "--b", "Content-Type: application/http", "", "GET customers HTTP/1.1", "", "--b",
            "Content-Type: multipart/mixed;boundary=c", "", "--c", "Content-Type: application/http", "Content-ID: 1",
            "",
            "POST customers HTTP/1.1", "Content-Length: 12", "", #"{"name":"x"}"#, "--c",
            "Content-Type: application/http", "",
            "DELETE $1 HTTP/1.1", "", "--c--", "--b--", "",
        ].joined(separator: "\r\n")
        var random = Random(state: 7)
        for _ in 0..<400 {
            var bytes = Array(whole.utf8)
            for _ in 0...Int.random(in: 0...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes[..<place].suffix(9), at: place)
                }
            }
            var head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1", path: "/odata/v4/$batch")
            head.headerFields[.contentType] = "multipart/mixed; boundary=b"
            let answer = await fixture.base.backend.respond(to: SyncRequest(head, body: MessageBody(bytes: bytes)))
            #expect(answer.status == 200 || answer.status == 400)
        }
    }

    @Test func aMethodThatAPathDoesNotHave() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        #expect(await fixture.v4(.delete, "customers").status == 405)
        #expect(await fixture.v4(.post, "customers('c1')", "{}").status == 405)
        #expect(await fixture.v4(.post, "$metadata").status == 405)
        #expect(await fixture.v4(.get, "$batch").status == 405)
        #expect(await fixture.v4(.put, "customers/$count", "1").status == 405)
        #expect(
            await fixture.v4(.post, "customers", "<a/>", headers: [("Content-Type", "application/atom+xml")]).status
                == 415)
    }

    @Test func whereODataIsOffThereIsNothing() async throws {
        let fixture = try await BackendFixture(tables: [.init("t")], odata: nil)
        #expect(await fixture.send(.get, "/odata/v4/t", version: nil).status == 404)
    }
}
