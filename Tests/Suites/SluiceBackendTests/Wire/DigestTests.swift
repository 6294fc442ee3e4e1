import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("Digests") struct DigestTests {
    private func digest(_ rows: [JSON]) -> RowDigest {
        var digest = RowDigest()
        for row in rows { digest.add(id: row["id"]?.textID ?? "", version: row["version"]?.string ?? "") }
        return digest
    }

    @Test("a row's share is the FNV-1a hash of id, NUL and version, with its bits spread") func share() {
        // The test vectors of RFC 9923.
        #expect(FNV1a.hash("foobar".utf8) == 0x8594_4171_f739_67e8)
        var digest = RowDigest()
        #expect(digest.text == "0000000000000000")
        digest.add(id: "a", version: "b")
        #expect(digest.sum == FNV1a.spread(FNV1a.hash([0x61, 0, 0x62])))
    }

    @Test("a table's digest is that of the rows that its list shows, whole and range by range") func ranges()
        async throws
    {
        let fixture = try await BackendFixture.movies(pageSize: 1000)
        _ = await fixture.send(.delete, "/tables/movies/id-003")
        let answer = await fixture.send(.get, "/tables/movies/$digest")
        let rows = (await fixture.send(.get, "/tables/movies?$orderby=id").json.elements ?? [])
        #expect(rows.count == 247)
        #expect(answer.json["count"] == 247)
        #expect(answer.json["digest"]?.string == digest(rows).text)
        let ranges = answer.json["ranges"]?.elements ?? []
        #expect((32...64).contains(ranges.count))
        var last = ""
        for range in ranges {
            let (from, to) = (range["from"]?.string ?? "", range["to"]?.string ?? "")
            #expect(last < from && from <= to)
            last = to
            let part = rows.filter { (from...to).contains($0["id"]?.string ?? "") }
            #expect(range["count"]?.int == Int64(part.count))
            #expect(range["digest"]?.string == digest(part).text)
        }
        // A range is asked for in finer ranges.
        let (from, to) = (ranges[0]["from"]?.string ?? "", ranges[1]["to"]?.string ?? "")
        let part = await fixture.send(.get, "/tables/movies/$digest?from=\(from)&to=\(to)").json
        #expect(part["digest"]?.string == digest(rows.filter { (from...to).contains($0["id"]?.string ?? "") }).text)
        #expect(part["ranges"]?.elements?.count == part["count"]?.int.map { Int($0) })
        #expect(part["ranges"]?.elements?[0]["from"] == part["ranges"]?.elements?[0]["to"])
    }

    @Test("a filter holds, and ids are in the order of their bytes") func filter() async throws {
        let fixture = try await BackendFixture.empty()
        for (index, id) in ["b", "B", "é", "z", "a"].enumerated() {
            _ = await fixture.send(.post, "/tables/t", #"{"id":"\#(id)","n":\#(index)}"#)
        }
        let all = await fixture.send(.get, "/tables/t/$digest").json
        #expect(all["ranges"]?.elements?.compactMap { $0["from"]?.string } == ["B", "a", "b", "z", "é"])
        let some = await fixture.send(.get, "/tables/t/$digest?$filter=n ge 3").json
        #expect(some["ranges"]?.elements?.compactMap { $0["from"]?.string } == ["a", "z"])
        let none = await fixture.send(.get, "/tables/t/$digest?from=y&to=c").json
        #expect(none == ["count": 0, "digest": "0000000000000000", "ranges": []])
        for query in ["$top=1", "$skip=1", "$filter=n gt", "from=a&from=b", "$deltatoken=x"] {
            #expect(await fixture.send(.get, "/tables/t/$digest?\(query)").status == 400, "\(query)")
        }
        #expect(await fixture.send(.post, "/tables/missing/$digest").status == 404)
    }

    @Test("a record may be called so all the same") func sameName() async throws {
        let fixture = try await BackendFixture.empty()
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"$digest"}"#).status == 201)
        #expect(await fixture.send(.get, "/tables/t/%24digest").json["id"] == "$digest")
        #expect(await fixture.send(.get, "/tables/t/$digest").json["count"] == 1)
    }

    @Test("users, views and hooks decide what is in it, and access who may ask") func scope() async throws {
        struct Narrowing: TableHooks {
            func before(_ request: inout HookRequest) async throws {
                if request.operation == .read { request.filter = try QueryExpression(odata: "n lt 3") }
            }
        }
        var rules = BackendConfiguration.Table("t", perUser: "owner")
        rules.view = try QueryExpression(odata: "n gt 0")
        let fixture = try await BackendFixture(
            tables: [rules], authentication: .init(secret: .text(TestToken.secret)), hooks: ["t": Narrowing()])
        for user in ["alice", "bob"] {
            for index in 0..<5 {
                _ = await fixture.send(
                    .post, "/tables/t", #"{"id":"\#(user)-\#(index)","n":\#(index)}"#,
                    headers: [("X-ZUMO-AUTH", try await TestToken.user(user))])
            }
        }
        #expect(await fixture.send(.get, "/tables/t/$digest").status == 401)
        let answer = await fixture.send(
            .get, "/tables/t/$digest", headers: [("X-ZUMO-AUTH", try await TestToken.user("alice"))])
        #expect(answer.json["ranges"]?.elements?.compactMap { $0["from"]?.string } == ["alice-1", "alice-2"])
    }
}
