import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Pages of an online table")
struct TablePagingTests {
    private func rows(_ ids: Range<Int>) -> String { "[\(ids.map { #"{"id":"\#($0)"}"# }.joined(separator: ","))]" }

    private func linked(_ ids: Range<Int>, _ link: String?) -> String {
        #"{"items":\#(rows(ids)),"nextLink":\#(link.map { "\"\($0)\"" } ?? "null")}"#
    }

    private func ids(_ table: OnlineTable<JSON>, _ query: TableQuery? = nil) async throws -> [String] {
        var ids: [String] = []
        for try await record in table.records(query) { ids.append(record["id"]?.string ?? "?") }
        return ids
    }

    @Test(
        "a walk follows the server's links, whatever their form",
        arguments: ["$skip=2", "?$skip=2", "/app/tables/t?$skip=2", "https://example.net/app/tables/t?$skip=2"])
    func links(link: String) async throws {
        let transport = ScriptedTransport([.json(200, linked(0..<2, link)), .json(200, linked(2..<3, nil))])
        #expect(try await ids(client(transport, dialect: .datasync).table("t")) == ["0", "1", "2"])
        #expect(transport.lines == ["GET /app/tables/t", "GET /app/tables/t?$skip=2"])
    }

    @Test("a Link header leads on as well, and the request says so")
    func linkHeader() async throws {
        let link = "https://example.net/app/tables/t?$top=2&$skip=2; rel=next"
        let transport = ScriptedTransport([
            .json(200, rows(0..<2), ["Link": link]), .json(200, rows(2..<3)), .json(200, "[]"),
        ])
        #expect(try await ids(client(transport).table("t")) == ["0", "1", "2"])
        #expect(transport.requests.map { $0.context.features.contains(.linkHeader) } == [false, true, false])
        #expect(transport.lines[2] == "GET /app/tables/t?$top=1&$skip=3")
    }

    @Test("a link to another server is not followed: the walk goes on by $skip")
    func wrongHost() async throws {
        let transport = ScriptedTransport([
            .json(200, linked(0..<2, "https://evil.org/app/tables/t?$skip=2")), .json(200, linked(2..<3, nil)),
        ])
        #expect(try await ids(client(transport, dialect: .azureV3).table("t")) == ["0", "1", "2"])
        #expect(transport.requests.allSatisfy { $0.head.authority == "example.net" })
        #expect(transport.lines[1] == "GET /app/tables/t?$skip=2")
    }

    @Test("without links a walk ends at an empty page")
    func skip() async throws {
        let transport = ScriptedTransport([.json(200, rows(0..<2)), .json(200, rows(2..<3)), .json(200, "[]")])
        var table = client(transport, dialect: .azureV1).table("t")
        table.systemProperties = []
        #expect(try await ids(table) == ["0", "1", "2"])
        #expect(transport.lines == ["GET /app/tables/t", "GET /app/tables/t?$skip=2", "GET /app/tables/t?$skip=3"])
    }

    @Test("$top is the number of rows in all, even if the server sends more")
    func top() async throws {
        let transport = ScriptedTransport([.json(200, rows(0..<2)), .json(200, rows(2..<5))])
        var table = client(transport, dialect: .azureV1).table("t")
        table.systemProperties = []
        #expect(try await ids(table, TableQuery("t").taking(3)) == ["0", "1", "2"])
        #expect(transport.lines == ["GET /app/tables/t?$top=3", "GET /app/tables/t?$top=1&$skip=2"])
    }

    @Test("a server that sends the same page again is found out")
    func noProgress() async throws {
        let again = ScriptedTransport(otherwise: .json(200, rows(0..<2)))
        let error = await #expect(throws: SluiceError.self) {
            try await ids(client(again, dialect: .azureV1).table("t"))
        }
        #expect(error?.code == .brokenProtocol && again.requests.count == 2)
        let link = ScriptedTransport(otherwise: .json(200, linked(0..<2, "$skip=2")))
        await #expect(throws: SluiceError.self) { try await ids(client(link, dialect: .datasync).table("t")) }
        #expect(link.requests.count == 2)
    }

    @Test("links that lead round in a circle are found out")
    func circle() async throws {
        let transport = ScriptedTransport([
            .json(200, linked(0..<2, "$skip=2")), .json(200, linked(2..<4, "$skip=4")),
            .json(200, linked(4..<6, "$skip=2")),
        ])
        let error = await #expect(throws: SluiceError.self) {
            try await ids(client(transport, dialect: .datasync).table("t"))
        }
        #expect(error?.code == .brokenProtocol && transport.requests.count == 3)
    }

    @Test("a projection brings the id along, by which pages are told apart")
    func projection() async throws {
        let transport = ScriptedTransport([.json(200, #"[{"id":"1","n":1}]"#), .json(200, "[]")])
        var table = client(transport, dialect: .azureV1).table("t")
        table.systemProperties = []
        for try await _ in table.records(TableQuery("t").selecting("n")) {}
        #expect(transport.lines == ["GET /app/tables/t?$select=n,id", "GET /app/tables/t?$select=n,id&$skip=1"])
    }

    @Test("rows without ids can be alike, and do not end a walk that a link leads on")
    func alike() async throws {
        let transport = ScriptedTransport([
            .json(200, #"{"items":[{"n":1}],"nextLink":"$skip=1"}"#),
            .json(200, #"{"items":[{"n":1}],"nextLink":"$skip=2"}"#), .json(200, #"{"items":[]}"#),
        ])
        let table = client(transport, dialect: .datasync).table("t")
        var count = 0
        for try await _ in table.records() { count += 1 }
        #expect(count == 2)
    }

    @Test("pages can be walked by hand, with their parameters, and give out no empty page at the end")
    func byHand() async throws {
        let transport = ScriptedTransport([.json(200, rows(0..<2)), .json(200, rows(2..<3)), .json(200, "[]")])
        var table = client(transport, dialect: .azureV1).table("t")
        table.systemProperties = []
        let first = try await table.read(parameters: ["x": "y"])
        let second = try #require(try await table.read(after: first))
        let third = try #require(try await table.read(after: second))
        #expect(first.rows.count == 2 && second.rows.count == 1 && third.rows.isEmpty && !third.hasNext)
        #expect(try await table.read(after: third) == nil)
        #expect(transport.lines[1] == "GET /app/tables/t?x=y&$skip=2")
        let pages = ScriptedTransport([.json(200, rows(0..<2)), .json(200, "[]")])
        var sizes: [Int] = []
        for try await page in client(pages, dialect: .azureV1).table("t").pages() { sizes.append(page.rows.count) }
        #expect(sizes == [2])
    }

    @Test("an error ends a walk, and a cancelled task ends it as cancelled")
    func failure() async throws {
        let transport = ScriptedTransport([.json(200, linked(0..<2, "$skip=2")), .json(400, #"{"error":"no"}"#)])
        var iterator = client(transport, dialect: .datasync).table("t").pages().makeAsyncIterator()
        #expect(try await iterator.next()?.rows.count == 2)
        let error = await #expect(throws: SluiceError.self) { try await iterator.next() }
        #expect(error?.code == .rejected && error?.message == "no")
        #expect(try await iterator.next() == nil)

        let endless = ScriptedTransport { _ in
            try await Task.sleep(for: .seconds(100))
            return .json(200, "[]")
        }
        let walk = Task { try await ids(client(endless).table("t")) }
        walk.cancel()
        #expect(await #expect(throws: SluiceError.self) { try await walk.value }?.code == .cancelled)
    }
}
