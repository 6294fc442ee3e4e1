import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceSync

/// Answers as the Node server of Mobile Apps, 3.0, gives them.
@Suite("A Mobile Apps server as it is")
struct NodeServerTests {
    let dialect = Dialect.azureV2

    private func answered(_ request: SyncRequest, _ response: SyncResponse) async throws -> SyncResponse {
        try await client(ScriptedTransport([.answer(response)])).send(request)
    }

    @Test("a refused insert echoes the request under a weak tag, which is no version and no evidence")
    func echo() async throws {
        let request = dialect.insert(table: "t", record: ["id": "1", "a": 1], endpoint: testEndpoint)
        let response = try await answered(request, .json(409, #"{"id":"1","a":1}"#, ["ETag": #"W/"17-abc""#]))
        let failure = try #require(dialect.failure(response, for: request.context))
        #expect(failure.code == .conflict && failure.serverRecord == ["id": "1", "a": 1])
        #expect(dialect.pushAnswer(response).record == nil)
    }

    @Test("a stale change is 412, or 409 without If-Match, and shows the server's record")
    func stale() async throws {
        let request = dialect.update(table: "t", id: "1", changes: ["a": 1], version: "MQ==", endpoint: testEndpoint)
        for (status, tag) in [(412, #""Mg==""#), (409, #""Mg==""#), (412, #"W/"9-x""#)] {
            let body = #"{"id":"1","a":2,"version":"Mg==","deleted":false}"#
            let response = try await answered(request, .json(status, body, ["ETag": tag]))
            #expect(dialect.failure(response, for: request.context)?.serverRecord?["version"] == "Mg==")
            #expect(dialect.pushAnswer(response).record?["version"] == "Mg==")
        }
    }

    @Test("a delete is answered with the deleted record, or with nothing")
    func delete() async throws {
        let request = dialect.delete(table: "t", id: "1", version: "MQ==", endpoint: testEndpoint)
        let body = #"{"id":"1","deleted":true,"version":"Mg=="}"#
        let response = try await answered(request, .json(200, body, ["ETag": #""Mg==""#]))
        #expect(try dialect.record(in: response, for: request.context)?["deleted"] == true)
        #expect(try dialect.record(in: .json(204, ""), for: request.context) == nil)
        let again = try await answered(request, .json(409, body, ["ETag": #""Mg==""#]))
        #expect(dialect.failure(again, for: request.context)?.serverRecord?["deleted"] == true)
    }

    @Test("its link, which has lost port and path, is not followed")
    func link() throws {
        let endpoint = try Endpoint("http://127.0.0.1:8080")
        let request = try dialect.list(table: "todoitem", query: TableQuery("todoitem", top: 1000), endpoint: endpoint)
        let rows = "[\((0..<50).map { #"{"id":"\#($0)"}"# }.joined(separator: ","))]"
        let response = SyncResponse.json(200, rows, ["Link": "http://127.0.0.1/?%24top=950&%24skip=50; rel=next"])
        let page = try dialect.page(in: response, for: request.context)
        let next = dialect.nextPage(after: response, page: page, request: request, endpoint: endpoint)
        #expect(next?.head.path == "/tables/todoitem?$top=950&$skip=50")
        #expect(next?.head.authority == "127.0.0.1:8080")
    }

    @Test("a filter that it cannot read is a failure of the server's, in its own words")
    func filter() throws {
        let context = SyncRequest.Context(action: .read, table: "t")
        let failure = dialect.failure(.json(500, #"{"error":"Syntax error in filter"}"#), for: context)
        #expect(failure?.code == .serverFailure && failure?.message == "Syntax error in filter")
        let error = #expect(throws: SluiceError.self) { try dialect.page(in: .json(500, "[]"), for: context) }
        #expect(error?.code == .serverFailure)
    }

    @Test("a deleted record is 404 to it and 410 to a Datasync server: not there in both", arguments: [404, 410])
    func gone(status: Int) {
        for dialect in Dialect.all {
            for body in [#"{"error":"The item does not exist"}"#, "", "<html>Cannot PUT /tables</html>"] {
                #expect(
                    dialect.failure(.json(status, body), for: SyncRequest.Context(action: .lookup))?.code == .notFound)
            }
        }
    }
}
