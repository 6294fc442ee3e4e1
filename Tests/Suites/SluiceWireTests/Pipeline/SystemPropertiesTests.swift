import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("System properties of Mobile Services")
struct SystemPropertiesTests {
    private let record = #"{"id":"1","a":1,"__version":"v","__createdAt":"c","__updatedAt":"u","__deleted":false}"#

    private func exchange(
        _ request: SyncRequest, _ selection: [String], _ body: String, status: Int = 200
    ) async throws -> (path: String?, response: SyncResponse) {
        let transport = ScriptedTransport([.json(status, body)])
        var options = quickOptions()
        options.systemProperties = SystemProperty.Selection(["__wrong"], tables: ["t": selection])
        let response = try await client(transport, dialect: .azureV1, options: options).send(request)
        return (transport.requests[0].head.path, response)
    }

    private func list(_ source: SyncRequest.Context.Source = .online) throws -> SyncRequest {
        var request = try Dialect.azureV1.list(table: "t", query: TableQuery("t"), endpoint: testEndpoint)
        request.context.source = source
        return request
    }

    @Test(
        "what was not asked for is taken out of answers",
        arguments: [
            (["*"], ["__version", "__createdAt", "__updatedAt", "__deleted"]), (["__version"], ["__version"]),
            (["Version", "CREATEDAT"], ["__version", "__createdAt"]), ([], []),
            (["__other"], []), (["__deleted", "*"], ["__version", "__createdAt", "__updatedAt", "__deleted"]),
        ] as [([String], [PropertyName])])
    func removed(selection: [String], kept: [PropertyName]) async throws {
        let names = ["id", "a"] + kept
        let lookup = Dialect.azureV1.lookup(table: "t", id: "1", endpoint: testEndpoint)
        #expect(try await exchange(lookup, selection, record).response.body.json.names == names)
        for body in ["[\(record)]", #"{"results":[\#(record)],"count":1}"#, #"{"items":[\#(record)]}"#] {
            let json = try await exchange(list(), selection, body).response.body.json
            let rows = json.elements ?? json["results"]?.elements ?? json["items"]?.elements
            #expect(rows?.first?.names == names && (json["count"] == 1) == body.contains("count"))
        }
    }

    @Test("a query that asks itself is asked no more, and counts")
    func ownWords() async throws {
        var request = try list()
        request.head.path = "/app/tables/t?__SYSTEMPROPERTIES=__version%2Cdeleted"
        let (path, response) = try await exchange(request, ["__createdAt"], "[\(record)]")
        #expect(path == "/app/tables/t?__SYSTEMPROPERTIES=__version%2Cdeleted")
        #expect(try response.body.json.elements?.first?.names == ["id", "a", "__version", "__deleted"])
    }

    @Test("a refusal keeps all it shows, and an answer without anything to remove is not printed anew")
    func untouched() async throws {
        let update = Dialect.azureV1.update(
            table: "t", id: "1", changes: ["a": 1], version: "v", endpoint: testEndpoint)
        #expect(try await exchange(update, [], record, status: 412).response.body.json["__version"] == "v")
        #expect(
            try await exchange(update, [], #"{ "id" : "1" }"#).response.body.bytes == Array(#"{ "id" : "1" }"#.utf8))
        #expect(try await exchange(update, [], "<html>").response.body.bytes == Array("<html>".utf8))
    }

    @Test("a pull and a push ask for what they need, and their answers stay as bytes")
    func needed() async throws {
        for source in [SyncRequest.Context.Source.pull, .push] {
            for (selection, asked) in [
                (["*"], "*"), ([], "__version,__updatedAt,__deleted"),
                (["__createdAt"], "__createdAt,__version,__updatedAt,__deleted"),
                (["version"], "version,__updatedAt,__deleted"),
            ] {
                let (path, response) = try await exchange(list(source), selection, "[\(record)]")
                #expect(path == "/app/tables/t?__systemProperties=\(asked)")
                #expect(response.body.untouchedBytes != nil)
            }
        }
    }

    @Test("a delete asks too, so that a refusal shows the version")
    func delete() async throws {
        let delete = Dialect.azureV1.delete(table: "t", id: "1", version: "v", endpoint: testEndpoint)
        #expect(try await exchange(delete, ["*"], "").path == "/app/tables/t/1?__systemProperties=*")
    }
}
