import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Versions and system properties on their way")
struct VersionFilterTests {
    /// What a dialect sends for a request, and what comes back for an answer.
    func exchange(
        _ request: SyncRequest, _ dialect: Dialect = .azureV2, answer: SyncResponse = .json(204, "")
    ) async throws -> (sent: SyncRequest, response: SyncResponse) {
        let transport = ScriptedTransport([.answer(answer)])
        let response = try await client(transport, dialect: dialect).send(request)
        return (transport.requests[0], response)
    }

    @Test(
        "a version of the body is lifted into If-Match",
        arguments: [
            (#"{"version":"a"}"#, #""a""#), (#"{"version":"a\"b"}"#, #""a\"b""#), (#"{"version":null}"#, nil),
            (#"{"version":5}"#, nil), (#"{"version":""}"#, nil), (#"{"version":{"a":1}}"#, nil), ("{}", nil),
            (#"{"__version":"a"}"#, nil), (#"{"Version":"a"}"#, nil),
        ] as [(String, String?)])
    func lift(body: String, expected: String?) async throws {
        let changes = try JSON(parsing: body)
        for request in [
            Dialect.azureV2.update(table: "t", id: "1", changes: changes, version: nil, endpoint: testEndpoint),
            Dialect.azureV2.replace(table: "t", id: "1", record: changes, version: nil, endpoint: testEndpoint),
        ] {
            let sent = try await exchange(request).sent
            #expect(sent.head.headerFields[.ifMatch] == expected)
            #expect(try sent.body.json["version"] == nil)
        }
        let insert = Dialect.azureV2.insert(table: "t", record: changes, endpoint: testEndpoint)
        #expect(try await exchange(insert).sent.head.headerFields[.ifMatch] == nil)
    }

    @Test("the v1 wire lifts its own column")
    func liftV1() async throws {
        let request = Dialect.azureV1.update(
            table: "t", id: "1", changes: ["__version": "a", "version": "mine"], version: nil, endpoint: testEndpoint)
        let sent = try await exchange(request, .azureV1).sent
        #expect(sent.head.headerFields[.ifMatch] == #""a""#)
        #expect(try sent.body.json == ["version": "mine"])
    }

    @Test("a version of the context is lifted on delete and undelete, and makes a lookup conditional")
    func liftContext() async throws {
        let wire = Dialect.azureV2
        let delete = wire.delete(table: "t", id: "1", version: "a", endpoint: testEndpoint)
        #expect(try await exchange(delete).sent.head.headerFields[.ifMatch] == #""a""#)
        let undelete = wire.undelete(table: "t", id: "1", version: "a", endpoint: testEndpoint)
        #expect(try await exchange(undelete).sent.head.headerFields[.ifMatch] == #""a""#)
        let lookup = wire.lookup(table: "t", id: "1", version: "a", endpoint: testEndpoint)
        let sent = try await exchange(lookup, answer: .json(304, "")).sent
        #expect(sent.head.headerFields[.ifNoneMatch] == #""a""# && sent.head.headerFields[.ifMatch] == nil)
        var insert = wire.insert(table: "t", record: ["id": "1"], endpoint: testEndpoint)
        insert.context.version = "a"
        #expect(try await exchange(insert).sent.head.headerFields[.ifMatch] == nil)
    }

    @Test("the version of a record with an integer id is no condition")
    func integerID() async throws {
        for changes in [["id": 7, "__version": "a"], ["id": 7]] as [JSON] {
            let request = Dialect.azureV1.update(
                table: "t", id: "7", changes: changes, version: changes["__version"] == nil ? "a" : nil,
                endpoint: testEndpoint)
            let sent = try await exchange(request, .azureV1).sent
            #expect(sent.head.headerFields[.ifMatch] == nil)
            #expect(try sent.body.json == ["id": 7])
        }
    }

    @Test("a condition that is there already stays")
    func ownCondition() async throws {
        var request = Dialect.azureV2.update(
            table: "t", id: "1", changes: ["a": 1], version: "v", endpoint: testEndpoint)
        request.head.headerFields[.ifMatch] = "*"
        #expect(try await exchange(request).sent.head.headerFields[.ifMatch] == "*")
    }

    @Test("a version that no header field can hold is refused, not changed")
    func badVersion() async throws {
        let request = Dialect.azureV2.delete(table: "t", id: "1", version: "a\r\nX: y", endpoint: testEndpoint)
        let error = await #expect(throws: SluiceError.self) { try await exchange(request) }
        #expect(error?.code == .invalidRecord && error?.recordID == "1")
    }

    @Test(
        "a strong tag becomes the version of a record that has none, a weak one never",
        arguments: [
            (#""b""#, #"{"id":"1"}"#, 200, "b"), (#""b""#, #"{"id":"1","version":"a"}"#, 201, "a"),
            (#""b\"c""#, #"{"id":"1"}"#, 200, #"b"c"#), (#"W/"17-x""#, #"{"id":"1","version":"a"}"#, 200, "a"),
            (#"W/"17-x""#, #"{"id":"1"}"#, 409, nil), (#""b""#, #"{"id":"1","version":"a"}"#, 412, "a"),
            (#""a-gzip""#, #"{"id":"1","version":"a"}"#, 200, "a"), (#""b""#, #"{"id":"1","version":""}"#, 200, "b"),
            (#""b""#, #"{"id":"1"}"#, 412, nil),
            (#""b""#, #"{"id":"1"}"#, 400, nil), (#""b""#, #"{"error":"x"}"#, 412, nil),
        ] as [(String, String, Int, String?)])
    func entityTag(tag: String, body: String, status: Int, expected: String?) async throws {
        let request = Dialect.azureV2.update(
            table: "t", id: "1", changes: ["a": 1], version: "v", endpoint: testEndpoint)
        let response = try await exchange(request, answer: .json(status, body, ["ETag": tag])).response
        #expect(try response.body.json["version"]?.string == expected)
    }

    @Test("an answer that is no JSON passes as it is")
    func notJSON() async throws {
        let request = Dialect.azureV2.lookup(table: "t", id: "1", endpoint: testEndpoint)
        let response = try await exchange(request, answer: .json(200, "<html>", ["ETag": #""b""#])).response
        #expect(response.body.bytes == Array("<html>".utf8))
    }

    @Test("system properties are taken out of bodies, null or not")
    func strip() async throws {
        let record: JSON = [
            "id": "1", "version": .null, "createdAt": "x", "updatedAt": 1, "deleted": false, "__a": .null,
            "__b": ["c": 1], "_c": 1, "text": ["__inner": 1, "version": 2],
        ]
        let rest: JSON = ["id": "1", "_c": 1, "text": ["__inner": 1, "version": 2]]
        let insert = Dialect.azureV2.insert(table: "t", record: record, endpoint: testEndpoint)
        #expect(try await exchange(insert).sent.body.json == rest)
        let put = Dialect.azureV2.replace(table: "t", id: "1", record: record, version: nil, endpoint: testEndpoint)
        #expect(try await exchange(put).sent.body.json == rest)
        let v1 = Dialect.azureV1.insert(table: "t", record: record, endpoint: testEndpoint)
        #expect(
            try await exchange(v1, .azureV1).sent.body.json.names
                == ["id", "version", "createdAt", "updatedAt", "deleted", "_c", "text"])
    }

    @Test("the undelete keeps its word, and a body without system properties is not printed anew")
    func spared() async throws {
        let patching = Dialect(name: "patching", undelete: .patch)
        let undelete = patching.undelete(table: "t", id: "1", version: "v", endpoint: testEndpoint)
        let sent = try await exchange(undelete, patching).sent
        #expect(try sent.body.json == ["deleted": false] && sent.head.headerFields[.ifMatch] == #""v""#)
        var insert = Dialect.azureV2.insert(table: "t", record: ["id": "1"], endpoint: testEndpoint)
        insert.body = MessageBody(bytes: Array(#"{ "id" : "1" }"#.utf8))
        #expect(try await exchange(insert).sent.body.bytes == Array(#"{ "id" : "1" }"#.utf8))
    }

    @Test("a call that is none of a table keeps its body")
    func custom() async throws {
        var head = HTTPRequest(method: .post, scheme: "https", authority: "example.net", path: "/api/x")
        head.headerFields[.contentType] = "application/json"
        let request = SyncRequest(head, body: MessageBody(json: ["__a": 1, "version": "v"]))
        let sent = try await exchange(request).sent
        #expect(try sent.body.json == ["__a": 1, "version": "v"] && sent.head.headerFields[.ifMatch] == nil)
        #expect(try await exchange(request, .azureV1).sent.head.path == "/api/x")
    }

    @Test(
        "system properties are asked for once, after what the query has",
        arguments: [
            ("/tables/t", "/tables/t?__systemProperties=*"), ("/tables/t?", "/tables/t?__systemProperties=*"),
            ("/tables/t?a=b", "/tables/t?a=b&__systemProperties=*"),
            ("/tables/t?__systemProperties=__version", "/tables/t?__systemProperties=__version"),
            ("/tables/t?a=b&__SYSTEMproperties=x&c=d", "/tables/t?a=b&__SYSTEMproperties=x&c=d"),
            ("/tables/t?%5F_systemproperties=x", "/tables/t?%5F_systemproperties=x"),
            ("/tables/t?a=__systemProperties", "/tables/t?a=__systemProperties&__systemProperties=*"),
        ])
    func systemProperties(path: String, expected: String) async throws {
        for method in [HTTPRequest.Method.get, .post, .patch] {
            let head = HTTPRequest(method: method, scheme: "https", authority: "example.net", path: path)
            let request = SyncRequest(head, context: SyncRequest.Context(action: .read, table: "t"))
            #expect(try await exchange(request, .azureV1).sent.head.path == expected)
            #expect(try await exchange(request, .azureV2).sent.head.path == path)
        }
    }

    @Test("which system properties to ask for is the client's choice, table by table")
    func selection() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, "[]"))
        var options = quickOptions()
        options.systemProperties = SystemProperty.Selection(["__version", "a&b"], tables: ["plain": []])
        let client = client(transport, dialect: .azureV1, options: options)
        for table in ["t", "plain"] {
            _ = try await client.send(
                Dialect.azureV1.list(table: table, query: TableQuery(table), endpoint: testEndpoint))
        }
        #expect(
            transport.requests.map(\.head.path) == [
                "/app/tables/t?__systemProperties=__version,a%26b", "/app/tables/plain",
            ])
    }
}
