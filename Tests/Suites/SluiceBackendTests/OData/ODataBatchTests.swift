import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct ODataBatchTests {
    private func multipart(_ text: String, boundary: String = "b") -> (body: String, headers: [(String, String)]) {
        (text, [("Content-Type", "multipart/mixed;boundary=\(boundary)")])
    }

    private func send(_ fixture: ODataFixture, _ text: String, v2: Bool = false, prefer: String? = nil) async -> Answer
    {
        var headers = [("Content-Type", "multipart/mixed;boundary=b")]
        if let prefer { headers.append(("Prefer", prefer)) }
        let path = v2 ? "/odata/v2/$batch" : "/odata/v4/$batch"
        return await fixture.base.send(.post, path, text, headers: headers, version: nil)
    }

    @Test(arguments: ["\r\n", "\n"])
    func aChangeSetAndReads(_ end: String) async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        let lines = [
            "", "--b", "Content-Type: application/http", "Content-Transfer-Encoding:binary", "",
            "GET http://127.0.0.1:8080/odata/v4/customers?$filter=name eq 'N1' HTTP/1.1", "Accept: application/json",
            "", "",
            "--b", "Content-Type: multipart/mixed;boundary=c", "", "", "--c", "Content-Type: application/http",
            "Content-ID:2", "", "POST customers HTTP/1.1", "Content-Type: application/json", "Content-ID: 2", "",
            #"{"id":"x","name":"--b is no boundary here"}"#, "--c", "Content-Type: application/http", "Content-ID: 3",
            "",
            "POST $2/orders HTTP/1.1", "Content-Type: application/json", "", #"{"id":"y","total":7}"#, "--c",
            "Content-Type: application/http", "Content-ID: 4", "", "PATCH $2 HTTP/1.1",
            "Content-Type: application/json",
            "", #"{"points":4}"#, "--c--", "", "--b", "Content-Type: application/http", "",
            "GET orders('y')/customer HTTP/1.1",
            "", "", "--b--", "",
        ]
        let answer = await send(fixture, lines.joined(separator: end))
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type")?.hasPrefix("multipart/mixed; boundary=batch_") == true)
        let text = answer.text
        #expect(text.contains(#""id":"c1""#))
        #expect(text.contains("Content-ID: 2\r\n"))
        #expect(text.contains("HTTP/1.1 201 Created"))
        #expect(await fixture.v4(.get, "orders('y')").json["customerId"] == "x")
        #expect(await fixture.v4(.get, "customers('x')").json["points"] == 4)
        #expect(text.components(separatedBy: #""--b is no boundary here""#).count == 3)
    }

    @Test func aChangeSetThatFailsIsOneAnswerAndChangesNothing() async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        let lines = [
            "--b", "Content-Type: multipart/mixed;boundary=c", "", "--c", "Content-Type: application/http", "",
            "POST customers HTTP/1.1", "", #"{"id":"x"}"#, "--c", "Content-Type: application/http", "",
            "PATCH customers('c1') HTTP/1.1", #"If-Match: W/"stale""#, "", #"{"points":9}"#, "--c--", "--b",
            "Content-Type: application/http", "", "GET customers('c1') HTTP/1.1", "", "--b--", "",
        ].joined(separator: "\r\n")
        let stopped = await send(fixture, lines)
        #expect(stopped.text.components(separatedBy: "HTTP/1.1 ").count == 2)
        #expect(stopped.text.contains("HTTP/1.1 412"))
        #expect(!stopped.text.contains("changeset_"))
        #expect(await fixture.v4(.get, "customers('x')").status == 404)
        let continued = await send(fixture, lines, prefer: "odata.continue-on-error")
        #expect(continued.text.contains("HTTP/1.1 200"))
        let v2 = await send(fixture, lines, v2: true)
        #expect(v2.status == 202)
        #expect(v2.text.contains("HTTP/1.1 200"))
    }

    @Test func batchesInJSON() async throws {
        let fixture = try await ODataFixture()
        let body = #"""
            {"requests":[
              {"id":"1","atomicityGroup":"g","method":"post","url":"/customers","body":{"id":"j","name":"J"}},
              {"id":"2","atomicityGroup":"g","method":"POST","url":"$1/orders","body":{"id":"jo"}},
              {"id":"3","dependsOn":["g"],"method":"GET","url":"http://127.0.0.1:8080/odata/v4/$1/orders"},
              {"id":"4","method":"GET","url":"customers('none')"},
              {"id":"5","dependsOn":["4"],"method":"DELETE","url":"customers('j')"}]}
            """#
        let answer = await fixture.v4(.post, "$batch", body, headers: [("Prefer", "continue-on-error")])
        let responses = answer.json["responses"]?.elements ?? []
        #expect(responses.map { $0["id"] } == ["1", "2", "3", "4", "5"])
        #expect(responses.map { $0["status"]?.int } == [201, 201, 200, 404, 424])
        #expect(responses.count > 2 && responses[2]["body"]?["value"]?[0]?["id"] == "jo")
    }

    @Test(arguments: ["", "--b\r\n", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", "no boundary at all"])
    func whatIsNoBatch(_ text: String) async throws {
        let fixture = try await ODataFixture()
        #expect(await send(fixture, text).status == 400)
    }

    @Test func aBatchHoldsNoBatchAndNoReadAmongChanges() async throws {
        let fixture = try await ODataFixture()
        let body =
            #"{"requests":[{"id":"1","method":"POST","url":"$batch"},{"id":"2","atomicityGroup":"g","method":"GET","url":"customers"}]}"#
        let answer = await fixture.v4(.post, "$batch", body, headers: [("Prefer", "continue-on-error")])
        #expect(answer.json["responses"]?.elements?.map { $0["status"]?.int } == [400, 400])
    }
}
