import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Hostile text")
struct HostileTextTests {
    /// Texts of 100 KB, each long in another way.
    private static let long = [
        String(repeating: "(", count: 100_000), String(repeating: "not ", count: 25_000),
        String(repeating: "-", count: 100_000), String(repeating: "tolower(", count: 12_500),
        "a eq '" + String(repeating: "''", count: 50_000) + "'", "a eq '" + String(repeating: "x", count: 100_000),
        "a eq " + String(repeating: "9", count: 100_000), String(repeating: "a", count: 100_000),
        "a eq 1" + String(repeating: " and a eq 1", count: 9_000),
        "a in (1" + String(repeating: ",1", count: 50_000) + ")",
        "a in (b" + String(repeating: ",b", count: 50_000) + ")", "1" + String(repeating: " add 1", count: 16_000),
        String(repeating: "_x0041_", count: 14_000), String(repeating: "a,", count: 50_000),
        "a" + String(repeating: " ", count: 100_000) + "eq 1", String(repeating: "\u{301}", count: 50_000),
    ]

    // By number: the runner prints what it calls a test with.
    @Test("an expression of 100 KB is refused unread, and ends well where it is read", arguments: long.indices)
    func longFilter(index: Int) throws {
        let text = Self.long[index]
        let error = #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text) }
        #expect(error?.position == 0 && error?.reason.contains("8192 bytes") == true)
        #expect(throws: TableQuery.SyntaxError.self) { try TableQuery.order(odata: text) }
        #expect(throws: TableQuery.SyntaxError.self) { try TableQuery.select(odata: text) }
        guard let read = try? QueryExpression(odata: text, maximumLength: .max) else { return }
        #expect(try QueryExpression(odata: read.odata(.v4), maximumLength: .max) == read)
    }

    @Test("more than 64 levels are refused at the place of the level too many")
    func deepFilter() throws {
        func parentheses(_ count: Int) -> String {
            String(repeating: "(", count: count) + "a" + String(repeating: ")", count: count)
        }
        _ = try QueryExpression(odata: parentheses(63))
        for count in [64, 65, 100, 4000] {
            let error = #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: parentheses(count)) }
            #expect(error?.position == 64 && error?.reason.contains("64 levels") == true)
        }
    }

    @Test("an id stays in its place in the address, and a version in its header field", arguments: Dialect.all)
    func ids(dialect: Dialect) throws {
        let endpoint = try Endpoint("https://h.example/app?k=v")
        for id in HostileText.all {
            let body: JSON = ["id": JSON(id)]
            let requests = [
                dialect.lookup(table: "t", id: RecordID(id), version: id, endpoint: endpoint),
                dialect.update(table: "t", id: RecordID(id), changes: body, version: id, endpoint: endpoint),
                dialect.replace(table: "t", id: RecordID(id), record: body, version: id, endpoint: endpoint),
                dialect.delete(table: "t", id: RecordID(id), version: id, endpoint: endpoint),
                dialect.undelete(table: "t", id: RecordID(id), version: id, endpoint: endpoint),
            ]
            for request in requests {
                let path = try #require(request.head.path)
                #expect(path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(path)")
                let segments = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
                #expect(segments.count == 5 && segments.dropLast() == ["", "app", "tables", "t"], "\(path)")
                let read = PercentEncoding.decoded(segments[4])
                #expect(read.utf8.elementsEqual(id.utf8) && segments[4] != "." && segments[4] != "..", "\(path)")
                #expect(QueryString(ofPath: path)["k"] == "v")
                #expect(request.head.headerFields.allSatisfy { !$0.value.contains(where: \.isNewline) })
            }
            #expect(ETag(ETag.quoted(id)).version?.utf8.elementsEqual(id.replacing("\\\"", with: "\"").utf8) == true)
        }
    }

    @Test("a value, a name and a parameter come out of the address as they went in", arguments: Dialect.all)
    func values(dialect: Dialect) throws {
        let endpoint = try Endpoint("https://h.example/app?k=v")
        for text in HostileText.all {
            var query = TableQuery("t", filter: .binary(.eq, .column(PropertyName(text)), .literal(.string(text))))
            query.order = [.init(PropertyName(text), descending: true)]
            query.select = [PropertyName(text)]
            query.parameters = [.init("p" + text, text)]
            let request = try dialect.list(table: "t", query: query, endpoint: endpoint)
            let path = try #require(request.head.path)
            #expect(path.hasPrefix("/app/tables/t?k=v&") && path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(path)")
            let sent = QueryString(ofPath: path)
            let filter = try QueryExpression(odata: try #require(sent["$filter"]))
            guard case .binary(.eq, .column(let name), .literal(.string(let value))) = filter else {
                Issue.record("\(filter)")
                continue
            }
            #expect(name == PropertyName(text) && value.utf8.elementsEqual(text.utf8), "\(path)")
            #expect(try TableQuery.order(odata: try #require(sent["$orderby"])) == query.order)
            let selected = try TableQuery.select(odata: try #require(sent["$select"]))
            #expect(selected.count(where: { $0 == PropertyName(text) }) == 1, "\(path)")
            #expect(sent["p" + text]?.utf8.elementsEqual(text.utf8) == true)
        }
    }
}
