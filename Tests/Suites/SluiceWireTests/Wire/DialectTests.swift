import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@Suite("The four wires")
struct DialectTests {
    let endpoint: Endpoint

    init() throws { endpoint = try Endpoint("http://h") }

    @Test("a wire is found by its name, and no other name is guessed at")
    func names() throws {
        #expect(Dialect.all.map(\.name) == ["azure-v1", "azure-v2", "azure-v3", "datasync"])
        for dialect in Dialect.all { #expect(try Dialect(named: dialect.name).name == dialect.name) }
        for name in ["", "azure", "AZURE-V2", "azure-v4"] {
            let error = #expect(throws: SluiceError.self) { try Dialect(named: name) }
            #expect(error?.code == .invalidArgument && error?.message.contains("datasync") == true)
        }
    }

    @Test(
        "each wire asks for a list in its own words",
        arguments: [
            (
                Dialect.azureV1,
                "$filter=(substringof('a%3A',title)%20and%20(__updatedAt%20ge%20"
                    + "datetimeoffset'2001-02-03T00%3A00%3A00.000Z'))&$orderby=a,b%20desc&$skip=1&$top=2&$select=a,b"
                    + "&$inlinecount=allpages&x%24y=('1',2)&__includeDeleted=true", "__updatedAt", ""
            ),
            (
                .azureV2,
                "$filter=(substringof('a%3A',title)%20and%20(updatedAt%20ge%20"
                    + "datetimeoffset'2001-02-03T00%3A00%3A00.000Z'))&$orderby=a,b%20desc&$skip=1&$top=2&$select=a,b"
                    + "&$inlinecount=allpages&x%24y=('1',2)&__includeDeleted=true", "updatedAt", "2.0.0"
            ),
            (
                .azureV3,
                "$filter=%28contains%28title%2C%27a%3A%27%29%20and%20%28updatedAt%20ge%20"
                    + "cast%282001-02-03T00%3A00%3A00.000Z%2CEdm.DateTimeOffset%29%29%29&$orderby=a%2Cb%20desc&$skip=1"
                    + "&$top=2&$select=a%2Cb&$count=true&x%24y=%28%271%27%2C2%29&__includedeleted=true", "updatedAt",
                "3.0.0"
            ),
            (
                .datasync,
                "$filter=%28contains%28title%2C%27a%3A%27%29%20and%20%28updatedAt%20ge%20"
                    + "cast%282001-02-03T00%3A00%3A00.000Z%2CEdm.DateTimeOffset%29%29%29&$orderby=a%2Cb%20desc&$skip=1"
                    + "&$top=2&$select=a%2Cb&$count=true&x%24y=%28%271%27%2C2%29&__includedeleted=true", "updatedAt",
                ""
            ),
        ])
    func list(dialect: Dialect, expected: String, updatedAt: PropertyName, version: String) throws {
        #expect(dialect.columns.updatedAt == updatedAt)
        let since = try #require(Timestamp("2001-02-03T00:00:00Z"))
        var query = TableQuery(
            "t", order: [.init("a"), .init("b", descending: true)], skip: 1, top: 2, select: ["a", "b"],
            includesCount: true, includesDeleted: true, parameters: [.init("x$y", "('1',2)")])
        query.filter = .binary(
            .and, .call(.contains, [.column("title"), .literal(.string("a:"))]),
            .binary(.ge, .column(dialect.columns.updatedAt), .literal(.date(since))))
        let request = try dialect.list(table: "t", query: query, endpoint: endpoint)
        #expect(request.head.path == "/tables/t?\(expected.replacing("x%24y", with: "x$y"))")
        #expect(request.head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] ?? "" == version)
        #expect(request.head.headerFields[.accept] == "application/json")
    }

    @Test("a date goes with milliseconds, or with all of its digits where it has more", arguments: Dialect.all)
    func dates(dialect: Dialect) throws {
        for (text, fraction) in [
            ("2001-02-03T00:00:00Z", ".000Z"), ("2001-02-03T00:00:00.12Z", ".120Z"),
            ("2001-02-03T00:00:00.1234567Z", ".1234567Z"), ("2001-02-03T02:00:00.5+02:00", ".500Z"),
        ] {
            let date = try #require(Timestamp(text))
            let written = "2001-02-03T00:00:00\(fraction)"
            let literal = QueryExpression.literal(.date(date)).odata(dialect.odata)
            #expect(
                literal
                    == (dialect.odata == .v3
                        ? "datetimeoffset'\(written)'" : "cast(\(written),Edm.DateTimeOffset)"))
        }
    }

    @Test("a parameter that looks like one of the protocol's is refused", arguments: Dialect.all)
    func parameters(dialect: Dialect) {
        for name in ["$top", "$", ""] {
            let query = TableQuery("t", parameters: [.init(name, "1")])
            let error = #expect(throws: SluiceError.self) {
                try dialect.list(table: "t", query: query, endpoint: endpoint)
            }
            #expect(error?.code == .invalidQuery)
        }
    }

    @Test("an update is PATCH on the older wires and PUT on the newer ones", arguments: Dialect.all)
    func update(dialect: Dialect) throws {
        let request = dialect.update(table: "t", id: "1", changes: ["a": 1], version: "v", endpoint: endpoint)
        #expect(request.head.method == (["azure-v1", "azure-v2"].contains(dialect.name) ? .patch : .put))
        #expect(request.head.path == "/tables/t/1")
        #expect(try request.body.json[dialect.columns.version] == "v")
        #expect(
            dialect.replace(table: "t", id: "1", record: ["a": 1], version: nil, endpoint: endpoint).head.method == .put
        )
    }

    @Test("an undelete has the form of its wire")
    func undelete() throws {
        let record: JSON = ["id": "1", "a": 1, "deleted": true, "version": "old"]
        func made(_ dialect: Dialect) -> SyncRequest {
            dialect.undelete(table: "t", id: "1", record: record, version: "v", endpoint: endpoint)
        }
        for dialect in [Dialect.azureV1, .azureV2] {
            let request = made(dialect)
            #expect(request.head.method == .post && request.head.path == "/tables/t/1" && request.body.isEmpty)
            #expect(request.context.version == "v" && request.context.action == .undelete)
        }
        #expect(made(.azureV3).head.method == .patch && made(.azureV3).head.path == "/tables/t/1")
        #expect(try made(.azureV3).body.json == ["deleted": false])
        #expect(made(.datasync).head.method == .put)
        #expect(made(.datasync).head.path == "/tables/t/1?__includedeleted=true")
        #expect(try made(.datasync).body.json == ["id": "1", "a": 1, "deleted": false, "version": "v"])
    }

    @Test("what only the server sets has the names of its wire")
    func systemProperties() {
        for dialect in Dialect.all {
            let standard: [PropertyName] = ["createdAt", "updatedAt", "version", "deleted"]
            let names = standard.filter { dialect.isSystemProperty($0) }
            let prefixed: [PropertyName] = ["__createdAt", "__updatedAt", "__version", "__deleted", "__other"]
            #expect(prefixed.allSatisfy { dialect.isSystemProperty($0) } && !dialect.isSystemProperty("id"))
            let expected: [PropertyName] =
                switch dialect.name {
                case "azure-v1": []
                case "azure-v2": ["createdAt", "updatedAt", "version", "deleted"]
                default: ["updatedAt", "version", "deleted"]
                }
            #expect(names == expected)
        }
    }
}
