import HTTPTypes
import SluiceCore
import SluiceStores
import SluiceTesting
import Testing

@Suite("Online, offline and mixed") struct RoutingTests {
    typealias Answer = StoresFixture.Answer

    @Test("the device answers what its defining requests hold, and the service the rest")
    func mixed() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        #expect(
            try await fixture.ask("Agencies?$filter=Country eq 'US'")
                == Answer(["us-1", "us-2", "us-3"], .localComplete))
        #expect(
            try await fixture.ask("Agencies?$filter=Country eq 'US' and Rank gt 4") == Answer(["us-3"], .localComplete))
        fixture.server.clearLog()
        #expect(try await fixture.ask("Agencies?$filter=City eq 'Beijing'") == Answer(["cn-1", "cn-2"], .remote))
        #expect(!fixture.server.calls.isEmpty)
        fixture.store.mode = .offline
        #expect(try await fixture.ask("Agencies?$filter=City eq 'Beijing'") == Answer([], .localPartial))
        let partial = try await fixture.store.read("Agencies?$filter=City eq 'Beijing'")
        #expect(!partial.isComplete && partial.explain.contains("Country"))
        #expect(partial.asOf != nil)
        fixture.store.mode = .online
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US'").source == .remote)
    }

    @Test("an answer that is asked for whole is an error where it is not, and the error says what is missing")
    func policies() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        let beijing = "Agencies?$filter=City eq 'Beijing'"
        fixture.isUp = false
        #expect(await code { try await fixture.store.read(beijing) } == .notCovered)
        do {
            _ = try await fixture.store.read(beijing)
        } catch let error as SluiceError {
            #expect(error.message.contains("Beijing") && (error.cause as? SluiceError)?.code == .network)
        }
        #expect(try await fixture.ask(beijing, ReadOptions(uncovered: .partial)) == Answer([], .localPartial))
        #expect(await code { try await fixture.offline.read(beijing, ReadOptions(uncovered: .fail)) } == .notCovered)
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US'").source == .localComplete)
    }

    @Test("with one store only, that one serves in every mode; with none that is open the error says so")
    func oneStore() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        for mode in WorkingMode.allCases {
            let online = MixedStore(online: fixture.online, mode: mode)
            #expect(
                try await fixture.ask("Agencies?$filter=Rank gt 5", from: online) == Answer(["cn-1", "cn-2"], .remote))
            let offline = MixedStore(offline: fixture.offline, mode: mode)
            #expect(try await fixture.ask("Agencies?$filter=Rank gt 5", from: offline).source == .localComplete)
            #expect(await code { try await MixedStore(mode: mode).read("Agencies") } == .storeClosed)
        }
        await fixture.store.close()
        #expect(!fixture.store.isOpen)
        for store in [fixture.store, fixture.online, fixture.offline] as [any DataStore] {
            #expect(await code { try await store.read("Agencies") } == .storeClosed)
            #expect(await code { try await store.create(["a": 1], in: "Agencies") } == .storeClosed)
            #expect(await code { try await store.patch(["id": "us-1"], in: "Agencies") } == .storeClosed)
            #expect(await code { try await store.delete("us-1", in: "Agencies") } == .storeClosed)
            #expect(await code { try await store.call(OperationCall("f")) } == .storeClosed)
            #expect(await code { try await store.media("Agencies('us-1')/$value") } == .storeClosed)
        }
        try await fixture.online.open()
        #expect(try await fixture.ask("Agencies?$filter=Country eq 'US'").source == .remote)
    }

    @Test("waiting changes are seen in the service's answers: changed, made and deleted here, with pages and counts")
    func overlay() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        try await fixture.store.patch(["id": "us-1", "Rank": 9], in: "Agencies")
        try await fixture.store.delete("us-3", in: "Agencies")
        try await fixture.store.create(["id": "fr-1", "Country": "FR", "City": "Paris", "Rank": 8], in: "Agencies")
        // The server has not heard of it.
        #expect(fixture.server.rows("Agencies")["us-1"]?["Rank"] == 2)
        let all = try await fixture.store.read("Agencies?$filter=Rank gt 4&$orderby=Rank desc")
        #expect(all.records.map { $0["id"]?.string } == ["us-1", "fr-1", "cn-2", "cn-1"])
        #expect(all.source == .merged)
        let page = try await fixture.store.read("Agencies?$filter=Rank gt 4&$orderby=Rank desc&$skip=1&$top=2")
        #expect(page.records.map { $0["id"]?.string } == ["fr-1", "cn-2"])
        #expect(await code { try await fixture.store.read("Agencies('us-3')") } == .notFound)
        #expect(try await fixture.ask("Agencies('fr-1')") == Answer(["fr-1"], .localComplete))
        // Once it is sent, the service's own answer has it.
        try await fixture.offline.upload()
        #expect(try await fixture.ask("Agencies?$filter=Rank gt 7") == Answer(["us-1", "fr-1"], .remote))
    }

    @Test("a record that is here is complete by its key, and one that cannot be anywhere else is not found")
    func keys() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        #expect(try await fixture.ask("Agencies('us-1')") == Answer(["us-1"], .localComplete))
        #expect(try await fixture.ask("Agencies('cn-1')") == Answer(["cn-1"], .remote))
        #expect(await code { try await fixture.store.read("Agencies('no-1')") } == .notFound)
        fixture.isUp = false
        #expect(await code { try await fixture.store.read("Agencies('cn-1')") } == .notCovered)
        fixture.isUp = true
        try await fixture.fill("all", "Agencies")
        fixture.isUp = false
        #expect(await code { try await fixture.store.read("Agencies('no-1')") } == .notFound)
        #expect(try await fixture.store.record("cn-1", in: "Agencies")["City"] == "Beijing")
    }

    @Test(
        "a path along links is about the table that it leads to, however it is addressed",
        arguments: [
            ("Agencies('us-1')/Bookings", ["b-1", "b-2"]),
            ("http://model.test/tables/Agencies('us-1')/Bookings", ["b-1", "b-2"]),
            ("Agencies('us-1')/Bookings?$filter=Price gt 100", ["b-1"]), ("Agencies('us-1')/Bookings('b-2')", ["b-2"]),
            ("Bookings('b-1')/Agency", ["us-1"]), ("Bookings('b-1')/Agency/Bookings", ["b-1", "b-2"]),
            ("Agencies('us-2')/Owner", []), ("agencies('us-1')/Bookings/", ["b-1", "b-2"]),
            ("Agencies('us-1')/Bookings/$ref", ["b-1", "b-2"]), ("Agencies('us-1')/$links/Bookings", ["b-1", "b-2"]),
            ("Agencies('us-1')/Owner/Boss/Boss", ["p-1"]), ("Agencies('us-1')/bookings", ["b-1", "b-2"]),
            ("AGENCIES('us-1')/BOOKINGS('b-2')", ["b-2"]), ("agencies('us-1')/$links/bookings", ["b-1", "b-2"]),
            ("Agencies('us-1')/owner/boss/$ref", ["p-2"]), ("bookings('b-1')/agency/bookings", ["b-1", "b-2"]),
        ])
    func navigation(_ address: String, _ ids: [String]) async throws {
        let fixture = try await StoresFixture()
        for name in ["Agencies", "Bookings", "People"] { try await fixture.fill(name, name) }
        #expect(try await fixture.ask(address, from: fixture.online) == Answer(ids, .remote))
        fixture.isUp = false
        #expect(try await fixture.ask(address) == Answer(ids, .localComplete))
        #expect(try await fixture.ask(address, from: fixture.offline) == Answer(ids, .localComplete))
    }

    @Test(
        "the case of a navigation property's name makes no difference in expansions; a column of that name is the column"
    )
    func caseOfNames() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "agencies?$filter=Country eq 'US'&$expand=bookings,owner($expand=boss)")
        for name in ["Bookings", "People"] { try await fixture.fill(name, name) }
        for store in [fixture.online, fixture.offline, fixture.store] as [any DataStore] {
            let result = try await store.read("agencies('us-1')?$expand=bookings($orderby=id desc),OWNER($expand=boss)")
            #expect(result.isComplete)
            #expect(
                result.record?["Bookings"]?.elements?.map { $0["id"] } == ["b-2", "b-1"],
                "\(type(of: store)): \(result.explain)")
            #expect(result.record?["Owner"]?["Boss"]?["id"] == "p-2")
        }
        let tables = [
            TableSchema(
                "Agencies", columns: [.init("bookings", .integer)],
                references: [.init("Bookings", toMany: "Bookings", where: "AgencyID")])
        ]
        fixture.server.seed("Agencies", [["id": "us-1", "bookings": 2]])
        let online = OnlineStore(client: fixture.online.client, tables: tables)
        try await online.open()
        #expect(try await online.read("Agencies('us-1')/bookings").value == 2)
        #expect(try await online.read("Agencies('us-1')/Bookings").records.count == 2)
    }

    @Test("records here whose linked ones are not are no whole answer to an expansion")
    func expandTarget() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("agencies", "Agencies")
        let address = "Agencies?$expand=Bookings&$filter=id eq 'us-1'"
        let remote = try await fixture.store.read(address)
        #expect(remote.source == .remote && remote.record?["Bookings"]?.count == 2)
        fixture.isUp = false
        let part = try await fixture.store.read(address, ReadOptions(uncovered: .partial))
        #expect(part.source == .localPartial && part.record?["Bookings"]?.count == 0)
        #expect(part.explain.contains("Bookings"))
        #expect(await code { try await fixture.store.read(address) } == .notCovered)
        #expect(await code { try await fixture.offline.read(address, ReadOptions(uncovered: .fail)) } == .notCovered)
        #expect(try await fixture.offline.read(address).source == .localPartial)
    }

    @Test("the routed table is the target's: agencies here do not make their bookings be here")
    func navigationTarget() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("agencies", "Agencies")
        #expect(try await fixture.ask("Agencies('us-1')/Bookings") == Answer(["b-1", "b-2"], .remote))
        let parts = try await fixture.store.read("Bookings('b-1')/Agency")
        #expect(parts.source == .merged, "\(parts.explain)")
        fixture.isUp = false
        #expect(await code { try await fixture.store.read("Agencies('us-1')/Bookings") } == .notCovered)
    }

    @Test("counts, properties and values are read of the same store as their table")
    func parts() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("agencies", "Agencies")
        fixture.isUp = false
        #expect(try await fixture.store.read("Agencies/$count").value == 5)
        #expect(try await fixture.store.read("Agencies/$count?$filter=Rank gt 5").value == 2)
        #expect(try await fixture.store.read("Agencies('us-1')/City").value == "Boston")
        #expect(try await fixture.store.read("Agencies('us-1')/City/$value").value == "Boston")
        #expect(try await fixture.store.read("Agencies('us-1')/Nothing").value == JSON.null)
        #expect(try await fixture.store.read("AGENCIES?$top=2").records.count == 2)
        #expect(await code { try await fixture.store.read("Agencies/City") } == .invalidQuery)
        #expect(await code { try await fixture.store.read("Agencies('us-1')/$value") } == .invalidQuery)
        for store in [fixture.online, fixture.offline, fixture.store] as [any DataStore] {
            for address in ["$batch", "$metadata", "$batch/Agencies", "Agencies/$batch", "Agencies('us-1')/$batch"] {
                #expect(await code { try await store.read(address) } == .invalidQuery, "\(address)")
            }
        }
    }

    @Test("functions, actions and streams are the service's")
    func functions() async throws {
        let fixture = try await StoresFixture()
        fixture.store.mode = .offline
        #expect(await code { try await fixture.store.read("Nearest(count=5)") } == .notAvailableOffline)
        #expect(
            await code { try await fixture.store.call(OperationCall("Approve", isAction: true)) }
                == .notAvailableOffline)
        #expect(await code { try await fixture.store.media("Photos('1')/$value") } == .notAvailableOffline)
        fixture.store.mode = .mixed
        fixture.isUp = false
        #expect(await code { try await fixture.store.read("Nearest(count=5)") } == .notAvailableOffline)
    }

    @Test("a call of a custom API is one by address too, where the store knows its name")
    func customAPI() async throws {
        let fixture = try await StoresFixture()
        let asked = Asked()
        fixture.server.onRequest { request in
            guard (request.head.path ?? "").hasPrefix("/api/") else { return .none }
            asked.add("\(request.head.method) \((request.head.path ?? "").replacing("%27", with: "'"))")
            return .answer(SyncResponse(.init(status: .ok), body: MessageBody(json: ["nearest": "us-1"])))
        }
        let online = OnlineStore(
            client: fixture.online.client, tables: StoresFixture.tables, operations: ["nearest", "approve"])
        let offline = OfflineStore(context: fixture.context, tables: StoresFixture.tables, operations: ["nearest"])
        let store = MixedStore(online: online, offline: offline)
        try await store.open()
        for address in ["nearest?most=5&place='Bo''s'", "nearest(most=5,place='Bo''s')"] {
            let result = try await store.read(address)
            #expect(result.value == ["nearest": "us-1"] && result.source == .remote)
        }
        _ = try await store.call(OperationCall("approve", ["id": "us-1"], isAction: true))
        #expect(
            asked.all == [
                "GET /api/nearest?most=5&place=Bo's", "GET /api/nearest?most=5&place=Bo's", "POST /api/approve",
            ])
        // These would be taken for options, and the function would be called without them.
        for address in ["nearest?$top=5", "nearest?top=5&place='x'", "nearest(most=5)?$filter=Rank gt 1"] {
            #expect(await code { try await store.read(address) } == .invalidQuery, "\(address)")
        }
        store.mode = .offline
        #expect(await code { try await store.read("nearest?most=5") } == .notAvailableOffline)
        #expect(await code { try await store.read("approve") } == .notAvailableOffline)
    }

    @Test("a service behind a gateway that says it is away is away; one that refuses is not")
    func gateway() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        for (status, expected) in [(503, SluiceError.Code.notCovered), (401, .unauthorized), (500, .serverFailure)] {
            fixture.server.onRequest { _ in .answer(SyncResponse(.init(status: .init(code: status)))) }
            #expect(await code { try await fixture.store.read("Agencies?$filter=City eq 'Beijing'") } == expected)
        }
    }

    @Test("the engine's own tables are none that can be read")
    func ownTables() async throws {
        let fixture = try await StoresFixture()
        for table in ["sluice_operations", "sluice_requests", "Sluice_members"] {
            #expect(await code { try await fixture.offline.read(table) } == .invalidTable)
            #expect(await code { try await fixture.store.read(table) } == .invalidTable)
        }
    }

    @Test("tokens are the service's: asked of it, and unsupported offline")
    func tokens() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        fixture.server.clearLog()
        _ = try? await fixture.store.read("Agencies?$skiptoken=abc")
        #expect(fixture.server.requests.contains { ($0.head.path ?? "").contains("skiptoken=abc") })
        #expect(await code { try await fixture.offline.read("Agencies?$skiptoken=abc") } == .unsupported)
    }

    @Test("records that go while they are read do not leave an answer that calls itself complete")
    func removedMeanwhile() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<20 {
                    try await fixture.offline.remove("us")
                    try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<100 {
                        let result = try await fixture.offline.read("Agencies?$filter=Country eq 'US'")
                        if result.isComplete { #expect(result.records.count == 3, "\(result.explain)") }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a request ends in the mode in which it began")
    func switched() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        let store = fixture.store
        fixture.server.onRequest { _ in
            store.mode = .offline
            return .none
        }
        // Pages of three records: the mode changes after the first of two.
        #expect(try await fixture.ask("Agencies") == Answer(["us-1", "us-2", "us-3", "cn-1", "cn-2"], .remote))
        #expect(store.mode == .offline)
        // A path along two links, none of whose tables is here: the mode changes with the first of two requests.
        try await fixture.offline.remove("us")
        store.mode = .mixed
        fixture.server.clearLog()
        #expect(try await fixture.ask("Bookings('b-1')/Agency/Bookings") == Answer(["b-1", "b-2"], .remote))
        #expect(fixture.server.requests.count >= 2 && store.mode == .offline)
        #expect(try await fixture.ask("Bookings('b-1')/Agency/Bookings").source == .localPartial)
    }

    @Test("a filter that no store runs is the service's to refuse, and unsupported offline")
    func foreignFunction() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        fixture.store.mode = .offline
        #expect(await code { try await fixture.store.read("Agencies?$filter=Model.Near(x=1)") } == .unsupported)
        fixture.store.mode = .mixed
        fixture.server.clearLog()
        let refused = await code { try await fixture.store.read("Agencies?$filter=Model.Near(x=1)") }
        #expect(refused == .rejected)
        #expect(fixture.server.requests.count == 1)
    }

    @Test("an expansion that leads in a circle ends, in every store")
    func circle() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("people", "People")
        for store in [fixture.online, fixture.offline, fixture.store] as [any DataStore] {
            let result = try await store.read("People('p-1')?$expand=Boss($levels=max)")
            var depth = 0
            var next = result.record
            while let boss = next?["Boss"], !boss.isNull {
                depth += 1
                next = boss
            }
            #expect((2...20).contains(depth))
            let nested = try await store.read("People('p-1')?$expand=Boss($expand=Boss($expand=Boss))")
            #expect(nested.record?["Boss"]?["Boss"]?["Boss"]?["id"] == "p-2")
        }
    }
}
