import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// Pages end before they are too large, on every wire, and every record comes.
@Suite("Pages by bytes") struct LargePageTests {
    private func fixture(
        _ table: BackendConfiguration.Table = .init("t", columns: [.init("text", .string)])
    ) async throws -> BackendFixture {
        var configuration = BackendConfiguration(database: try TestDatabase.make(), tables: [table])
        configuration.limits.pageBytes = 4096
        let fixture = try await BackendFixture(configuration: configuration)
        // One is larger than a page may be.
        for (index, length) in [1500, 1500, 1500, 9000, 10, 10, 1500].enumerated() {
            let text = String(repeating: "x", count: length)
            let made = await fixture.send(.post, "/tables/t", #"{"id":"r\#(index)","text":"\#(text)"}"#)
            #expect(made.status == 201)
        }
        return fixture
    }

    private func path(_ link: String?) -> String? {
        guard let link, let host = link.firstRange(of: "127.0.0.1:8080") else { return link }
        return String(link[host.upperBound...].prefix { $0 != ";" })
    }

    @Test(
        "a list is followed from page to page",
        arguments: [
            ("/tables/t", "2.0.0"), ("/tables/t?$top=50&$orderby=updatedAt", "3.0.0"),
            ("/tables/t?$select=id,text", "2.0.0"),
            ("/tables/t?$filter=length(text) gt 1", "3.0.0"), ("/tables/t", ""), ("/odata/v4/t", "odata"),
            ("/odata/v4/t?$orderby=text", "odata"), ("/odata/v2/t?$format=json", "odata"),
        ])
    func lists(address: String, version: String) async throws {
        let fixture = try await fixture()
        var next: String? = address
        var (ids, pages): ([String], Int) = ([], 0)
        while let address = next, pages < 20 {
            pages += 1
            let answer = await fixture.send(
                .get, address.removingPercentEncoding ?? address, version: version.hasSuffix(".0.0") ? version : nil)
            let rows =
                answer.json["items"] ?? answer.json["value"] ?? answer.json["d"]?["results"] ?? answer.json["results"]
                ?? answer.json
            let found = rows.elements ?? []
            ids += found.compactMap { $0["id"]?.string }
            #expect(found.count == 1 || JSON(found).bytes().count < 8192)
            let link =
                answer.header("Link") ?? answer.json["nextLink"]?.string ?? answer.json["@odata.nextLink"]?.string
                ?? answer.json["d"]?["__next"]?.string
            next = path(link).map { $0.hasPrefix("/") ? $0 : "/tables/t?\($0)" }
        }
        #expect(ids.sorted() == (0..<7).map { "r\($0)" })
        #expect(pages > 2)
        try await fixture.backend.close()
    }

    @Test("changes by token come in pages of the same size, and none is left out")
    func changes() async throws {
        let fixture = try await fixture()
        var (ids, pages): ([String], Int) = ([], 0)
        var token: String?
        repeat {
            pages += 1
            let answer = await fixture.send(
                .get, "/tables/t" + (token.map { "?$deltatoken=\($0)" } ?? ""),
                headers: [("Prefer", "odata.track-changes")])
            #expect(answer.status == 200)
            if answer.ids.isEmpty { break }
            ids += answer.ids
            token = answer.header("X-Sluice-Delta-Token")
        } while pages < 20
        #expect(ids == (0..<7).map { "r\($0)" })
        #expect(pages > 3)
        try await fixture.backend.close()
    }
}
