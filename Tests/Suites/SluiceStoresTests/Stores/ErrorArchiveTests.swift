import HTTPTypes
import SluiceCore
import SluiceOData
import SluiceStores
import SluiceTesting
import Synchronization
import Testing

@Suite("The archive of errors") struct ErrorArchiveTests {
    typealias Answer = StoresFixture.Answer

    /// Three changes that do not go through, each for another reason, and one that does.
    private static func failed() async throws -> StoresFixture {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        // The service refuses the city of one, has another version of the second, and forbids to delete the third.
        fixture.server.onRequest { request in
            guard request.head.method != .get, let path = request.head.path else { return .none }
            if path.contains("us-1"), let body = try? request.body.json, body["City"] == "nowhere" {
                let refusal = #"{"error":"there is no such city"}"#
                return .answer(
                    SyncResponse(.init(status: .init(code: 422)), body: MessageBody(bytes: Array(refusal.utf8))))
            }
            if path.contains("us-3"), request.head.method == .delete {
                return .answer(SyncResponse(.init(status: .forbidden)))
            }
            return .none
        }
        let options = OperationOptions(tags: ["trip"])
        try await fixture.offline.patch(["id": "us-1", "City": "nowhere"], in: "Agencies", options: options)
        try await fixture.offline.patch(["id": "us-2", "Rank": 40], in: "Agencies")
        try await fixture.offline.delete("us-3", in: "Agencies")
        try await fixture.offline.patch(["id": "cn-1", "Rank": 60], in: "Agencies")
        fixture.server.seed("Agencies", [["id": "us-2", "City": "Berkeley"]])
        try await fixture.offline.upload()
        return fixture
    }

    @Test("one rejected change neither hides behind a success nor blocks its neighbours")
    func neighbours() async throws {
        let fixture = try await Self.failed()
        #expect(fixture.server.rows("Agencies")["cn-1"]?["Rank"] == 60)
        let errors = try await fixture.offline.errors.all()
        #expect(errors.map(\.operation.recordID) == ["us-1", "us-2", "us-3"])
        #expect(errors.map(\.status) == [422, 412, 403])
        #expect(errors[0].requestMethod == "PATCH" && errors[0].requestAddress == "tables/Agencies/us-1")
        #expect(errors[0].requestBody["City"] == "nowhere" && errors[0].wasSent)
        #expect(errors[0].message.contains("no such city"))
        #expect(errors[0].affectedEntity?["City"] == "nowhere")
        #expect(errors[0].operation.tags == ["trip"])
        #expect(errors[1].isConflict && errors[1].operation.failure?.serverRecord?["City"] == "Berkeley")
        #expect(errors[2].requestMethod == "DELETE" && errors[2].affectedEntity == nil)
    }

    @Test("the archive is a set: filter, order, selection, a single entry and its entity")
    func query() async throws {
        let fixture = try await Self.failed()
        let refused = try await fixture.store.read(
            "ErrorArchive?$filter=HTTPStatusCode eq 422 and Table eq 'Agencies'&$select=RequestURL,Message")
        #expect(refused.records.map { $0["RequestURL"] } == ["tables/Agencies/us-1"])
        #expect(try await fixture.store.read("ErrorArchive/$count").value == 3)
        let id = try #require(refused.records[0]["id"]?.string)
        #expect(try await fixture.store.read("ErrorArchive('\(id)')/AffectedEntity").value?["id"] == "us-1")
        let order = try await fixture.store.read("ErrorArchive?$orderby=HTTPStatusCode&$top=1")
        #expect(order.records[0]["HTTPStatusCode"] == 403)
    }

    @Test("errors of three kinds are emptied one by one, and no other is touched")
    func oneByOne() async throws {
        let fixture = try await Self.failed()
        let archive = fixture.offline.errors
        func ids() async throws -> [RecordID] { try await archive.all().map(\.operation.recordID) }
        let all = try await archive.all()
        let (city, rank, delete) = (all[0], all[1], all[2])
        // The delete is given up: the record is back, and the two others are as they were.
        try await archive.discard(delete.id)
        #expect(try await ids() == ["us-1", "us-2"])
        #expect(try await archive.all() == [city, rank])
        #expect(try await fixture.store.record("us-3", in: "Agencies")["City"] == "Portland")
        // The conflict is merged: the service's city, this device's rank.
        try await archive.merge(rank.id)
        #expect(try await ids() == ["us-1"])
        #expect(try await archive.all() == [city])
        try await fixture.offline.upload()
        #expect(fixture.server.rows("Agencies")["us-2"]?["Rank"] == 40)
        #expect(fixture.server.rows("Agencies")["us-2"]?["City"] == "Berkeley")
        #expect(try await ids() == ["us-1"])
        // The refused request is edited.
        var edited = try #require(try await archive.error(city.id).affectedEntity)
        edited["City"] = "Cambridge"
        try await archive.edit(city.id, to: edited)
        try await fixture.offline.upload()
        #expect(try await ids() == [])
        #expect(fixture.server.rows("Agencies")["us-1"]?["City"] == "Cambridge")
        #expect(fixture.server.rows("Agencies")["us-3"]?["deleted"]?.bool != true)
        #expect(await code { try await archive.discard(city.id) } == .invalidArgument)
    }

    @Test(
        "an entry has the request as the service got it, and each of three is dealt with by itself",
        arguments: ODataVersion.allCases, [1, 20])
    func asSent(_ version: ODataVersion, _ batchSize: Int) async throws {
        let service = try await ServiceFixture(version, options: SyncOptions(batchSize: batchSize))
        try await service.fill("customers")
        let offline = service.offline
        // One is there already, one has been changed since, and of one the service does not take the value.
        try await service.online.create(["id": "c9", "name": "Eve"], in: "customers")
        try await service.online.patch(["id": "c2", "name": "Bob"], in: "customers")
        try await offline.create(["id": "c9", "name": "Ann", "points": 1], in: "customers")
        try await offline.patch(["id": "c2", "points": 40], in: "customers")
        try await offline.patch(["id": "O'Neil(1)", "points": "many"], in: "customers")
        service.transport.clear()
        try await offline.upload()
        let errors = try await offline.errors.all()
        #expect(errors.map(\.operation.recordID) == ["c9", "c2", "O'Neil(1)"])
        #expect(errors.map(\.status) == [409, 412, 400], "\(errors.map(\.message))")
        let update = version == .v2 ? "MERGE" : "PATCH"
        #expect(errors.map(\.requestMethod) == ["POST", update, update])
        let key = "customers('O''Neil(1)')"
        #expect(errors.map(\.requestAddress) == ["customers", "customers('c2')", key])
        // v2 writes 64-bit numbers as texts.
        let (one, forty): (JSON, JSON) = version == .v2 ? ("1", "40") : (1, 40)
        #expect(errors[0].requestBody == ["id": "c9", "name": "Ann", "points": one])
        #expect(errors[1].requestBody == ["points": forty])
        #expect(errors[2].requestBody == ["points": "many"])
        // That is what went over the wire.
        if batchSize == 1 {
            let root = "/odata/\(version == .v2 ? "v2" : "v4")/"
            let sent = service.transport.requests.filter { $0.head.method != .get }
            #expect(sent.map { $0.head.method.rawValue } == errors.map(\.requestMethod))
            #expect(sent.map { $0.head.path } == errors.map { root + $0.requestAddress })
            #expect(try sent.map { try $0.body.json } == errors.map(\.requestBody))
        } else {
            #expect(service.transport.requests.count { $0.head.method != .get } == 1)
        }
        let set = try await offline.read("ErrorArchive?$filter=RequestMethod eq 'POST'&$select=RequestURL,RequestBody")
        #expect(set.records.map { $0["RequestURL"] } == ["customers"])
        // They are kept like that.
        let kept = try await offline.errors.all()
        #expect(kept == errors)
        try await offline.errors.discard(errors[0].id)
        #expect(try await offline.errors.all() == Array(errors.dropFirst()))
        try await offline.errors.merge(errors[1].id)
        #expect(try await offline.errors.all() == [errors[2]])
        var mended = try #require(errors[2].affectedEntity)
        mended["points"] = 8
        try await offline.errors.edit(errors[2].id, to: mended)
        try await offline.upload()
        #expect(try await offline.errors.all().isEmpty)
        #expect(try await service.online.record("c9", in: "customers")["name"] == "Eve")
        let merged = try await service.online.record("c2", in: "customers")
        #expect(merged["name"] == "Bob" && merged["points"] == 40)
        #expect(try await service.online.record("O'Neil(1)", in: "customers")["points"] == 8)
    }

    @Test("records can be asked for by what waits for them and what has failed")
    func predicates() async throws {
        let fixture = try await Self.failed()
        try await fixture.offline.patch(["id": "cn-2", "Rank": 1], in: "Agencies")
        fixture.isUp = false
        let failed = try await fixture.ask("Agencies?$filter=sap.inerrorstate()")
        #expect(failed == Answer(["us-1", "us-2"], .localComplete))
        let pending = try await fixture.ask("Agencies?$filter=Sluice.hasPendingChanges() and Country eq 'CN'")
        #expect(pending == Answer(["cn-2"], .localComplete))
        #expect(try await fixture.ask("Agencies?$filter=not Sluice.hasPendingChanges()").ids == ["cn-1"])
    }

    @Test("records can be asked for by what was made here and by what the last download brought")
    func downloads() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        let all = ["cn-1", "cn-2", "us-1", "us-2", "us-3"]
        #expect(try await fixture.ask("Agencies?$filter=Sluice.newSinceLastDownload()").ids == all)
        fixture.server.seed("Agencies", [["id": "us-2", "City": "Berkeley"]])
        try await fixture.offline.download()
        try await fixture.offline.create(["id": "new", "City": "Boston"], in: "Agencies")
        fixture.isUp = false
        let brought = try await fixture.ask("Agencies?$filter=sap.upsertedlastdownload()")
        #expect(brought.ids.contains("us-2") && !brought.ids.contains("new") && brought.source == .localComplete)
        #expect(try await fixture.ask("Agencies?$filter=Sluice.isLocal()") == Answer(["new"], .localComplete))
        fixture.isUp = true
        try await fixture.offline.upload()
        #expect(try await fixture.ask("Agencies?$filter=Sluice.isLocal()").ids == [])
        // The store remembers it when it is opened anew.
        let again = OfflineStore(context: fixture.context, tables: StoresFixture.tables)
        try await again.open()
        #expect(try await fixture.ask("Agencies?$filter=Sluice.newSinceLastDownload()", from: again).ids == brought.ids)
    }

    @Test("header fields of a change go out with it, also when it was merged, and with an online change")
    func headers() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        let seen = Mutex<[String: HTTPFields]>([:])
        fixture.server.onRequest { request in
            if request.head.method != .get { seen.withLock { $0[request.head.path ?? ""] = request.head.headerFields } }
            return .none
        }
        let (reason, place) = (try #require(HTTPField.Name("X-Reason")), try #require(HTTPField.Name("X-Place")))
        let first = OperationOptions(headers: [reason: "moved", place: "desk"])
        try await fixture.offline.patch(["id": "us-1", "City": "Salem"], in: "Agencies", options: first)
        let second = OperationOptions(headers: [reason: "typing error"])
        try await fixture.offline.patch(["id": "us-1", "City": "Salem, MA"], in: "Agencies", options: second)
        try await fixture.offline.patch(["id": "us-2", "Rank": 9], in: "Agencies")
        let queued = try #require(try await fixture.context.queue.operations().first)
        #expect(queued.headers == [reason: "typing error", place: "desk"])
        // What goes to another store takes them along.
        let other = try await StoresFixture()
        try await other.context.queue.import(try await fixture.context.queue.export())
        #expect(try await other.context.queue.operations().map(\.headers) == [queued.headers, [:]])
        try await fixture.offline.upload()
        try await fixture.online.patch(["id": "us-3", "Rank": 1], in: "Agencies", options: second)
        let fields = seen.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value)
        #expect(fields.map { $0[reason] } == ["typing error", nil, "typing error"])
        #expect(fields.map { $0[place] } == ["desk", nil, nil])
        for name in ["Authorization", "X-Api-Key", "If-Match", "Content-Length", "X-ZUMO-VERSION", "Cookie"] {
            let options = OperationOptions(headers: [try #require(HTTPField.Name(name)): "x"])
            let refused = await code {
                try await fixture.offline.patch(["id": "us-1", "Rank": 1], in: "Agencies", options: options)
            }
            #expect(refused == .invalidArgument, "\(name)")
        }
    }

    @Test("what waits for one record is taken back, and one made here is gone")
    func undo() async throws {
        let fixture = try await StoresFixture()
        try await fixture.fill("all", "Agencies")
        try await fixture.offline.patch(["id": "us-1", "City": "x"], in: "Agencies")
        try await fixture.offline.create(["id": "new", "City": "y"], in: "Agencies")
        #expect(try await fixture.offline.undo("us-1", in: "Agencies")?["City"] == "Boston")
        #expect(try await fixture.offline.undo("new", in: "Agencies") == nil)
        #expect(try await fixture.context.queue.count() == 0)
    }
}
