import Foundation
import Sluice
import SluiceCore
import Testing

@testable import SluiceBackend

/// What the servers of two generations answer to queries over their own test data.
@Suite("The servers' own queries") struct ODataCasesTests {
    @Test("Every query has the page, the count and the next link of its generation") func queries() async throws {
        let servers = try await ODataServers()
        let rows = ODataCase.all("query")
        #expect(rows.count == 190)
        for row in rows {
            let answer = await servers.answer(row)
            #expect(answer.status == 200, "\(row.testDescription): \(answer.json)")
            let items = answer.json["items"]?.elements ?? []
            #expect(items.count == row.row["count"]?.int.map(Int.init), "\(row.testDescription)")
            let first = row.row["first_ids"]?.elements ?? []
            #expect(items.prefix(first.count).map { $0["id"] } == first, "\(row.testDescription)")
            let total = answer.json["count"] ?? .null
            #expect(total == row.row["total"] ?? .null, "\(row.testDescription)")
            #expect(servers.nextLink(answer, row) == row.row["next_link"]?.string, "\(row.testDescription)")
        }
    }

    @Test("A store on the device gives the same rows in the same order", arguments: [true, false])
    func stores(inMemory: Bool) async throws {
        let movies = ["CT": try ODataCase.movies(v6: false), "AMA-v6": try ODataCase.movies(v6: true)]
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var compared = 0
        for (source, records) in movies {
            let store: any LocalStore =
                inMemory
                ? MemoryStore()
                : try SQLiteStore(path: folder.appendingPathComponent("\(source).db").path)
            try await store.define([Self.schema])
            try await store.write { writer in for record in records { try writer.put(record, in: "movies") } }
            for row in ODataCase.all("query")
            where row.source == source && ["movies", "pagedmovies", "movies_pagesize"].contains(row.table) {
                let query = try row.localQuery("movies")
                let (found, total) = try await store.read {
                    (try $0.records(matching: query), try $0.count(matching: query))
                }
                let first = row.row["first_ids"]?.elements ?? []
                #expect(found.prefix(first.count).map { $0["id"] } == first, "\(row.testDescription)")
                if let expected = row.row["total"]?.int { #expect(total == Int(expected), "\(row.testDescription)") }
                compared += 1
            }
            try await store.close()
        }
        #expect(compared > 150)
    }

    private static let schema = TableSchema(
        "movies",
        columns: [
            .init("title", .string), .init("year", .integer), .init("duration", .integer), .init("rating", .string),
            .init("releaseDate", .date), .init("bestPictureWinner", .boolean),
        ])

    @Test("Following the links brings every row once, in as many requests", arguments: ODataCase.all("paging"))
    func paging(_ row: ODataCase) async throws {
        let servers = try await ODataServers()
        var ids: [String] = []
        var requests = 0
        var page: Answer? = await servers.answer(row)
        while let answer = page {
            requests += 1
            #expect(answer.status == 200)
            ids += (answer.json["items"]?.elements ?? []).compactMap { $0["id"]?.string }
            page = await servers.next(after: answer, row)
        }
        #expect(Set(ids).count == ids.count)
        #expect(ids.count == row.row["total_items"]?.int.map(Int.init))
        #expect(requests == row.row["requests"]?.int.map(Int.init))
    }

    @Test("A selection has exactly the properties that were asked for", arguments: ODataCase.all("select"))
    func select(_ row: ODataCase) async throws {
        let items = try #require(await ODataServers().answer(row).json["items"]?.elements)
        #expect(items.count == 5)
        let names = (row.row["keys"]?.elements ?? []).compactMap { $0.string.map(PropertyName.init) }
        for item in items { #expect(Set(item.names) == Set(names)) }
    }

    @Test("Who may not see a table is told so with the table's status") func strangers() async throws {
        let servers = try await ODataServers()
        #expect(await servers.statusForStrangers("movies_rated") == 401)
        #expect(await servers.statusForStrangers("movies_legal") == 451)
    }

    @Test("A bad query is 400 with the reason, and never 500", arguments: ODataCase.all("error"))
    func error(_ row: ODataCase) async throws {
        let answer = try await ODataServers().answer(row)
        #expect(answer.status == row.row["status"]?.int.map(Int.init))
        let text = String(decoding: answer.response.body.bytes, as: UTF8.self)
        let option = row.query.prefix { $0 != "=" }
        #expect(text.contains(option) || row.query.contains("$top=1000000"), "\(text)")
    }
}
