import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceWire

@Suite("Batch documents")
struct BatchDocumentTests {
    private func request(_ id: String, group: String? = nil) -> JSON {
        let head = HTTPRequest(method: .post, scheme: "https", authority: "h", path: "/tables/t")
        return BatchDocument.request(
            id, group: group, SyncRequest(head, body: MessageBody(json: ["n": 1])), url: "tables/t",
            fields: [HTTPField(name: .ifMatch, value: "*")])
    }

    private func fault(_ requests: JSON) -> String? {
        #expect(throws: BatchDocument.Fault.self) { try BatchDocument.parts(of: ["requests": requests]) }?.reason
    }

    @Test("requests are read as they were written")
    func requests() throws {
        let parts = try BatchDocument.parts(of: ["requests": [request("a", group: "g"), request("b")]])
        #expect(parts.map(\.id) == ["a", "b"] && parts.map(\.group) == ["g", nil])
        for part in parts {
            #expect(part.method == "POST" && part.url == "tables/t" && part.body == ["n": 1])
            #expect(BatchDocument.fields(part.headers) == [.ifMatch: "*"])
        }
    }

    @Test("answers are read as they were written, and one without a possible status is none")
    func answers() throws {
        let written = BatchDocument.answer(
            "a", group: "g", 412, fields: [HTTPField(name: .eTag, value: "\"1\"")], body: ["n": 1])
        let answers = try #require(BatchDocument.answers(of: ["responses": [written, ["id": "b", "status": 1_000]]]))
        #expect(answers.map(\.id) == ["a", "b"] && answers.map(\.response?.status) == [412, nil])
        #expect(answers[0].response?.head.headerFields == [.eTag: "\"1\""])
        #expect(try answers[0].response?.body.json == ["n": 1])
        #expect(BatchDocument.answers(of: ["responses": 1])?.count == nil)
    }

    @Test("what is no batch is refused with the reason")
    func faults() {
        #expect(fault(1) == "a batch is an object with an array, requests")
        let many = (0...BatchDocument.mostParts).map { request("\($0)") }
        #expect(fault(JSON(many)) == "a batch has 100 requests at the most")
        #expect(fault([["method": "GET"]]) == "request 0 of the batch has no id, which is a text")
        #expect(fault([request("a"), request("a")]) == "two requests or groups are called a")
        #expect(
            fault([request("a", group: "g"), request("b"), request("c", group: "g")])
                == "the requests of the atomicity group g do not follow each other")
        for name in ["a", "b", "g"] {
            let request = request("a", group: "g").setting(["dependsOn": [JSON(name)]])
            #expect(fault([request]) == "a depends on \(name), which is no request or group before it")
        }
    }
}
