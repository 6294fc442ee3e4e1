import HTTPTypes
import SluiceCore
import SluiceStores
import SluiceTesting
import Testing

@Suite("Changes through stores") struct ChangeTests {
    typealias Answer = StoresFixture.Answer

    @Test("changes go to the queue where the record is here, else to the service")
    func writes() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        fixture.server.clearLog()
        try await fixture.store.patch(["id": "us-1", "Rank": 3], in: "Agencies")
        try await fixture.store.create(["id": "us-9", "Country": "US"], in: "Agencies")
        #expect(fixture.server.requests.isEmpty)
        #expect(try await fixture.context.queue.count() == 2)
        // Neither is here: the record of a filtered table, and a table without a request.
        try await fixture.store.patch(["id": "cn-1", "Rank": 3], in: "Agencies")
        try await fixture.store.create(["id": "b-9", "AgencyID": "us-1"], in: "Bookings")
        try await fixture.store.delete("b-1", in: "Bookings")
        #expect(fixture.server.rows("Agencies")["cn-1"]?["Rank"] == 3)
        #expect(fixture.server.rows("Bookings")["b-9"] != nil)
        #expect(try await fixture.context.queue.count() == 2)
        fixture.store.mode = .offline
        try await fixture.store.create(["id": "b-10"], in: "Bookings")
        #expect(try await fixture.context.queue.count() == 3)
        fixture.store.mode = .mixed
        fixture.isUp = false
        #expect(await code { try await fixture.store.patch(["id": "cn-1", "Rank": 4], in: "Agencies") } == .network)
    }

    @Test("a record is replaced: what it does not name is null, what only the service sets stays")
    func replaced() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("us", "Agencies?$filter=Country eq 'US'")
        let version = try await fixture.store.record("us-1", in: "Agencies")["version"]
        try await fixture.store.replace(["id": "us-1", "Country": "US"], in: "Agencies")
        let record = try await fixture.store.record("us-1", in: "Agencies")
        #expect(record["City"] == JSON.null && record["Country"] == "US" && record["version"] == version)
        try await fixture.offline.upload()
        #expect(fixture.server.rows("Agencies")["us-1"]?["City"] == JSON.null)
    }

    @Test("a deep insert is one group, in an order in which it can be made; the service gets all of it or nothing")
    func deepInsert() async throws {
        let fixture = try await StoresFixture(options: SyncOptions(batchSize: 50))
        fixture.server.offer([.batches])
        for name in ["Agencies", "Bookings", "People"] { try await fixture.fill(name, name) }
        let made = try await fixture.store.create(
            [
                "Country": "FR", "Owner": ["Name": "Dee", "Boss@odata.bind": "People('p-1')"],
                "Bookings": [["Price": 7], ["@id": "http://model.test/tables/Bookings('b-4')"]],
            ], in: "Agencies")
        let id = try #require(made["id"]?.string)
        #expect(made["Owner"] == nil && made["Bookings"] == nil)
        let operations = try await fixture.context.queue.operations()
        #expect(operations.map(\.table) == ["People", "Agencies", "Bookings", "Bookings"])
        #expect(Set(operations.map(\.group)).count == 1 && operations[0].group != nil)
        fixture.store.mode = .offline
        let read = try await fixture.store.read(
            "Agencies('\(id)')?$expand=Owner($expand=Boss),Bookings($orderby=Price)")
        #expect(read.record?["Owner"]?["Boss"]?["Name"] == "Ada")
        #expect(read.record?["Bookings"]?.elements?.map { $0["Price"] } == [7, 210])
        try await fixture.offline.upload()
        #expect(try await fixture.context.queue.count() == 0)
        #expect(fixture.server.rows("Bookings")["b-4"]?["AgencyID"]?.string == id)
        #expect(fixture.server.rows("People").count == 4)
    }

    @Test(
        "a deep insert that cannot be is refused whole",
        arguments: [
            #"{"Bookings": 1}"#, #"{"Bookings": [1]}"#, #"{"Owner@odata.bind": "nothing"}"#,
            #"{"Nobody@odata.bind": "x(1)"}"#,
            #"[]"#, #"{"Owner": {"Boss": {"Boss": {"Boss": {"Boss": {"Boss": {"Name": "x"}}}}}}}"#,
        ])
    func refusedInsert(_ text: String) async throws {
        let fixture = try await StoresFixture()
        let record = try JSON(parsing: text)
        #expect(await code { try await fixture.offline.create(record, in: "Agencies") } != nil)
        #expect(try await fixture.context.queue.count() == 0)
        #expect(try await fixture.ask("Agencies", from: fixture.offline).ids == [])
    }

    @Test("links are made and ended from both of their ends, on the device and at the service")
    func links() async throws {
        let fixture = try await StoresFixture()
        for name in ["Agencies", "Bookings", "People"] { try await fixture.fill(name, name) }
        for store in [fixture.offline, fixture.online] as [any DataStore] {
            try await store.link("us-3", in: "Agencies", along: "Bookings", to: "b-4")
            #expect(try await store.links(of: "us-3", in: "Agencies", along: "Bookings") == ["b-4"])
            try await store.unlink("us-3", in: "Agencies", along: "Bookings", from: "b-4")
            #expect(try await store.links(of: "us-3", in: "Agencies", along: "Bookings") == [])
            try await store.link("us-2", in: "Agencies", along: "Owner", to: "p-3")
            #expect(try await store.links(of: "us-2", in: "Agencies", along: "Owner") == ["p-3"])
            await #expect(throws: SluiceError.self) {
                try await store.link("us-2", in: "Agencies", along: "Nothing", to: "p-3")
            }
        }
    }

    @Test("where a parent is refused no child is sent, and all arrive once it is mended")
    func refusedParent() async throws {
        let fixture = try await StoresFixture()
        for name in ["Agencies", "Bookings", "People"] { try await fixture.fill(name, name) }
        fixture.server.onRequest { request in
            guard request.head.method == .post, (try? request.body.json)?["City"] == "nowhere" else { return .none }
            return .answer(SyncResponse(.init(status: .init(code: 422))))
        }
        try await fixture.offline.create(
            ["id": "new", "City": "nowhere", "Bookings": [["id": "b-8", "Price": 7], ["@id": "Bookings('b-4')"]]],
            in: "Agencies")
        try await fixture.offline.patch(["id": "b-3", "Price": 5], in: "Bookings")
        fixture.server.clearLog()
        try await fixture.offline.upload()
        #expect(
            fixture.server.requests.map { "\($0.head.method) \(($0.head.path ?? "").prefix { $0 != "?" })" }.sorted()
                == [
                    "PATCH /tables/Bookings/b-3", "POST /tables/Agencies",
                ])
        #expect(fixture.server.rows("Bookings")["b-8"] == nil)
        #expect(fixture.server.rows("Bookings")["b-4"]?["AgencyID"] == "cn-1")
        let errors = try await fixture.offline.errors.all()
        #expect(errors.map(\.operation.recordID) == ["new"])
        try await fixture.offline.errors.edit(errors[0].id, to: ["id": "new", "City": "Lyon"])
        try await fixture.offline.upload()
        #expect(try await fixture.context.queue.count() == 0)
        #expect(fixture.server.rows("Bookings")["b-8"]?["AgencyID"] == "new")
        #expect(fixture.server.rows("Bookings")["b-4"]?["AgencyID"] == "new")
    }

    @Test("references are dependencies, except to the same table and in a circle")
    func dependencies() async throws {
        let tables = [
            TableSchema("a", references: [.init("B", to: "b", by: "b"), .init("Self", to: "a", by: "up")]),
            TableSchema("b", references: [.init("C", to: "c", by: "c"), .init("D", toMany: "d", where: "b")]),
            TableSchema("c", references: [.init("A", to: "a", by: "a")]),
        ]
        let declared = TableDependency("d", on: "e", by: "e")
        let context = try await SyncContext(
            store: MemoryStore(), tables: tables, options: SyncOptions(dependencies: [declared]))
        #expect(context.options.dependencies == [declared, TableDependency("d", on: "b", by: "b")])
        // A dependency that is declared is not contradicted.
        let other = try await SyncContext(
            store: MemoryStore(), tables: [tables[0]], options: SyncOptions(dependencies: [.init("b", on: "a")]))
        #expect(other.options.dependencies == [TableDependency("b", on: "a")])
    }

    @Test("in a batch each request has its own header fields and condition, and tags choose what is sent")
    func batched() async throws {
        let fixture = try await StoresFixture(options: SyncOptions(batchSize: 50))
        fixture.server.offer([.batches])
        try await fixture.fill("all", "Agencies")
        let reason = try #require(HTTPField.Name("X-Reason"))
        let versions = try await fixture.offline.read("Agencies").records.reduce(into: [String: String]()) {
            $0[$1["id"]?.string ?? ""] = $1["version"]?.string
        }
        for (id, tag) in [("us-1", "trip"), ("us-2", "trip"), ("us-3", "later")] {
            try await fixture.offline.patch(
                ["id": JSON(id), "Rank": 9], in: "Agencies",
                options: OperationOptions(tags: [tag], headers: [reason: "for \(id)"]))
        }
        try await fixture.offline.delete("cn-1", in: "Agencies", options: OperationOptions(tags: ["trip"]))
        fixture.server.clearLog()
        try await fixture.offline.upload(tags: ["trip"])
        let sent = try #require(fixture.server.requests.first)
        #expect(fixture.server.requests.count == 1 && sent.head.path == "/tables/$batch")
        let parts = try #require(try sent.body.json["requests"]?.elements)
        func field(_ part: JSON, _ name: String) -> String? {
            part["headers"]?.members?.first { $0.name.text.lowercased() == name }?.value.string
        }
        #expect(parts.map { $0["url"] } == ["tables/Agencies/us-1", "tables/Agencies/us-2", "tables/Agencies/cn-1"])
        #expect(parts.map { field($0, "x-reason") } == ["for us-1", "for us-2", nil])
        #expect(
            parts.map { field($0, "if-match") } == ["us-1", "us-2", "cn-1"].map { versions[$0].map { "\"\($0)\"" } })
        #expect(try await fixture.context.queue.operations().map(\.recordID) == ["us-3"])
        // The version of one is old: it alone is refused.
        fixture.server.seed("Agencies", [["id": "us-3", "City": "Salem"]])
        try await fixture.offline.patch(["id": "us-2", "Rank": 10], in: "Agencies")
        try await fixture.offline.upload()
        #expect(fixture.server.rows("Agencies")["us-2"]?["Rank"] == 10)
        #expect(try await fixture.offline.errors.all().map(\.status) == [412])
    }

    struct Agency: SyncRecord {
        static let tableName = "Agencies"
        var id: String?
        var country: String?
        var rank: Int?

        enum CodingKeys: String, CodingKey {
            case id
            case country = "Country"
            case rank = "Rank"
        }
    }

    @Test("records are values of a type in every store")
    func typed() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        for store in [fixture.online, fixture.offline, fixture.store] as [any DataStore] {
            let table = store.table(Agency.self)
            let (high, _) = try await table.read(TableQuery("").where(column("Rank") > 5).sorted(by: "Rank"))
            #expect(high.map(\.rank) == [6, 7])
            let made = try await table.create(Agency(id: "fr-\(type(of: store))", country: "FR", rank: 1))
            let id = try #require(made.id)
            #expect(try await table.record(id).country == "FR")
            try await table.replace(Agency(id: id, country: "BE", rank: nil))
            #expect(try await table.read("Agencies('\(id)')").records.map(\.country) == ["BE"])
            #expect(try await table.record(id).rank == nil)
            let (many, result) = try await table.read("agencies?$filter=Country eq 'BE'&$select=Country")
            #expect(many.map(\.country).contains("BE") && result.isComplete)
            await #expect(throws: SluiceError.self) { try await table.read("People('p-1')/Nothing('x')") }
            try await table.delete(id)
            #expect(await code { try await table.record(id) } == .notFound)
        }
    }
}
