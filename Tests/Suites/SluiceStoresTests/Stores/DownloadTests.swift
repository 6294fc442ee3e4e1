import Foundation
import HTTPTypes
import SluiceCore
import SluiceSQLite
import SluiceStores
import SluiceTesting
import Testing

@Suite("Defining requests and downloads") struct DownloadTests {
    typealias Answer = StoresFixture.Answer

    @Test("a store holds the union of its requests, and a record leaves when the last lets it go")
    func union() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        try await fixture.fill("high", "Agencies?$filter=Rank ge 5")
        fixture.store.mode = .offline
        #expect(try await fixture.ask("Agencies").ids == ["cn-1", "cn-2", "us-1", "us-2", "us-3"])
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US' or Rank ge 6").source == .localComplete)
        try await fixture.offline.remove("us")
        #expect(try await fixture.ask("Agencies").ids == ["cn-1", "cn-2", "us-3"])
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US'").source == .localPartial)
        try await fixture.offline.remove("high")
        #expect(try await fixture.ask("Agencies") == Answer([], .localPartial))
        #expect(fixture.server.rows("Agencies").count == 5)
        #expect(await code { try await fixture.offline.remove("high") } == .invalidArgument)
    }

    @Test(
        "records that change at the service so that they enter or leave a filter come and go", arguments: [true, false])
    func leaving(_ hasTokens: Bool) async throws {
        let fixture = try await StoresFixture()
        var traits = ModelServer.Traits()
        traits.issuesChangeTokens = hasTokens
        fixture.server.set(traits)
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        fixture.server.seed("Agencies", [["id": "us-1", "Country": "CA"], ["id": "cn-1", "Country": "US"]])
        fixture.server.softDelete("Agencies", "us-2")
        let result = try await fixture.offline.download()
        #expect(result.removed == 2)
        fixture.store.mode = .offline
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US'") == Answer(["cn-1", "us-3"], .localComplete))
        #expect(try await fixture.ask("Agencies").ids == ["cn-1", "us-3"])
    }

    @Test("what a request expands is downloaded with it, follows its records, and goes with it")
    func expansion() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'&$expand=Bookings,Owner($expand=Boss)")
        fixture.isUp = false
        let expanded = try await fixture.store.read(
            "Agencies?$filter=Country eq 'US'&$orderby=Rank&$expand=Bookings($orderby=Price),Owner($expand=Boss)")
        #expect(expanded.source == .localComplete)
        #expect(expanded.records[0]["Bookings"]?.elements?.map { $0["id"] } == ["b-2", "b-1"])
        #expect(expanded.records[0]["Owner"]?["Boss"]?["Name"] == "Bo")
        #expect(expanded.records[1]["Owner"] == JSON.null)
        #expect(expanded.records[2]["Bookings"]?.count == 0)
        fixture.store.mode = .offline
        #expect(try await fixture.ask("Bookings").ids == ["b-1", "b-2", "b-3"])
        fixture.isUp = true
        // One agency more, and a booking of one that was there.
        fixture.server.seed("Agencies", [["id": "us-4", "Country": "US", "Rank": 8, "OwnerID": "p-3"]])
        fixture.server.seed(
            "Bookings",
            [["id": "b-5", "AgencyID": "us-4", "Price": 1], ["id": "b-6", "AgencyID": "us-3", "Price": 2]])
        fixture.server.seed("Bookings", [["id": "b-3", "AgencyID": "cn-2"]])
        try await fixture.offline.download()
        fixture.store.mode = .offline
        #expect(try await fixture.ask("Bookings").ids == ["b-1", "b-2", "b-5", "b-6"])
        #expect(try await fixture.ask("People").ids == ["p-1", "p-2", "p-3"])
        try await fixture.offline.remove("us")
        for table in ["Agencies", "Bookings", "People"] { #expect(try await fixture.ask(table).ids == []) }
    }

    @Test("what a record is linked to is not here because the record came to match by an edit, or by another request")
    func editedIntoARequest() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'&$expand=Bookings,Owner")
        try await fixture.fill("high", "Agencies?$filter=Rank ge 6")
        let us = "Agencies?$filter=Country eq 'US'"
        let expanded = us + "&$expand=Bookings"
        #expect(try await fixture.ask(expanded).source == .localComplete)
        // Its booking b-4 was never asked for.
        try await fixture.store.patch(["id": "cn-1", "Country": "US"], in: "Agencies")
        #expect(try await fixture.ask(us, from: fixture.offline).source == .localComplete)
        let part = try await fixture.offline.read(expanded)
        #expect(part.source == .localPartial && part.explain.contains("cn-1"), "\(part.explain)")
        #expect(
            try await fixture.ask("Agencies('cn-1')?$expand=Bookings", from: fixture.offline).source == .localPartial)
        #expect(try await fixture.ask("Agencies('cn-1')/Bookings", from: fixture.offline).source == .localPartial)
        #expect(try await fixture.ask("Agencies('us-1')/Bookings") == Answer(["b-1", "b-2"], .localComplete))
        let merged = try await fixture.store.read("Agencies('cn-1')?$expand=Bookings")
        #expect(merged.record?["Bookings"]?.elements?.map { $0["id"] } == ["b-4"] && merged.source == .merged)
        // Once it is sent it is the same, until the request has been downloaded again.
        try await fixture.context.push()
        #expect(try await fixture.ask(expanded, from: fixture.offline).source == .localPartial)
        // A link that was changed leads to what was never asked for; one to nothing leads to nothing.
        let owners = us + " and id ne 'cn-1'&$expand=Owner"
        #expect(try await fixture.ask(owners, from: fixture.offline).source == .localComplete)
        try await fixture.store.patch(["id": "us-1", "OwnerID": .null], in: "Agencies")
        #expect(try await fixture.ask(owners, from: fixture.offline).source == .localComplete)
        try await fixture.store.patch(["id": "us-1", "OwnerID": "p-3"], in: "Agencies")
        #expect(try await fixture.ask(owners, from: fixture.offline).source == .localPartial)
        // What refers to a record that was made here was made here too.
        try await fixture.store.create(["id": "us-9", "Country": "US"], in: "Agencies")
        #expect(
            try await fixture.ask("Agencies('us-9')?$expand=Bookings", from: fixture.offline)
                == Answer(["us-9"], .localComplete))
        try await fixture.offline.download()
        let whole = try await fixture.offline.read(expanded + ",Owner&$orderby=id&$top=1")
        #expect(whole.source == .localComplete, "\(whole.explain)")
        #expect(whole.record?["Bookings"]?.elements?.map { $0["id"] } == ["b-4"])
    }

    @Test("many linked records are asked for in parts, and one more asks for few of them again")
    func manyLinks() async throws {
        let fixture = try await StoresFixture()
        let agencies = (0..<200).map { ["id": JSON("a\($0)"), "Country": "FR", "Rank": 1] as JSON }
        fixture.server.seed("Agencies", agencies)
        fixture.server.seed("Bookings", (0..<200).map { ["id": JSON("x\($0)"), "AgencyID": JSON("a\($0)")] as JSON })
        try await fixture.fill("fr", "Agencies?$filter=Country eq 'FR'&$expand=Bookings")
        #expect(
            try await fixture.offline.read("Agencies?$filter=Country eq 'FR'&$expand=Bookings").records
                .allSatisfy { $0["Bookings"]?.count == 1 })
        fixture.server.seed("Agencies", [["id": "a200", "Country": "FR", "Rank": 1]])
        fixture.server.seed("Bookings", [["id": "x200", "AgencyID": "a200"]])
        try await fixture.offline.download()
        fixture.isUp = false
        let all = try await fixture.store.read("Agencies?$filter=Country eq 'FR'&$expand=Bookings")
        #expect(all.source == .localComplete && all.records.count == 201)
        #expect(all.records.allSatisfy { $0["Bookings"]?.count == 1 })
    }

    @Test("a first download that ends early leaves what came readable, marked as a part; the next completes it")
    func interrupted() async throws {
        let fixture = try await StoresFixture()
        try await fixture.define("all", "Agencies")
        // The first page comes, the network breaks before the second.
        let pages = Counter()
        fixture.server.onRequest { _ in pages.next() <= 1 ? .none : .loseRequest }
        #expect(await code { try await fixture.offline.download() } == .network)
        fixture.store.mode = .offline
        let part = try await fixture.store.read("Agencies")
        #expect(part.records.count == 3 && part.source == .localPartial)
        #expect(part.explain.contains("has not been downloaded completely"))
        let status = try await fixture.offline.requests()[0]
        #expect(status.downloadedAt == nil && status.failure != nil)
        fixture.server.onRequest(nil)
        try await fixture.offline.download()
        #expect(try await fixture.ask("Agencies").source == .localComplete)
        #expect(try await fixture.offline.requests()[0].failure == nil)
    }

    @Test("a disk that is full during a first download leaves what came readable, marked as a part")
    func fullDisk() async throws {
        let path = NSTemporaryDirectory() + "stores-\(UUID().uuidString).db"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let full = try SQLiteStore(path: path, options: .init(maximumSize: 600_000))
        let fixture = try await StoresFixture(local: full)
        let text = JSON(String(repeating: "x", count: 20_000))
        fixture.server.seed("People", (0..<100).map { ["id": JSON("x\($0)"), "Name": text] as JSON })
        try await fixture.define("people", "People")
        #expect(await code { try await fixture.offline.download() } == .storeFull)
        fixture.store.mode = .offline
        let part = try await fixture.store.read("People")
        #expect(part.source == .localPartial && (1..<100).contains(part.records.count))
        // The other tables can be read, and the service be asked.
        #expect(try await fixture.ask("Agencies") == Answer([], .localPartial))
        fixture.store.mode = .mixed
        #expect(try await fixture.ask("People?$filter=Name eq 'Ada'") == Answer(["p-1"], .remote))
        try await full.close()
        // With room the same download completes.
        let roomy = try SQLiteStore(path: path)
        let context = try await SyncContext(
            client: fixture.online.client, store: roomy, tables: StoresFixture.tables)
        let again = OfflineStore(context: context, tables: StoresFixture.tables)
        try await again.open()
        try await again.download()
        #expect(try await again.read("People").source == .localComplete)
        #expect(try await again.read("People").records.count == 103)
        try await roomy.close()
    }

    @Test("links that were not downloaded again do not pass for links to nothing")
    func interruptedLinks() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'&$expand=Bookings")
        fixture.server.seed("Agencies", [["id": "us-4", "Country": "US", "Rank": 8]])
        fixture.server.seed("Bookings", [["id": "b-5", "AgencyID": "us-4", "Price": 1]])
        fixture.server.onRequest { request in
            (request.head.path ?? "").contains("/Bookings") ? .loseRequest : .none
        }
        #expect(await code { try await fixture.offline.download() } == .network)
        fixture.store.mode = .offline
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US'").source == .localComplete)
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US'&$expand=Bookings").source == .localPartial)
    }

    @Test("one request that fails does not keep the others from being downloaded")
    func oneFails() async throws {
        let fixture = try await StoresFixture()
        try await fixture.define("bookings", "Bookings")
        try await fixture.define("agencies", "Agencies")
        fixture.server.onRequest { request in
            guard (request.head.path ?? "").contains("/Agencies") else { return .none }
            return .answer(SyncResponse(.init(status: .init(code: 404))))
        }
        #expect(await code { try await fixture.offline.download() } == .notFound)
        fixture.store.mode = .offline
        #expect(try await fixture.ask("Bookings").source == .localComplete)
        // The set is gone: what was never here is not passed off as complete.
        #expect(try await fixture.ask("Agencies").source == .localPartial)
        #expect(try await fixture.offline.requests().map { $0.failure != nil } == [true, false])
    }

    @Test("what was purged or could not be stored is not passed off as complete")
    func purged() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        #expect(try await fixture.ask("Agencies", from: fixture.offline).source == .localComplete)
        try await fixture.context.purge(TableQuery("Agencies"))
        #expect(try await fixture.ask("Agencies", from: fixture.offline) == Answer([], .localPartial))
        try await fixture.offline.download()
        #expect(try await fixture.ask("Agencies", from: fixture.offline).source == .localComplete)
        // A row without an id is set aside.
        fixture.server.onRequest { _ in
            .answer(
                SyncResponse(
                    .init(status: .ok),
                    body: MessageBody(json: [["Country": "US", "updatedAt": "2099-01-01T00:00:00Z"]])))
        }
        _ = try? await fixture.offline.download()
        let quarantined = try await fixture.context.quarantine(table: "Agencies").count
        #expect(
            try await fixture.ask("Agencies", from: fixture.offline).source
                == (quarantined > 0 ? .localPartial : .localComplete))
        #expect(quarantined > 0)
    }

    @Test("requests are kept with the store; the same one again changes nothing, another of its name starts afresh")
    func kept() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        let again = OfflineStore(context: fixture.context, tables: StoresFixture.tables)
        try await again.open()
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US'", from: again).source == .localComplete)
        try await fixture.define("us", "Agencies?$filter=Country eq 'US'")
        #expect(try await again.requests().map { $0.downloadedAt != nil } == [true])
        try await fixture.fill("us", "Agencies?$filter=Country eq 'CN'")
        #expect(try await fixture.ask("Agencies", from: again).ids == ["cn-1", "cn-2"])
        try await fixture.fill("us", "Bookings?$filter=Price gt 200")
        #expect(try await fixture.ask("Agencies", from: again).ids == [])
        #expect(try await fixture.ask("Bookings", from: again).ids == ["b-3", "b-4"])
    }

    @Test(
        "what no store can be filled with is refused",
        arguments: [
            "Agencies?$top=5", "Agencies?$skip=1", "Agencies?$search=x", "Agencies?$apply=aggregate($count as N)",
            "Agencies?$expand=Nothing", "Agencies?$expand=Bookings($top=1)", "Agencies?$expand=Bookings/$count",
            "Agencies?$filter=Since gt now()", "sluice_x",
        ])
    func refused(_ address: String) async throws {
        let fixture = try await StoresFixture()
        let code = await code { try await fixture.define("x", address) }
        #expect(code == .invalidQuery || code == .invalidTable)
        #expect(try await fixture.offline.requests().isEmpty)
    }

    @Test("links in a circle are followed as often as need be, and then no more")
    func circle() async throws {
        let fixture = try await StoresFixture()
        fixture.server.seed("People", [["id": "p-3", "BossID": "p-1"]])
        try await fixture.fill("cy", "People?$filter=Name eq 'Cy'&$expand=Boss($levels=max)")
        fixture.isUp = false
        // The device holds the three of them, and no other.
        fixture.store.mode = .offline
        #expect(try await fixture.ask("People").ids == ["p-1", "p-2", "p-3"])
        fixture.server.clearLog()
        fixture.isUp = true
        try await fixture.offline.download()
        // A list for Cy and one for each of the eight levels, each with what shows whether rows have left it, and which rows
        // have no time of change.
        let lists = fixture.server.requests.count
        #expect((9...70).contains(lists), "\(lists)")
        let result = try await fixture.offline.read(
            "People?$filter=Name eq 'Cy'&$expand=Boss($levels=2)")
        #expect(result.source == .localComplete, "\(result.explain)")
        #expect(result.record?["Boss"]?["Boss"]?["id"] == "p-2")
    }

    @Test("an answer is as old as the oldest download that it depends on")
    func age() async throws {
        let clock = StillClock(try #require(Timestamp("2026-01-01T10:00:00Z")))
        let environment = SyncEnvironment(now: { clock.now }, makeID: SyncEnvironment.system.makeID)
        let fixture = try await StoresFixture(options: SyncOptions(environment: environment))
        try await fixture.fill("low", "Agencies?$filter=Rank lt 5")
        clock.advance(by: .seconds(3600))
        try await fixture.fill("high", "Agencies?$filter=Rank ge 5")
        clock.advance(by: .seconds(60))
        func asOf(_ address: String) async throws -> (Timestamp?, Duration?) {
            let result = try await fixture.offline.read(address)
            #expect(result.source == .localComplete)
            return (result.asOf, result.age(at: clock.now))
        }
        // Each record may have been brought by either, so the older one counts for both.
        for filter in ["Rank lt 3", "Rank gt 5", "Rank ne null"] {
            let (time, age) = try await asOf("Agencies?$filter=\(filter)")
            #expect(time == Timestamp("2026-01-01T10:00:00Z") && age == .seconds(3660), "\(filter)")
        }
        try await fixture.offline.download(["low"])
        let (time, age) = try await asOf("Agencies?$filter=Rank ne null")
        #expect(time == Timestamp("2026-01-01T11:00:00Z") && age == .seconds(60))
        let never = try await fixture.offline.read("Bookings")
        #expect(never.asOf == nil && never.age(at: clock.now) == nil)
    }

    @Test("a request with a selection and an order vouches for what it selects")
    func selection() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("names", "Agencies?$select=City,Rank,Country&$orderby=Rank desc&$filter=Country eq 'US'")
        fixture.isUp = false
        let ranks = try await fixture.store.read("Agencies?$select=Rank&$orderby=Rank&$filter=Country eq 'US'")
        #expect(ranks.source == .localComplete, "\(ranks.explain)")
        #expect(ranks.records.map { $0["Rank"] } == [2, 4, 5])
        #expect(await code { try await fixture.store.read("Agencies?$filter=Country eq 'US'") } == .notCovered)
        fixture.isUp = true
        // The records are here whole all the same, so that they can be changed.
        try await fixture.store.patch(["id": "us-1", "City": "Salem"], in: "Agencies")
        try await fixture.offline.upload()
        #expect(fixture.server.rows("Agencies")["us-1"]?["City"] == "Salem")
        #expect(fixture.server.rows("Agencies")["us-1"]?["OwnerID"] == "p-1")
    }

    @Test("nothing is a whole answer too, where the service has nothing and says so by a token")
    func empty() async throws {
        let fixture = try await StoresFixture()
        var traits = ModelServer.Traits()
        traits.issuesChangeTokens = true
        fixture.server.set(traits)
        for name in ["None", "Agencies?$filter=Country eq 'XX'"] {
            try await fixture.fill(name, name)
            #expect(try await fixture.ask(name, from: fixture.offline) == Answer([], .localComplete))
        }
        try await fixture.context.purge(TableQuery("None"))
        #expect(try await fixture.ask("None", from: fixture.offline).source == .localPartial)
    }

    @Test("a set that is always read whole is complete after a download, and not after a purge")
    func wholeReads() async throws {
        let fixture = try await StoresFixture()
        var traits = ModelServer.Traits()
        traits.sorts = false
        fixture.server.set(traits)
        try await fixture.fill("all", "Agencies")
        #expect(
            try await fixture.ask("Agencies?$filter=Rank gt 5", from: fixture.offline)
                == Answer(["cn-1", "cn-2"], .localComplete))
        try await fixture.offline.download()
        #expect(try await fixture.ask("Agencies", from: fixture.offline).source == .localComplete)
        try await fixture.context.purge(TableQuery("Agencies"))
        #expect(try await fixture.ask("Agencies", from: fixture.offline).source == .localPartial)
    }

    @Test("a subset is downloaded alone, and progress counts its steps")
    func subset() async throws {
        let fixture = try await StoresFixture()
        try await fixture.define("agencies", "Agencies")
        try await fixture.define("bookings", "Bookings")
        let seen = Seen()
        let result = try await fixture.offline.download(["bookings"]) { seen.add($0) }
        #expect(result.requests == ["bookings"] && result.stored == 4)
        #expect(seen.all.allSatisfy { $0.request == "bookings" && $0.step == 1 && $0.steps == 1 })
        #expect(seen.all.last?.rows == 4 && (seen.all.last?.bytes ?? 0) > 0)
        #expect(await code { try await fixture.offline.download(["nothing"]) } == .invalidArgument)
        #expect(try await fixture.ask("Agencies", from: fixture.offline).source == .localPartial)
    }
}
