import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("The next page")
struct NextPageTests {
    let endpoint: Endpoint

    init() throws { endpoint = try Endpoint("https://example.net/app") }

    /// The path of the request after the page, or nil at the end.
    private func next(
        _ dialect: Dialect = .azureV2, _ query: TableQuery = TableQuery("t"),
        body: String = #"[{"id":"1"},{"id":"2"}]"#,
        link: String? = nil, endpoint: Endpoint? = nil
    ) throws -> String? {
        let endpoint = endpoint ?? self.endpoint
        let request = try dialect.list(table: "t", query: query, endpoint: endpoint)
        let response = SyncResponse.json(200, body, link.map { ["Link": $0] } ?? [:])
        let page = try dialect.page(in: response, for: request.context)
        return dialect.nextPage(after: response, page: page, request: request, endpoint: endpoint)?.head.path
    }

    private func items(_ link: String) -> String { #"{"items":[{"id":"1"},{"id":"2"}],"nextLink":"\#(link)"}"# }

    @Test(
        "a link of any form is followed on every wire, from the body as from the header",
        arguments: Dialect.all,
        [
            "https://example.net/app/tables/t?$skip=2&x=%20y", "HTTPS://EXAMPLE.NET:443/app/tables/t?$skip=2&x=%20y",
            "/app/tables/t?$skip=2&x=%20y", "/app/tables/%74?$skip=2&x=%20y", "?$skip=2&x=%20y", "$skip=2&x=%20y",
            "$skip=2&x=%20y#part", "$skip=2&x= y",
        ])
    func forms(dialect: Dialect, link: String) throws {
        #expect(try next(dialect, body: items(link)) == "/app/tables/t?$skip=2&x=%20y")
        #expect(try next(dialect, link: "\(link); rel=next") == "/app/tables/t?$skip=2&x=%20y")
        #expect(try next(dialect, link: "<\(link)>; rel=\"next\"") == "/app/tables/t?$skip=2&x=%20y")
    }

    @Test(
        "a link counts by its resource and its query, whatever server and folders a proxy has made the server write",
        arguments: [
            "http://example.net/app/tables/t?$skip=2", "https://example.net.other.net/app/tables/t?$skip=2",
            "https://example.net:444/app/tables/t?$skip=2", "//[::1]:8080/app/tables/t?$skip=2",
            "http://10.0.0.7:8080/tables/t?$skip=2", "/tables/t?$skip=2", "/outer/inner/tables/t?$skip=2",
        ])
    func proxied(link: String) throws {
        for dialect in Dialect.all {
            #expect(try next(dialect, link: "\(link); rel=next") == "/app/tables/t?$skip=2")
            #expect(try next(dialect, body: items(link)) == "/app/tables/t?$skip=2")
        }
    }

    @Test(
        "a link to another resource, or with credentials, is not followed: $skip takes its place",
        arguments: [
            "http://127.0.0.1/?%24top=950&%24skip=50", "https://example.net@evil.net/app/tables/t?$skip=2",
            "https://user@example.net/app/tables/t?$skip=2", "ftp://example.net/app/tables/t?$skip=2",
            "/app/tables/other?$skip=2", "/app/tables/t/../u?$skip=2", "/app/tables/t/?$skip=2", "tables/t?$skip=2",
            "https://example.net/app/tables/t", "?", "?&", "mailto:x", "nonsense", "/app%2Ftables/t?a=b", "/t?$skip=2",
            "javascript://example.net/app/tables/t?$skip=2", "/app/tables/t?$orderby=id&$skip=3&$top=9",
        ])
    func untrusted(link: String) throws {
        let query = TableQuery("t", order: [.init("id")], skip: 3, top: 9)
        for dialect in Dialect.all {
            let expected = "/app/tables/t?$orderby=id&$skip=5&$top=7"
            #expect(try next(dialect, query, link: "\(link); rel=next") == expected)
            #expect(try next(dialect, query, body: items(link)) == expected)
        }
    }

    @Test("only rel=next leads on", arguments: Dialect.all.filter(\.linksPages))
    func relation(dialect: Dialect) throws {
        for field in [
            "?$skip=2; rel=prev", "<?$skip=2>; rel=prev", "?$skip=2", "<?$skip=2>", "?$skip=2; rel=next; x=y",
            "; rel=next", "<>; rel=next", "<?$skip=2; rel=next",
        ] {
            #expect(try next(dialect, link: field) == nil, "\(field)")
        }
        for field in [
            "?$skip=2;rel=next", "  ?$skip=2 ;  rel = next  ", "?$skip=2; rel=\"next\"", "?$skip=2; REL=NEXT",
            "<?$skip=1>; rel=prev, <?$skip=2>; rel=next", "<?$skip=2>; title=\"a;b,c\"; rel=\"last next\"",
        ] {
            #expect(try next(dialect, link: field) == "/app/tables/t?$skip=2", "\(field)")
        }
        #expect(try next(dialect, link: "?$select=a;b&$skip=2; rel=next") == "/app/tables/t?$select=a;b&$skip=2")
    }

    @Test("an empty page is the last, whatever the link says", arguments: Dialect.all)
    func empty(dialect: Dialect) throws {
        #expect(try next(dialect, body: "[]", link: "?$skip=2; rel=next") == nil)
        #expect(try next(dialect, body: #"{"items":[],"nextLink":"$skip=2"}"#) == nil)
    }

    @Test("once the wanted number of rows has come no link is followed", arguments: Dialect.all, [1, 2, 3])
    func wanted(dialect: Dialect, top: Int) throws {
        let isOver = top < 3
        let path = try next(dialect, TableQuery("t", top: top), link: "?$skip=2&$top=1; rel=next")
        #expect(path == (isOver ? nil : "/app/tables/t?$skip=2&$top=1"))
        #expect((try next(dialect, TableQuery("t", top: top), body: items("$skip=2")) == nil) == isOver)
    }

    @Test("the wanted number counts down over links that do not repeat it")
    func countdown() throws {
        let dialect = Dialect.datasync
        var request = try dialect.list(table: "t", query: TableQuery("t", top: 5), endpoint: endpoint)
        let response = SyncResponse.json(200, items("$skiptoken=x"))
        let page = try dialect.page(in: response, for: request.context)
        for round in 1...2 {
            let next = dialect.nextPage(after: response, page: page, request: request, endpoint: endpoint)
            #expect(next?.context.paging.remaining == 5 - 2 * round)
            request = try #require(next)
            if round == 2 { break }
            request.head.path = "/app/tables/t?$skiptoken=y"
        }
        #expect(dialect.nextPage(after: response, page: page, request: request, endpoint: endpoint) == nil)
    }

    @Test("the endpoint's own query stays, once")
    func ownQuery() throws {
        let endpoint = try Endpoint("https://example.net/?tenant=7&a=b")
        #expect(
            try next(.datasync, body: items("$skip=2"), endpoint: endpoint) == "/tables/t?tenant=7&a=b&$skip=2")
        #expect(
            try next(.datasync, body: items("tenant=7&a=b&$skip=2"), endpoint: endpoint)
                == "/tables/t?tenant=7&a=b&$skip=2")
    }

    @Test("what no address may hold is encoded, and escapes stay as they are")
    func mended() throws {
        let link = #"$filter=(title eq 'é\"<%41%zz')&$skip=2"#
        #expect(
            try next(.datasync, body: items(link))
                == "/app/tables/t?$filter=(title%20eq%20'%C3%A9%22%3C%41%25zz')&$skip=2")
    }

    @Test("a wire without links is asked on by $skip until a page is empty, the count is reached or a page repeats")
    func withoutLinks() throws {
        let dialect = Dialect.azureV1
        #expect(try next(dialect) == "/app/tables/t?$skip=2")
        #expect(try next(dialect, TableQuery("t", skip: 3, top: 9)) == "/app/tables/t?$skip=5&$top=7")
        #expect(try next(dialect, body: "[]") == nil)
        #expect(try next(dialect, body: #"{"results":[{"id":"1"}],"count":1}"#) == nil)
        #expect(try next(dialect, body: #"{"results":[{"id":"1"}],"count":2}"#) == "/app/tables/t?$skip=1")
        let request = try dialect.list(table: "t", query: TableQuery("t"), endpoint: endpoint)
        let response = SyncResponse.json(200, #"[{"id":"1"}]"#)
        let page = try dialect.page(in: response, for: request.context)
        let second = try #require(
            dialect.nextPage(after: response, page: page, request: request, endpoint: endpoint))
        #expect(dialect.nextPage(after: response, page: page, request: second, endpoint: endpoint) == nil)
        for other in Dialect.all.filter(\.linksPages) { #expect(try next(other) == nil) }
    }

    @Test("a page that a Link header led to says so, and the one after it no more")
    func feature() throws {
        let dialect = Dialect.azureV2
        let request = try dialect.list(table: "t", query: TableQuery("t"), endpoint: endpoint)
        let linked = SyncResponse.json(200, #"[{"id":"1"}]"#, ["Link": "?$skip=1; rel=next"])
        let page = try dialect.page(in: linked, for: request.context)
        let second = try #require(dialect.nextPage(after: linked, page: page, request: request, endpoint: endpoint))
        #expect(second.context.features == .linkHeader && request.context.features.isEmpty)
        let body = SyncResponse.json(200, items("$skip=2"))
        let other = try dialect.page(in: body, for: second.context)
        let third = try #require(dialect.nextPage(after: body, page: other, request: second, endpoint: endpoint))
        #expect(third.context.features.isEmpty)
    }

    @Test(
        "no link, however broken, leads elsewhere or makes an address that is none", arguments: 0..<20 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "https://", "example.net", "http:", "//", "/", "app", "tables", "t", "?", "&", "=", "$skip", "2", "%",
            "%2F", "%zz",
            "@", ":", "443", "#", ";", ",", "<", ">", "\"", " ", "rel=next", "rel=\"next\"", "; rel=next", "\r\n",
            "\u{0}", "é",
            "\\", "..", "..%2f", "[::1]", "+", "evil.net", "/app/tables/t", "/app/tables/t?$skip=2",
        ]
        for _ in 0..<500 {
            let link = (0...random.next(upperBound: UInt(9))).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            var targets = [PageLink(link).target(from: "/app/tables/t?$top=5", endpoint: endpoint)]
            for field in [link, "\(link); rel=next", "<\(link)>; rel=next"] {
                let found = LinkHeader.next(in: [field])
                targets.append(found.flatMap { PageLink($0).target(from: "/app/tables/t", endpoint: endpoint) })
            }
            for case let target? in targets {
                #expect(target.hasPrefix("/app/tables/t?"), "\(link)")
                #expect(throws: Never.self, "\(link)") { try Endpoint("https://example.net\(target)") }
            }
        }
    }
}
