import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceOData

@Suite("reads of OData services")
struct ODataReadTests {
    @Test("each version says what it is")
    func headers() async throws {
        let v2 = try ODataFixture(.v2, nil, [.json(200, #"{"d":{"results":[]}}"#)])
        _ = try await v2.orders.read()
        #expect(v2.field("DataServiceVersion", of: 0) == "2.0")
        #expect(v2.field("MaxDataServiceVersion", of: 0) == "2.0")
        let v4 = try ODataFixture(.v4, nil, [.json(200, #"{"value":[]}"#)])
        _ = try await v4.orders.read()
        #expect(v4.field("OData-Version", of: 0) == "4.0")
        #expect(v4.field("OData-MaxVersion", of: 0) == "4.01")
        #expect(v4.field("ZUMO-API-VERSION", of: 0) == nil)
    }

    @Test(
        "a list is read in all its forms, and its count as number and text",
        arguments: [
            (ODataVersion.v2, #"{"d":{"__count":"7","results":[{"__metadata":{"etag":"W/\"1\""},"Number":"1"}]}}"#),
            (.v2, #"{"d":[{"__metadata":{"etag":"W/\"1\""},"Number":"1"}]}"#),
            (.v4, #"{"@odata.count":7,"value":[{"@odata.etag":"W/\"1\"","Number":"1"}]}"#),
            (.v4, #"{"@count":7,"value":[{"@etag":"W/\"1\"","Number":"1"}]}"#),
        ])
    func lists(_ version: ODataVersion, _ body: String) async throws {
        let fixture = try ODataFixture(version, nil, [.json(200, body)])
        let page = try await fixture.orders.read(TableQuery("Orders", includesCount: true))
        #expect(page.rows == [["id": "1", "Number": "1", "__version": "W/\"1\""]])
        if body.contains("7") { #expect(page.count == 7) }
        #expect(fixture.sent[0].contains(version == .v2 ? "$inlinecount=allpages" : "$count=true"))
    }

    @Test("what the service says of a row is no property of the record")
    func annotations() async throws {
        let v2 = try ODataFixture(
            .v2, nil,
            [
                .json(
                    200,
                    #"{"d":{"__metadata":{"etag":"W/\"1\"","type":"N.O"},"Number":"1","to_Item":{"__deferred":{"uri":"x"}},"A":{"__metadata":{"type":"N.A"},"Street":"s"}}}"#
                )
            ])
        let record = try await v2.orders.lookup(id: "1")
        #expect(record == ["id": "1", "Number": "1", "A": ["Street": "s"], "__version": "W/\"1\""])
        let v4 = try ODataFixture(
            .v4, nil,
            [
                .json(
                    200,
                    #"{"@odata.context":"c","@odata.etag":"W/\"1\"","@odata.id":"http://other:1/Orders('9')","Number":"1","Items@odata.navigationLink":"x","T@odata.type":"Edm.Date","T":"2020-01-01"}"#
                )
            ])
        #expect(
            try await v4.orders.lookup(id: "1") == [
                "id": "1", "Number": "1", "T": "2020-01-01", "__version": "W/\"1\"",
            ])
    }

    @Test(
        "the query of a next link is taken as it is, whatever stands before it",
        arguments: [
            "http://odata.example/svc/Orders?$skiptoken=3%213&x=%2B", "Orders?$skiptoken=3%213&x=%2B",
            "/svc/Orders?$skiptoken=3%213&x=%2B", "HTTP://ODATA.example:80/svc/Orders?$skiptoken=3%213&x=%2B",
            "./Orders?$skiptoken=3%213&x=%2B", "?$skiptoken=3%213&x=%2B",
            "https://10.0.0.7:8443/Orders?$skiptoken=3%213&x=%2B",
            "//[::1]/inner/svc/Orders?$skiptoken=3%213&x=%2B",
        ])
    func nextLinks(_ link: String) async throws {
        let fixture = try ODataFixture(
            .v4, nil,
            [
                .json(200, #"{"value":[{"Number":"1"}],"@odata.nextLink":"\#(link)"}"#),
                .json(200, #"{"value":[{"Number":"2"}]}"#),
            ])
        var ids: [String] = []
        for try await record in fixture.orders.records() { ids.append(record["id"]?.string ?? "") }
        #expect(ids == ["1", "2"])
        #expect(fixture.sent == ["GET /Orders", "GET /Orders?$skiptoken=3%213&x=%2B"])
    }

    @Test(
        "no link leads to another server, with credentials, upwards, or in a circle",
        arguments: [
            "http://evil.example/svc/Orders?a=1", "//evil.example/svc", "https://user@odata.example/svc/Orders?a",
            "../Orders?a", "Orders?a", "ftp://odata.example/svc/Orders?a",
        ])
    func badLinks(_ link: String) async throws {
        let page = #"{"value":[{"Number":"1"}],"@odata.nextLink":"\#(link)"}"#
        let fixture = try ODataFixture(.v4, nil, [.json(200, page), .json(200, page), .json(200, page)])
        await #expect(throws: SluiceError.self) {
            for try await _ in fixture.orders.records(TableQuery("Orders", top: 5)) {}
        }
        #expect(fixture.script.requests.allSatisfy { $0.head.authority == "odata.example" })
    }

    @Test("pages are read until as many rows are there as were asked for, each with the wish for its size")
    func fill() async throws {
        let fixture = try ODataFixture(
            .v4, nil,
            [
                .json(200, #"{"value":[{"Number":"1"},{"Number":"2"}],"@odata.nextLink":"Orders?s=2"}"#),
                .json(200, #"{"value":[{"Number":"3"}]}"#),
            ])
        let page = try await fixture.orders.read(TableQuery("Orders", top: 3))
        #expect(page.rows.count == 3)
        #expect(fixture.field("Prefer", of: 0) == "odata.maxpagesize=3")
        #expect(fixture.field("Prefer", of: 1) == "odata.maxpagesize=1")
    }

    @Test("a pull goes on behind the last row that it has, and not by a link that counts rows from the first")
    func pulledPages() async throws {
        let fixture = try ODataFixture(
            .v4, nil,
            [
                .json(200, #"{"value":[{"Number":"1"},{"Number":"2"}],"@odata.nextLink":"Orders?$skip=2"}"#),
                // The order is checked first.
                .json(200, #"{"value":[{"Number":"2"},{"Number":"1"}]}"#),
                .json(200, #"{"value":[{"Number":"3"}]}"#), .json(200, #"{"value":[]}"#), .json(200, #"{"value":[]}"#),
            ])
        let context = try await SyncContext(client: fixture.client, store: MemoryStore(), tables: [])
        #expect(try await context.table("Orders").pull().stored == 3)
        #expect(!fixture.sent.contains { $0.contains("skip=2") }, "\(fixture.sent)")
        #expect(fixture.sent.contains { $0.contains("Number%20gt%20'2'") }, "\(fixture.sent)")
    }

    @Test(
        "a filter is written in the words of each version, with %20 for a space",
        arguments: [
            (
                "id eq 'O''Brien' and contains(Text,'a+b')",
                "(Number eq 'O''Brien') and substringof('a+b',Text)",
                "(Number eq 'O''Brien') and contains(Text,'a+b')"
            ),
            ("Big eq 9007199254740993", "(Big eq 9007199254740993L)", "(Big eq 9007199254740993)"),
            ("Amount gt 1.50", "(Amount gt 1.50M)", "(Amount gt 1.50)"),
            (
                "At lt datetimeoffset'2013-09-16T00:00:00.000Z'", "(At lt datetime'2013-09-16T00:00:00')",
                "(At lt 2013-09-16T00:00:00.000Z)"
            ),
            (
                "Guid eq '6f9619ff-8b86-d011-b42d-00c04fc964ff'",
                "(Guid eq guid'6f9619ff-8b86-d011-b42d-00c04fc964ff')", "(Guid eq 6f9619ff-8b86-d011-b42d-00c04fc964ff)"
            ),
        ])
    func filters(_ filter: String, _ v2: String, _ v4: String) async throws {
        for (version, expected) in [(ODataVersion.v2, v2), (.v4, v4)] {
            var set = try EntitySet(
                "Orders", key: [.init("Number", .string)],
                properties: [
                    .init("Big", .int64), .init("Amount", .decimal), .init("Guid", .guid),
                    .init("At", version == .v2 ? .dateTime : .dateTimeOffset),
                ])
            set.tracksChanges = false
            let expression = try QueryExpression(odata: filter)
            guard case .some(let text) = try FilterForm(set: set, version: version).filter(expression) else {
                Issue.record("no filter")
                return
            }
            #expect(
                text.replacing("((", with: "(").replacing("))", with: ")").contains(expected.replacing("((", with: "("))
                    || text == "(\(expected))" || text == expected)
            let address = PercentEncoding.query(text)
            #expect(!address.contains("+") && !address.contains(" "))
        }
    }

    @Test("keys with quotes, slashes and percent signs keep their place in the path")
    func keys() async throws {
        let fixture = try ODataFixture(.v4, nil, [.json(200, #"{"Number":"O'B/100% (x)","@odata.etag":"W/\"1\""}"#)])
        let record = try await fixture.orders.lookup(id: "O'B/100% (x)")
        #expect(record["id"] == "O'B/100% (x)")
        #expect(fixture.sent == ["GET /Orders('O''B%2F100%25%20(x)')"])
    }

    @Test("a web page with status 200 is none of a service's answers")
    func webPage() async throws {
        let fixture = try ODataFixture(.v4, nil, [.json(200, "<html>Log in</html>")])
        let error = await #expect(throws: SluiceError.self) { try await fixture.orders.read() }
        #expect(error?.message.contains("web page") == true)
    }
}
