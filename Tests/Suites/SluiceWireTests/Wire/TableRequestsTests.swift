import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@Suite("Requests of a table")
struct TableRequestsTests {
    let endpoint: Endpoint
    let dialect = Dialect.azureV2

    init() throws { endpoint = try Endpoint("http://h/app/?x=y") }

    @Test("a list asks in one order for all that the query says")
    func list() throws {
        var query = TableQuery("movies")
        query.order = [.init("title", descending: true), .init("year")]
        query.skip = 5
        query.top = 10
        query.select = ["id", "title"]
        query.includesCount = true
        query.includesDeleted = true
        query.parameters = [.init("who am", "I & you+me"), .init("a", "1"), .init("a", "2")]
        let request = try dialect.list(table: "movies", query: query, endpoint: endpoint)
        #expect(
            request.head.path == "/app/tables/movies?x=y&$orderby=title%20desc,year&$skip=5&$top=10&$select=id,title"
                + "&$inlinecount=allpages&who%20am=I%20%26%20you%2Bme&a=1&a=2&__includeDeleted=true")
        #expect(request.head.method == .get && request.body.isEmpty)
        #expect(request.head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] == "2.0.0")
        #expect(request.context.action == .read && request.context.table == "movies")
    }

    @Test("a plus, a colon and a quote of a filter are encoded so that a server reads them back")
    func filter() throws {
        var query = TableQuery("t")
        query.filter = .binary(.eq, .column("a"), .literal(.string("1+1 & 'x': 100%")))
        let path = try #require(try dialect.list(table: "t", query: query, endpoint: endpoint).head.path)
        #expect(!path.contains("+") && !path.contains(" ") && path.contains("1%2B1%20%26%20''x''%3A%20100%25"))
        let value = try #require(path.split(separator: "&").last { $0.hasPrefix("$filter=") })
        #expect(PercentEncoding.decoded(value.dropFirst(8)) == query.filter?.odata(.v3))
    }

    @Test("an empty query asks for nothing")
    func emptyQuery() throws {
        let plain = try Endpoint("http://h")
        #expect(try dialect.list(table: "t", query: TableQuery("t"), endpoint: plain).head.path == "/tables/t")
        var none = TableQuery("t")
        none.top = 0
        #expect(try dialect.list(table: "t", query: none, endpoint: plain).head.path == "/tables/t?$top=0")
    }

    @Test("a parameter may not look like one of the protocol, and nothing is negative")
    func refused() {
        for change in [
            { $0.parameters = [.init("$top", "1")] }, { $0.parameters = [.init("", "1")] }, { $0.skip = -1 },
            { $0.top = -1 },
        ] as [(inout TableQuery) -> Void] {
            var query = TableQuery("t")
            change(&query)
            let error = #expect(throws: SluiceError.self) {
                try dialect.list(table: "t", query: query, endpoint: endpoint)
            }
            #expect(error?.code == .invalidQuery && error?.table == "t")
        }
    }

    @Test(
        "an id is one segment of the path",
        arguments: [
            ("a b", "a%20b"), ("a/b", "a%2Fb"), ("a?b#c", "a%3Fb%23c"), ("..", "%2E%2E"), (".", "%2E"), ("é", "%C3%A9"),
            ("100%", "100%25"), ("a+b", "a%2Bb"), ("a-._~Z9", "a-._~Z9"), ("x\r\nY: z", "x%0D%0AY%3A%20z"),
        ])
    func segment(id: String, expected: String) throws {
        let request = dialect.lookup(table: "my table", id: RecordID(id), endpoint: endpoint)
        #expect(request.head.path == "/app/tables/my%20table/\(expected)?x=y")
        #expect(request.context.recordID == RecordID(id))
    }

    @Test("each change has its method, address, body and context")
    func changes() throws {
        let plain = try Endpoint("http://h")
        let insert = dialect.insert(table: "t", record: ["id": "1", "a": 2], endpoint: plain)
        #expect(insert.head.method == .post && insert.head.path == "/tables/t")
        #expect(insert.context.action == .insert && insert.context.recordID == "1")
        #expect(insert.head.headerFields[.contentType] == "application/json")

        let update = dialect.update(table: "t", id: "1", changes: ["a": 3], version: "v", endpoint: plain)
        #expect(update.head.method == .patch && update.head.path == "/tables/t/1")
        #expect(try update.body.json == ["a": 3, "version": "v"])
        #expect(update.context.version == "v" && update.context.action == .update)

        let replace = dialect.replace(
            table: "t", id: "1", record: ["id": "1", "version": "old"], version: "v", endpoint: plain)
        #expect(replace.head.method == .put)
        #expect(try replace.body.json["version"] == "v")

        let delete = dialect.delete(table: "t", id: "1", version: "v", endpoint: plain)
        #expect(delete.head.method == .delete && delete.body.isEmpty && delete.context.version == "v")
        #expect(delete.head.headerFields[.contentType] == nil)

        let undelete = dialect.undelete(table: "t", id: "1", version: nil, endpoint: plain)
        #expect(undelete.head.method == .post && undelete.head.path == "/tables/t/1" && undelete.body.isEmpty)
        #expect(undelete.context.action == .undelete)

        let lookup = dialect.lookup(table: "t", id: "1", includeDeleted: true, endpoint: plain)
        #expect(lookup.head.path == "/tables/t/1?__includeDeleted=true" && lookup.context.action == .lookup)
    }
}
