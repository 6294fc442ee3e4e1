import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Reading an online table")
struct TableReadingTests {
    @Test("a lookup gives the record with the tag's version", arguments: Dialect.all)
    func lookup(dialect: Dialect) async throws {
        let transport = ScriptedTransport(otherwise: .json(200, row(dialect, "a b"), ["ETag": #""v1""#]))
        let people = client(transport, dialect: dialect).table("people")
        #expect(try await people.lookup(id: "a b")[dialect.version] == "v1")
        _ = try await people.lookup(id: "a b", includeDeleted: true, parameters: ["x": "y"])
        #expect(transport.lines[0].hasPrefix("GET /app/tables/people/a%20b"))
        #expect(transport.header("If-None-Match") == nil)
        #expect(transport.lines[1].contains("\(dialect.includeDeleted.name)=true&x=y"))
    }

    @Test("a missing record is an error, whether it never was or is deleted", arguments: [404, 410])
    func missing(status: Int) async {
        let people = client(ScriptedTransport(otherwise: .json(status, ""))).table("people")
        let error = await #expect(throws: SluiceError.self) { try await people.lookup(id: "a") }
        #expect(error?.code == .notFound && error?.recordID == "a" && error?.exchange?.response.status == status)
    }

    @Test("a refresh asks under the version's condition, and keeps a record that is unchanged", arguments: Dialect.all)
    func refresh(dialect: Dialect) async throws {
        let transport = ScriptedTransport([.json(304, ""), .json(200, row(dialect, "a", "v2"))])
        let people = client(transport, dialect: dialect).table("people")
        var record: JSON = ["id": "a", "mine": 1]
        record[dialect.version] = "v1"
        #expect(try await people.refresh(record) == record)
        #expect(try await people.refresh(record) == (try JSON(parsing: row(dialect, "a", "v2"))))
        #expect(transport.lines.allSatisfy { $0.hasPrefix("GET /app/tables/people/a") })
        #expect((0..<2).map { transport.header("If-None-Match", $0) } == [#""v1""#, #""v1""#])
        #expect(transport.requests[0].context.features.contains(.refresh))
    }

    @Test("a refresh without an id asks nothing; without a version it asks without a condition")
    func refreshUnset() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, row(.azureV2, "a", "v2")))
        let people = client(transport).table("people")
        #expect(try await people.refresh(["name": "new"]) == ["name": "new"])
        #expect(transport.requests.isEmpty)
        #expect(try await people.refresh(["id": "a"])["version"] == "v2")
        #expect(transport.header("If-None-Match") == nil)
    }

    @Test("a list comes with its count, as each wire has both", arguments: Dialect.all)
    func read(dialect: Dialect) async throws {
        let rows = dialect.odata == .v3 ? "results" : "items"
        let transport = ScriptedTransport([.json(200, #"{"\#(rows)":[{"id":"a"},{"id":"b"}],"count":9}"#)])
        let people = client(transport, dialect: dialect).table("people")
        var query = TableQuery("another").where(column("age") > 3).sorted(by: "name").taking(2)
        query.includesCount = true
        let page = try await people.read(query, parameters: ["x": "y"])
        #expect(page.rows == [["id": "a"], ["id": "b"]] && page.count == 9 && !page.hasNext)
        let path = try #require(transport.requests[0].head.path)
        #expect(path.hasPrefix("/app/tables/people?$filter="))
        let count = dialect.odata == .v3 ? "$inlinecount=allpages" : "$count=true"
        #expect(path.contains("&$orderby=name&$top=2&\(count)&x=y"))
        #expect(transport.requests[0].context.features.isSuperset(of: [.untypedTable, .readQuery]))
    }

    @Test("a projection leaves out what it leaves out, even the id, and an old table's ids are integers")
    func rowsWithoutID() async throws {
        let transport = ScriptedTransport([
            .json(200, #"[{"name":"a"},{"name":"b"}]"#), .json(200, #"[{"id":1},{"id":2}]"#),
        ])
        let table = client(transport, dialect: .azureV1).table("t")
        #expect(try await table.read(TableQuery("t").selecting("name")).rows == [["name": "a"], ["name": "b"]])
        #expect(try await table.read().rows == [["id": 1], ["id": 2]])
    }

    @Test("a count asks for no row, whatever the query's part and order", arguments: Dialect.all)
    func count(dialect: Dialect) async throws {
        let body = dialect.odata == .v3 ? #"{"results":[],"count":42}"# : #"{"items":[],"count":42,"nextLink":null}"#
        let transport = ScriptedTransport([.json(200, body), .json(200, "[]")])
        let people = client(transport, dialect: dialect).table("people")
        let query = TableQuery("people").where(column("age") > 3).sorted(by: "name").skipping(5).taking(7).selecting(
            "name")
        #expect(try await people.count(query) == 42)
        let path = try #require(transport.requests[0].head.path)
        let count = dialect.odata == .v3 ? "$inlinecount=allpages" : "$count=true"
        #expect(path.hasPrefix("/app/tables/people?$filter=") && path.contains("&$top=0&\(count)"))
        #expect(!path.contains("$orderby") && !path.contains("$skip") && !path.contains("$select"))
        let error = await #expect(throws: SluiceError.self) { try await people.count() }
        #expect(error?.code == .brokenProtocol)
    }

    @Test(
        "a text of OData is a query, a path below the endpoint, or an address at its origin",
        arguments: [
            ("$filter=year ge 1990&$top=5", "/app/tables/movies?$filter=year%20ge%201990&$top=5"),
            ("?$top=5", "/app/tables/movies?$top=5"),
            ("", "/app/tables/movies"),
            ("$filter=url eq 'http://x/y?z'", "/app/tables/movies?$filter=url%20eq%20'http://x/y?z'"),
            (
                "$filter=t eq 'a%26b%2Bc' or t eq '100%'",
                "/app/tables/movies?$filter=t%20eq%20'a%26b%2Bc'%20or%20t%20eq%20'100%25'"
            ),
            ("/api/films", "/app/api/films"),
            ("/api/all films?$top=5", "/app/api/all%20films?$top=5"),
            ("https://example.net/app/tables/movies?$top=5", "/app/tables/movies?$top=5"),
            ("HTTPS://EXAMPLE.net:443/x", "/x"),
            ("https://example.net?$top=1", "/?$top=1"),
        ])
    func raw(text: String, path: String) async throws {
        let transport = ScriptedTransport(otherwise: .json(200, #"[{"id":"a"}]"#))
        let page = try await client(transport).table("movies").read(odata: text)
        #expect(page.rows == [["id": "a"]] && transport.lines == ["GET \(path)"])
        #expect(transport.requests[0].head.authority == "example.net")
        #expect(transport.requests[0].context.features.isSuperset(of: [.untypedTable, .readRaw]))
    }

    @Test(
        "no text leads to another server",
        arguments: [
            "http://example.net/app/tables/movies", "https://example.org/tables/movies", "https://example.net:444/x",
            "//example.org/tables/movies", "https://example.net@evil.org/x", "ftp://example.net/x",
            "https://example.net.evil.org/?a=b",
        ])
    func otherHost(text: String) async {
        let transport = ScriptedTransport(otherwise: .json(200, "[]"))
        let error = await #expect(throws: SluiceError.self) {
            try await client(transport).table("movies").read(odata: text)
        }
        #expect(error?.code == .invalidArgument && transport.requests.isEmpty)
    }

    @Test("the endpoint's own query goes along, once")
    func endpointQuery() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, "[]"))
        let client = SluiceClient(endpoint: try Endpoint("http://h/?x=y"), transport: transport)
        _ = try await client.table("t").read(odata: "$top=1")
        _ = try await client.table("t").read(odata: "http://h/tables/t?x=y&$top=1")
        #expect(transport.lines == ["GET /tables/t?x=y&$top=1", "GET /tables/t?x=y&$top=1"])
    }
}
