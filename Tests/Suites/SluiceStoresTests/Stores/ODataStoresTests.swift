import HTTPTypes
import SluiceBackend
import SluiceCore
import SluiceOData
import SluiceStores
import Testing

/// The stores before the embedded backend's OData services.
@Suite("Stores on OData services") struct ODataStoresTests {
    @Test("v4's navigation properties with a constraint are references of the tables")
    func metadata() async throws {
        let service = try await ServiceFixture(.v4)
        let customers = try #require(service.tables.first { $0.name == "customers" })
        let orders = try #require(service.tables.first { $0.name == "orders" })
        #expect(customers.reference("orders") == .init("orders", toMany: "orders", where: "customerId"))
        #expect(orders.reference("customer") == .init("customer", to: "customers", by: "customerId"))
        #expect(customers.column("points")?.type == .integer)
    }

    @Test("links, expansions, counts and properties are the same online and offline", arguments: ODataVersion.allCases)
    func reading(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        let base = "http://model.test/odata/\(version == .v2 ? "v2" : "v4")"
        for name in ["customers", "orders"] { try await service.offline.add(DefiningRequest(name, of: name)) }
        try await service.offline.download()
        for store in [service.online, service.offline] as [any DataStore] {
            let orders = try await store.read("customers('O''Neil%281)')/orders")
            #expect(orders.records.map { $0["id"] } == ["o1"] && orders.isComplete)
            let whole = try await store.read("\(base)/customers('O%27%27Neil(1)')/orders/$count")
            #expect(whole.value == 1)
            #expect(try await store.read("orders('o2')/customer/name").value == "Bo")
            #expect(try await store.read("orders('o3')/customer").records.isEmpty)
            let expanded = try await store.read(
                "customers?$orderby=name&$expand=orders($filter=total gt 5;$select=total)&$count=true")
            #expect(expanded.count == 2)
            #expect(expanded.records[0]["orders"] == [["total": 20, "id": "o2"]])
            #expect(expanded.records[1]["name"] == "O'Neil")
            #expect(try await store.read("customers?$select=name&$orderby=points").records[0]["name"] == "Bo")
        }
    }

    @Test("functions and actions are called online, by address and by value", arguments: ODataVersion.allCases)
    func operations(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        let sum = try await service.store.call(OperationCall("Sum", ["a": 2, "b": 3]))
        #expect(sum == 5 || sum == "5")
        let read = try await service.store.read("Sum(a=2,b=@x)?@x=40")
        #expect(read.value == 42 || read.value == "42")
        #expect(read.source == .remote)
        let old = try await service.store.read("Sum?a=2&b=3")
        #expect((old.value == 5 || old.value == "5") && old.source == .remote)
        #expect(try await service.store.read("Named?name='O''Neil'").value?.count == 1)
        let named = try await service.store.call(OperationCall("Named", ["name": "O'Neil"]))
        #expect(named.elements?.count == 1)
        _ = try await service.store.call(OperationCall("Reset", ["hard": false], isAction: true))
        #expect(
            await code { try await service.store.call(OperationCall("Reset", ["hard": true], isAction: true)) }
                == .conflict)
        #expect(await code { try await service.store.call(OperationCall("../admin")) } == .invalidArgument)
        service.store.mode = .offline
        for address in ["Sum(a=2,b=3)", "Sum?a=2&b=3", "Named?name='Bo'", "Named(name='Bo')", "Reset?hard=false"] {
            #expect(await code { try await service.store.read(address) } == .notAvailableOffline, "\(address)")
            #expect(await code { try await service.offline.read(address) } == .notAvailableOffline, "\(address)")
        }
    }

    @Test("raw values are read by their address, and none outside of the service", arguments: ODataVersion.allCases)
    func media(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        let bytes = try await service.store.media("customers('c2')/name/$value")
        #expect(String(decoding: bytes, as: UTF8.self) == "Bo")
        for address in ["../../tables/customers", "http://other.test/odata/v4/x", "customers('c2')/%2e%2e/x"] {
            #expect(await code { try await service.store.media(address) } != nil)
        }
        #expect(await code { try await service.store.media("customers('nobody')/name/$value") } == .notFound)
    }

    @Test("waiting changes are counted in the service's answers", arguments: ODataVersion.allCases)
    func counts(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        try await service.offline.add(
            DefiningRequest("bo", of: "customers", try ODataOptions("$filter=name eq 'Bo'")))
        try await service.offline.download()
        try await service.store.patch(["id": "c2", "points": 9], in: "customers")
        try await service.store.create(["id": "c3", "name": "Cy", "points": 8], in: "customers")
        let high = try await service.store.read("customers?$filter=points gt 5&$count=true&$top=1&$orderby=points desc")
        #expect(high.source == .merged && high.count == 3 && high.records.map { $0["id"] } == ["c2"])
        #expect(try await service.store.read("customers/$count?$filter=points lt 5").value == 0)
        try await service.store.delete("c2", in: "customers")
        #expect(try await service.store.count(TableQuery("customers")) == 2)
        try await service.offline.upload()
        #expect(try await service.online.count(TableQuery("customers")) == 2)
    }

    @Test("a deep insert made on the device is at the service after the upload", arguments: ODataVersion.allCases)
    func deepInsert(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        for name in ["customers", "orders"] { try await service.offline.add(DefiningRequest(name, of: name)) }
        try await service.offline.download()
        try await service.store.create(
            [
                "id": "new", "name": "Dee",
                "orders": [["total": 1], ["__metadata": ["uri": "http://elsewhere/orders('o3')"]]],
            ], in: "customers")
        let push = try await service.offline.upload()
        #expect(push.failures.isEmpty)
        #expect(try await service.offline.errors.all().isEmpty)
        let orders = try await service.online.read("customers('new')/orders?$orderby=total")
        #expect(orders.records.map { $0["total"] } == [1, 30])
    }

    @Test(
        "a group of which a part is refused leaves nothing at the service, and is one request",
        arguments: ODataVersion.allCases)
    func refusedGroup(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        try await service.fill("customers")
        // The device has never seen that the service has an order of that name.
        try await service.offline.create(
            ["id": "new", "name": "Dee", "orders": [["id": "n1", "total": 1], ["id": "o1", "total": 2]]],
            in: "customers")
        let push = try await service.offline.upload()
        #expect(push.applied == 0)
        #expect(service.transport.calls.filter { !$0.hasPrefix("GET") } == ["POST \(Self.root(version))/$batch"])
        for address in ["customers('new')", "orders('n1')"] {
            #expect(await code { try await service.online.read(address) } == .notFound, "\(address)")
        }
        #expect(try await service.online.record("o1", in: "orders")["total"] == 10)
        // The whole group waits, and says why.
        let errors = try await service.offline.errors.all()
        #expect(errors.contains { $0.operation.recordID == "o1" && $0.status == 409 }, "\(errors.map(\.message))")
        #expect(try await service.offline.context.queue.count() == 3)
        try await service.offline.errors.discard(try #require(errors.first).id)
        #expect(try await service.offline.context.queue.count() == 0)
    }

    private static func root(_ version: ODataVersion) -> String { "/odata/\(version == .v2 ? "v2" : "v4")" }

    @Test("rows that enter and leave a filter at the service come and go", arguments: ODataVersion.allCases)
    func leaving(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        try await service.offline.add(
            DefiningRequest("many", of: "customers", try ODataOptions("$filter=points gt 5")))
        try await service.offline.download()
        #expect(try await service.offline.read("customers").records.map { $0["name"] } == ["O'Neil"])
        try await service.online.patch(["id": "O'Neil(1)", "points": 1], in: "customers")
        try await service.online.patch(["id": "c2", "points": 9], in: "customers")
        try await service.online.create(["id": "c3", "name": "Cy", "points": 8], in: "customers")
        let result = try await service.offline.download()
        #expect(result.removed == 1)
        let here = try await service.offline.read("customers?$filter=points gt 5&$orderby=name")
        #expect(here.records.map { $0["name"] } == ["Bo", "Cy"] && here.source == .localComplete)
        try await service.online.delete("c3", in: "customers")
        try await service.offline.download()
        #expect(try await service.offline.read("customers").records.map { $0["name"] } == ["Bo"])
    }

    @Test("links are made and ended, offline and online", arguments: ODataVersion.allCases)
    func links(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        try await service.fill("customers", "orders")
        for store in [service.offline, service.online] as [any DataStore] {
            try await store.link("c2", in: "customers", along: "orders", to: "o3")
            try await service.offline.upload()
            #expect(try await service.online.record("o3", in: "orders")["customerId"] == "c2")
            #expect(try await store.links(of: "c2", in: "customers", along: "orders").sorted() == ["o2", "o3"])
            try await store.unlink("c2", in: "customers", along: "orders", from: "o3")
            try await store.link("o2", in: "orders", along: "customer", to: "O'Neil(1)")
            try await service.offline.upload()
            #expect(try await service.online.record("o3", in: "orders")["customerId"] == JSON.null)
            #expect(
                try await service.online.links(of: "O'Neil(1)", in: "customers", along: "orders").sorted() == [
                    "o1", "o2",
                ])
            try await store.link("o2", in: "orders", along: "customer", to: "c2")
            try await service.offline.upload()
            try await service.offline.download()
        }
    }

    @Test("a record is replaced, offline and online", arguments: ODataVersion.allCases)
    func replaced(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        try await service.fill("customers")
        for (store, name) in [(service.offline, "Bea"), (service.online, "Bess")] as [(any DataStore, String)] {
            try await service.online.patch(["id": "c2", "points": 3], in: "customers")
            try await service.offline.download()
            try await store.replace(["id": "c2", "name": JSON(name)], in: "customers")
            try await service.offline.upload()
            #expect(try await service.offline.errors.all().isEmpty)
            let record = try await service.online.record("c2", in: "customers")
            #expect(record["name"] == JSON(name) && record["points"] ?? .null == JSON.null)
        }
    }

    @Test("a deep insert is made online, one after the other", arguments: ODataVersion.allCases)
    func onlineDeepInsert(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        let made = try await service.online.create(
            ["id": "o9", "total": 9, "customer": ["id": "new", "name": "Dee", "orders": [["id": "o8", "total": 8]]]],
            in: "orders")
        #expect(made["id"] == "o9" && made["customerId"] == "new")
        let linked = try await service.online.create(
            ["id": "o7", "total": 7, "customer@odata.bind": "customers('new')"], in: "orders")
        #expect(linked["customerId"] == "new")
        let orders = try await service.online.read("customers('new')/orders?$orderby=total")
        #expect(orders.records.map { $0["id"] } == ["o7", "o8", "o9"])
    }

    @Test("a media stream is its bytes, as they came", arguments: ODataVersion.allCases)
    func mediaStream(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        let bytes: [UInt8] = [0xff, 0xd8, 0, 13, 10, 0xc3, 0x28]
        service.transport.onRequest { request in
            guard request.head.path == "\(Self.root(version))/Photos(1)/$value" else { return nil }
            guard request.head.headerFields[.accept] == "*/*" else {
                return SyncResponse(.init(status: .notAcceptable))
            }
            return SyncResponse(
                .init(status: .ok, headerFields: [.contentType: "image/jpeg"]), body: MessageBody(bytes: bytes))
        }
        let base = "http://model.test\(Self.root(version))"
        for address in ["Photos(1)/$value", "\(base)/Photos(1)/$value"] {
            #expect(try await service.store.media(address) == bytes)
        }
        #expect(await code { try await service.store.media("Photos(2)/$value") } == .notFound)
        service.transport.isUp = false
        #expect(await code { try await service.store.media("Photos(1)/$value") } == .notAvailableOffline)
    }

    @Test("a delete that names a version is made on that version alone", arguments: ODataVersion.allCases)
    func deleteOfVersion(_ version: ODataVersion) async throws {
        let service = try await ServiceFixture(version)
        let old = try #require(try await service.online.record("c2", in: "customers")["__version"]?.string)
        let new = try await service.online.patch(["id": "c2", "points": 4], in: "customers")["__version"]?.string
        #expect(
            await code { try await service.online.delete("c2", version: old, in: "customers") } == .preconditionFailed)
        service.transport.clear()
        try await service.store.delete("c2", version: new, in: "customers")
        let sent = try #require(service.transport.requests.first { $0.head.method == .delete })
        #expect(sent.head.headerFields[.ifMatch] == new)
        #expect(await code { try await service.online.record("c2", in: "customers") } == .notFound)
        // Without one it is whatever there is.
        try await service.online.create(["id": "c2", "name": "Bo"], in: "customers")
        try await service.online.delete("c2", in: "customers")
        // What waits in the queue is made on the version that the device knows.
        try await service.fill("customers")
        let id: RecordID = "O'Neil(1)"
        let known = try await service.offline.record(id, in: "customers")["__version"]?.string
        try await service.store.delete(id, version: "W/\"x\"", in: "customers")
        try await service.offline.upload()
        #expect(try await service.offline.errors.all().isEmpty)
        #expect(known != nil)
        #expect(await code { try await service.online.record(id, in: "customers") } == .notFound)
    }
}
