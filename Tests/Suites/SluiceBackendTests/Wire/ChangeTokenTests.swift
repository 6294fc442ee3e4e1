import HTTPTypes
import SluiceCore
import SluiceSQLite
import Synchronization
import Testing

@testable import SluiceBackend

@Suite("Change tokens") struct ChangeTokenTests {
    private static let prefer = ("Prefer", "odata.track-changes")

    /// A client that keeps the rows of one list by its tokens.
    private struct Follower {
        let fixture: BackendFixture
        var path = "/tables/t"
        var headers: [(String, String)] = []
        var rows: [String: JSON] = [:]
        var token: String?
        /// The ids in the order in which they came.
        var heard: [String] = []

        /// Reads a page; false for one that is empty.
        mutating func page() async -> Answer {
            let joint = path.contains("?") ? "&" : "?"
            let answer = await fixture.send(
                .get, path + (token.map { "\(joint)$deltatoken=\($0)" } ?? ""),
                headers: headers + [ChangeTokenTests.prefer])
            token = answer.header("X-Sluice-Delta-Token") ?? token
            for row in (answer.json["results"] ?? answer.json).elements ?? [] {
                guard let id = row["id"]?.string else { continue }
                heard.append(id)
                rows[id] = row["deleted"]?.bool == true ? nil : row
            }
            return answer
        }

        /// Reads until a page is empty.
        mutating func follow() async {
            for _ in 0..<200 {
                let before = heard.count
                let answer = await page()
                #expect(answer.status == 200, "\(answer.error)")
                if heard.count == before { return }
            }
            Issue.record("no page was empty")
        }
    }

    private func fixture(_ count: Int, _ rules: BackendConfiguration.Table...) async throws -> BackendFixture {
        let seed = (0..<count).map { JSON(members: [("id", JSON("r\($0)")), ("n", JSON($0))]) }
        return try await BackendFixture(
            tables: rules.isEmpty ? [.init("t", seed: .records(seed), pageSize: 3)] : rules)
    }

    @Test(
        "a list that asks for tokens gets one on each page, on every wire",
        arguments: RepeatableRequestTests.wires.keys.sorted())
    func wires(wire: String) async throws {
        let fixture = try await fixture(4)
        let headers = (RepeatableRequestTests.wires[wire] ?? [])
        func list(_ more: String, _ fields: [(String, String)] = []) async -> Answer {
            await fixture.send(.get, "/tables/t" + more, headers: headers + fields, version: nil)
        }
        let plain = await list("")
        #expect(plain.header("X-Sluice-Delta-Token") == nil)
        #expect(plain.header("Preference-Applied") == nil)
        let first = await list("", [Self.prefer])
        #expect(first.header("Preference-Applied") == "odata.track-changes")
        #expect(first.next == nil)
        #expect(first.json["nextLink"] ?? .null == .null)
        let token = try #require(first.header("X-Sluice-Delta-Token"))
        let second = await list("?$deltatoken=\(token)")
        let ids = [first, second].flatMap { ($0.json["items"] ?? $0.json).elements ?? [] }.compactMap {
            $0["id"]?.string
        }
        #expect(ids == ["r0", "r1", "r2", "r3"])
        let end = await list("?$deltatoken=\(second.header("X-Sluice-Delta-Token") ?? "")")
        #expect((end.json["items"] ?? end.json).elements?.isEmpty == true)
        _ = await fixture.send(.delete, "/tables/t/r2")
        let gone = await list("?$deltatoken=\(end.header("X-Sluice-Delta-Token") ?? "")")
        let row = try #require((gone.json["items"] ?? gone.json).elements?.first)
        let prefix = wire == "azure-v1" ? "__" : ""
        #expect(
            row == [
                "id": "r2", "\(prefix)version": JSON(HistoryPoint(epoch: 0, number: 5).version),
                "\(prefix)deleted": true,
                "@removed": ["reason": "deleted"],
            ])
        // A client that reads tombstones gets the record that was deleted.
        let shown = await list("?__includeDeleted=true&$deltatoken=\(end.header("X-Sluice-Delta-Token") ?? "")")
        let tombstone = try #require((shown.json["items"] ?? shown.json).elements?.first)
        #expect(tombstone["n"] == 2)
        #expect(tombstone["@removed"] == nil)
    }

    @Test("with a count the older wires answer with an object, and the count is of what is left to tell")
    func counts() async throws {
        let fixture = try await fixture(4)
        let first = await fixture.send(.get, "/tables/t?$inlinecount=allpages", headers: [Self.prefer])
        #expect(first.json["count"] == 4)
        let token = first.header("X-Sluice-Delta-Token") ?? ""
        let second = await fixture.send(.get, "/tables/t?$inlinecount=allpages&$deltatoken=\(token)")
        #expect(second.json["count"] == 1)
        // A page of no rows says nothing about the changes.
        let none = await fixture.send(.get, "/tables/t?$top=0", headers: [Self.prefer])
        let all = await fixture.send(.get, "/tables/t?$deltatoken=\(none.header("X-Sluice-Delta-Token") ?? "")")
        #expect(all.ids == ["r0", "r1", "r2"])
    }

    @Test("what is committed while a client pages is not missed", arguments: 1...20) func whilePaging(seed: Int)
        async throws
    {
        let fixture = try await fixture(12)
        var random = SeededNumbers(seed: UInt64(seed))
        var all = Follower(fixture: fixture)
        var even = Follower(fixture: fixture, path: "/tables/t?$filter=n mod 2 eq 0")
        for step in 0..<60 {
            let id = "r\(random.next(below: 14))"
            switch random.next(below: 6) {
            case 0: _ = await fixture.send(.post, "/tables/t", #"{"id":"\#(id)","n":\#(step)}"#)
            case 1: _ = await fixture.send(.delete, "/tables/t/\(id)")
            case 2: _ = await fixture.send(.post, "/tables/t/\(id)")
            case 3: _ = await fixture.send(.patch, "/tables/t/\(id)", #"{"n":\#(step)}"#)
            case 4: _ = await all.page()
            default: _ = await even.page()
            }
        }
        await all.follow()
        await even.follow()
        var rows: [JSON] = []
        while rows.count < 100 {
            let page = await fixture.send(.get, "/tables/t?$skip=\(rows.count)").json.elements ?? []
            if page.isEmpty { break }
            rows += page
        }
        #expect(Set(all.rows.values) == Set(rows))
        #expect(Set(even.rows.values) == Set(rows.filter { ($0["n"]?.int ?? 1) % 2 == 0 }))
    }

    @Test("changes come in the order of their commits, whatever the clock does") func commitOrder() async throws {
        let clock = Mutex(BackendFixture.now.ticks)
        let fixture = try await BackendFixture(
            tables: [.init("t", pageSize: 2)], now: { Timestamp(ticks: clock.withLock { $0 }) })
        var follower = Follower(fixture: fixture)
        await follower.follow()
        for (index, years) in [0, 10, -10, 3, -5].enumerated() {
            clock.withLock { $0 = BackendFixture.now.ticks + Int64(years) * 365 * 86_400 * Timestamp.ticksPerSecond }
            _ = await fixture.send(.post, "/tables/t", #"{"id":"c\#(index)"}"#)
            if index % 2 == 0 { await follower.follow() }
        }
        await follower.follow()
        #expect(follower.heard == ["c0", "c1", "c2", "c3", "c4"])
    }

    @Test("what left the filter is told as removed, and what never was in it is not") func leftFilter() async throws {
        let fixture = try await fixture(6)
        var low = Follower(fixture: fixture, path: "/tables/t?$filter=n lt 3")
        await low.follow()
        #expect(low.heard == ["r0", "r1", "r2"])
        _ = await fixture.send(.patch, "/tables/t/r1", #"{"n":9}"#)
        let answer = await low.page()
        #expect(answer.json.elements?.first?["@removed"] == ["reason": "changed"])
        #expect(answer.json.elements?.first?["n"] == nil)
        #expect(Set(low.rows.keys) == ["r0", "r2"])
        // In again.
        _ = await fixture.send(.patch, "/tables/t/r1", #"{"n":0}"#)
        await low.follow()
        #expect(Set(low.rows.keys) == ["r0", "r1", "r2"])
    }

    @Test("nobody is told of other users' records") func users() async throws {
        let fixture = try await BackendFixture(
            tables: [.init("t", pageSize: 2, perUser: "owner")], authentication: .init(secret: .text(TestToken.secret)))
        let (alice, bob) = (
            [("X-ZUMO-AUTH", try await TestToken.user("alice"))], [("X-ZUMO-AUTH", try await TestToken.user("bob"))]
        )
        var (ofAlice, ofBob) = (
            Follower(fixture: fixture, headers: alice),
            Follower(fixture: fixture, path: "/tables/t?$filter=n eq 1", headers: bob)
        )
        await ofAlice.follow()
        await ofBob.follow()
        for index in 0..<5 {
            _ = await fixture.send(.post, "/tables/t", #"{"id":"a\#(index)","n":1}"#, headers: alice)
            _ = await fixture.send(.post, "/tables/t", #"{"id":"b\#(index)","n":1}"#, headers: bob)
        }
        _ = await fixture.send(.delete, "/tables/t/a0", headers: alice)
        _ = await fixture.send(.patch, "/tables/t/b0", #"{"n":2}"#, headers: bob)
        await ofAlice.follow()
        await ofBob.follow()
        #expect(ofAlice.heard.allSatisfy { $0.hasPrefix("a") })
        #expect(ofBob.heard.allSatisfy { $0.hasPrefix("b") })
        #expect(ofAlice.rows.count == 4)
        // A token is its user's.
        ofAlice.headers = bob
        #expect(await ofAlice.page().status == 410)
    }

    @Test(
        "a page is a range of an index, by user where records have one", .enabled(if: TestDatabase.isSQLite),
        arguments: [false, true])
    func range(perUser: Bool) async throws {
        var rules = BackendConfiguration.Table("t", columns: [.init("owner", .string), .init("n", .integer)])
        rules.view = try QueryExpression(odata: "n gt 0")
        let owner = try QueryExpression(odata: "owner eq 'alice'")
        if perUser {
            rules.perUser = "owner"
            rules.access = .authenticated
        }
        let fixture = try await BackendFixture(
            tables: [rules], authentication: .init(secret: .text(TestToken.secret)))
        let query = ChangeQuery(
            about: .all(perUser ? owner : nil, rules.view, try QueryExpression(odata: "n lt 5 and deleted eq false")),
            owned: perUser ? owner : nil, view: rules.view, position: BackendFixture.now, base: BackendFixture.now,
            size: PageSize(records: 10, bytes: 1 << 20))
        let filter = try #require(query.filter)
        let plan = try await fixture.backend.served.database.read { connection in
            guard let table = fixture.backend.served.table("t") else { return "" }
            let printer = SQLQueryPrinter(dialect: .sqlite, schema: table.schema, extraColumn: "_extra")
            let condition = try printer.condition(filter)
            let order = try printer.ordering([.init("updatedAt")]).text
            return try connection.run(
                "EXPLAIN QUERY PLAN SELECT * FROM t WHERE \(condition.text) ORDER BY \(order) LIMIT 10",
                condition.values
            ).flatMap { $0 }.map { "\($0)" }.joined()
        }
        #expect(plan.contains("USING INDEX t(\(perUser ? "owner," : "")updatedAt)"), "\(plan)")
        #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
    }

    @Test("what leaves the view is told to those who could see it, and what never was in it to nobody")
    func view() async throws {
        var rules = BackendConfiguration.Table("t", pageSize: 2)
        rules.view = try QueryExpression(odata: "draft eq false")
        let fixture = try await BackendFixture(rules)
        for index in 0..<4 {
            _ = await fixture.send(.post, "/tables/t", #"{"id":"r\#(index)","draft":false}"#)
        }
        var follower = Follower(fixture: fixture)
        await follower.follow()
        // No request sees it from the beginning; a change takes one out.
        _ = await fixture.send(.post, "/tables/t", #"{"id":"hidden","draft":true}"#)
        _ = await fixture.send(.patch, "/tables/t/r1", #"{"draft":true}"#)
        let answer = await follower.page()
        #expect(answer.json.elements?.count == 1)
        #expect(answer.json.elements?.first?["@removed"] == ["reason": "changed"])
        #expect(follower.heard.last == "r1")
        await follower.follow()
        #expect(!follower.heard.contains("hidden"))
        // Who begins now hears neither of the one nor of the other, and no hidden column.
        var late = Follower(fixture: fixture)
        await late.follow()
        #expect(late.heard == ["r0", "r2", "r3"])
        for row in late.rows.values { #expect((row.members ?? []).allSatisfy { !$0.name.text.hasPrefix("__") }) }
        #expect(await fixture.send(.get, "/tables/t?$filter=__left ne null").ids == [])
    }

    @Test("tokens from before a removal for good are worth nothing; later ones are") func removals() async throws {
        let clock = Mutex(BackendFixture.now.ticks)
        var rules = BackendConfiguration.Table("t")
        rules.tombstonesExpire = .seconds(3600)
        let fixture = try await BackendFixture(
            tables: [rules, .init("hard", softDelete: false)], now: { Timestamp(ticks: clock.withLock { $0 }) })
        for id in ["a", "b"] { _ = await fixture.send(.post, "/tables/t", #"{"id":"\#(id)"}"#) }
        var (away, present) = (Follower(fixture: fixture), Follower(fixture: fixture))
        await away.follow()
        _ = await fixture.send(.delete, "/tables/t/a")
        await present.follow()
        clock.withLock { $0 += 7200 * Timestamp.ticksPerSecond }
        #expect(try await fixture.backend.expire() == 1)
        let refused = await away.page()
        #expect(refused.status == 410)
        #expect(refused.error.contains("removed for good"))
        await present.follow()
        #expect(present.rows.count == 1)
        var fresh = Follower(fixture: fixture)
        await fresh.follow()
        #expect(fresh.rows.count == 1)

        for id in ["a", "b"] { _ = await fixture.send(.post, "/tables/hard", #"{"id":"\#(id)"}"#) }
        var hard = Follower(fixture: fixture, path: "/tables/hard")
        await hard.follow()
        _ = await fixture.send(.delete, "/tables/hard/a")
        #expect(await hard.page().status == 410)
        hard = Follower(fixture: fixture, path: "/tables/hard")
        await hard.follow()
        #expect(hard.heard == ["b"])
    }

    @Test("foreign and broken tokens are refused") func foreign() async throws {
        let fixture = try await BackendFixture(.init("t"), .init("other"))
        let token = await fixture.send(.get, "/tables/t", headers: [Self.prefer]).header("X-Sluice-Delta-Token") ?? ""
        func status(_ path: String) async -> Int { await fixture.send(.get, path).status }
        #expect(await status("/tables/t?$deltatoken=\(token)") == 200)
        #expect(await status("/tables/other?$deltatoken=\(token)") == 410)
        #expect(await status("/tables/t?$deltatoken=\(token)&$filter=n eq 1") == 410)
        for garbage in ["", "x", "AAAA", "\(token)A", "\(token.dropLast(4))", String(repeating: "A", count: 5000)] {
            #expect(await status("/tables/t?$deltatoken=\(garbage)") == 400, "\(garbage.prefix(50))")
        }
        #expect(await status("/tables/t?$deltatoken=\(token)&$skip=1") == 400)
        #expect(await status("/tables/t?$deltatoken=\(token)&$orderby=n") == 400)
        #expect(await status("/tables/t?$deltatoken=\(token)&$orderby=updatedAt,id") == 200)
        // Another database is another life.
        let second = try await BackendFixture(.init("t"))
        #expect(await second.send(.get, "/tables/t?$deltatoken=\(token)").status == 410)
        var forged = try ChangeToken(token)
        forged.position = Timestamp("2099-01-01") ?? forged.position
        #expect(await status("/tables/t?$deltatoken=\(forged.text)") == 410)
    }

    @Test("a client that read by time goes on with tokens from there") func fromTime() async throws {
        let fixture = try await fixture(4)
        let rows = try await fixture.backend.served.database.read { connection in
            try fixture.backend.served.table("t")?.records(
                matching: TableQuery("t", order: [.init("updatedAt")]), connection) ?? []
        }
        let time = rows[2]["updatedAt"]?.string ?? ""
        _ = await fixture.send(.patch, "/tables/t/r0", #"{"n":100}"#)
        let filter = "n lt 50 and updatedAt ge datetimeoffset'\(time)'"
        let first = await fixture.send(.get, "/tables/t?$filter=\(filter)&$orderby=updatedAt", headers: [Self.prefer])
        #expect(first.ids == ["r2", "r3", "r0"])
        #expect(first.json.elements?.last?["@removed"] == ["reason": "changed"])
        let token = first.header("X-Sluice-Delta-Token") ?? ""
        #expect(await fixture.send(.get, "/tables/t?$filter=n lt 50&$deltatoken=\(token)").status == 200)
    }

    @Test("a list in another order, and one that hooks narrow, has no tokens") func notApplied() async throws {
        struct Narrowing: TableHooks {
            func before(_ request: inout HookRequest) async throws {
                request.filter = try QueryExpression(odata: "n lt 2")
            }
        }
        let fixture = try await fixture(4)
        for query in ["?$orderby=n", "?$skip=1", "?$orderby=updatedAt desc"] {
            let answer = await fixture.send(.get, "/tables/t" + query, headers: [Self.prefer])
            #expect(answer.status == 200)
            #expect(answer.header("Preference-Applied") == nil, "\(query)")
        }
        let hooked = try await BackendFixture(tables: [.init("t")], hooks: ["t": Narrowing()])
        let answer = await hooked.send(.get, "/tables/t", headers: [Self.prefer])
        #expect(answer.header("X-Sluice-Delta-Token") == nil)
        let token = ChangeToken(
            position: BackendFixture.now, base: BackendFixture.now, fingerprint: 1,
            point: HistoryPoint(epoch: 0, number: 0)
        ).text
        #expect(await hooked.send(.get, "/tables/t?$deltatoken=\(token)").status == 410)
    }

    @Test("a selection holds for changes too") func selection() async throws {
        let fixture = try await fixture(2)
        let answer = await fixture.send(.get, "/tables/t?$select=id,n", headers: [Self.prefer])
        #expect(answer.json == [["id": "r0", "n": 0], ["id": "r1", "n": 1]])
    }
}

/// Numbers that a seed decides.
struct SeededNumbers {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next(below bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}
