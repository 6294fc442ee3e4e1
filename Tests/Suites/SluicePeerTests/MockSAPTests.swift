import Sluice
import Testing

@Suite("mock-sap, shaped as SAP Gateway", .serialized, .enabled(if: Peer.areHere))
struct MockSAPTests {
    private let peer: Peer
    private let partners = TableQuery("BusinessPartnerSet")

    init() async throws {
        peer = try #require(Peer.sapV2)
        try await peer.fail("[]")
        _ = try await peer.changes()
    }

    @Test("v2: a pull by delta, an offline edit with the token against forged requests, a conflict, a deletion")
    func v2() async throws {
        let device = try await peer.device()
        let table = try device.table("BusinessPartnerSet")
        let first = try await device.pull(partners, named: "all")
        #expect(first.grade == .changeTokens)
        #expect(first.stored > 0)
        let record = try #require(try await table.records(matching: partners).first)
        let id = try #require(record["id"]?.string)
        #expect(record["__version"]?.string?.hasPrefix("W/\"datetime'") == true)
        #expect(record["ChangedAt"]?.string?.hasSuffix("Z") == true)

        try await table.update(["id": JSON(id), "CompanyName": "Mine & Co"])
        #expect(try await device.push().isClean)
        let path = "\(peer.service)/BusinessPartnerSet('\(id)')"
        #expect(try await peer.call("GET", path).json["d"]?["CompanyName"] == "Mine & Co")
        #expect(try await peer.changes() == ["MERGE"])

        // Somebody else changes it, while it is changed here.
        var fields = try await peer.session()
        fields["If-Match"] = "*"
        #expect(try await peer.call("MERGE", path, #"{"WebAddress":"http://theirs"}"#, fields).status == 204)
        try await table.update(["id": JSON(id), "CompanyName": "Again"])
        #expect(try await !device.push().isClean)
        let conflict = try #require(try await device.queue.operations().first)
        #expect(conflict.failure?.serverRecord?["WebAddress"] == "http://theirs")
        try await device.queue.resolve(conflict.id, .client)
        let last = try await device.push()
        #expect(last.isClean, "\(last.failures.map { $0.failure?.message ?? "" })")
        #expect(try await peer.call("GET", path).json["d"]?["CompanyName"] == "Again")

        let second = try await device.pull(partners, named: "all")
        #expect(second.grade == .changeTokens)
    }

    @Test(
        "v2: rows without entity tags are made, changed and deleted once, with lost answers",
        arguments: ["lose", "cut", "refuse"])
    func untagged(_ fault: String) async throws {
        let device = try await peer.device()
        let table = try device.table("ProductSet")
        func pushTwice(_ method: String) async throws {
            try await peer.fail(#"[{"method":"\#(method)","path":"ProductSet","fault":"\#(fault)"}]"#)
            _ = try? await device.push()
            let result = try await device.push()
            #expect(result.isClean, "\(method) \(fault): \(result)")
        }
        let id = "SL-\(fault)"
        try await table.insert([
            "id": JSON(id), "Name": "New", "Category": "Notebooks", "TypeCode": "PR", "SupplierID": "0100000005",
            "TaxTarifCode": 1, "MeasureUnit": "EA", "CurrencyCode": "EUR", "Price": 9.5,
        ])
        try await pushTwice("POST")
        // What the service fills in by itself has come back.
        #expect(try await table.lookup(id: id)?["DimUnit"] == "")
        try await table.update(["id": JSON(id), "Name": "Newer"])
        try await pushTwice("MERGE")
        let path = "\(peer.service)/ProductSet('\(id)')"
        #expect(try await peer.call("GET", path).json["d"]?["Name"] == "Newer")
        try await table.delete(id: id)
        try await pushTwice("DELETE")
        #expect(try await peer.call("GET", path).status == 404)
        #expect(try await peer.changes() == ["POST", "MERGE", "DELETE"])
    }

    @Test(
        "v2: a group is one change set, which takes effect once although its answer is lost",
        arguments: ["", "lose", "cut", "refuse"])
    func group(_ fault: String) async throws {
        let device = try await peer.device(batchSize: 10)
        try await device.pull(partners, named: "all")
        let ids = try await device.table("BusinessPartnerSet").records(matching: partners).prefix(2).compactMap {
            $0["id"]?.string
        }
        try #require(ids.count == 2)
        try await device.group { group in
            for id in ids {
                try group.update(["id": JSON(id), "CompanyName": JSON("Group \(fault)")], in: "BusinessPartnerSet")
            }
        }
        if !fault.isEmpty { try await peer.fail(#"[{"method":"POST","path":"$batch","fault":"\#(fault)"}]"#) }
        var result = try? await device.push()
        var rounds = 0
        while result?.isClean != true, rounds < 3 {
            result = try? await device.push()
            rounds += 1
        }
        #expect(try await device.queue.operations().map { $0.failure?.message ?? "waits" } == [])
        for id in ids {
            let row = try await peer.call("GET", "\(peer.service)/BusinessPartnerSet('\(id)')").json
            #expect(row["d"]?["CompanyName"] == JSON("Group \(fault)"))
        }
    }

    @Test("v2: a change set that fails changes nothing, and the change for which it did has the conflict")
    func failedGroup() async throws {
        let device = try await peer.device(batchSize: 10)
        try await device.pull(partners, named: "all")
        let records = try await device.table("BusinessPartnerSet").records(matching: partners).prefix(2)
        let ids = records.compactMap { $0["id"]?.string }
        try #require(ids.count == 2)
        let paths = ids.map { "\(peer.service)/BusinessPartnerSet('\($0)')" }
        var fields = try await peer.session()
        fields["If-Match"] = "*"
        #expect(try await peer.call("MERGE", paths[1], #"{"WebAddress":"http://group"}"#, fields).status == 204)
        try await device.group { group in
            for id in ids { try group.update(["id": JSON(id), "CompanyName": "Both"], in: "BusinessPartnerSet") }
        }
        #expect(try await !device.push().isClean)
        #expect(try await peer.call("GET", paths[0]).json["d"]?["CompanyName"] != "Both")
        let held = try await device.queue.operations().filter { $0.failure?.serverRecord != nil }
        #expect(held.map(\.recordID.text) == [ids[1]])
        #expect(held.first?.failure?.serverRecord?["WebAddress"] == "http://group")
    }

    @Test("v4: a group is one JSON batch")
    func groupV4() async throws {
        let peer = try #require(Peer.sapV4)
        let device = try await peer.device(batchSize: 10)
        let sets = try await peer.call("GET", peer.service + "/").json["value"]?.elements?.compactMap {
            $0["name"]?.string
        }
        let name = sets?.first { $0 == "A_BusinessPartner" } ?? sets?.first ?? ""
        try await device.pull(TableQuery(name), named: "all")
        let records = try await device.table(name).records(matching: TableQuery(name)).prefix(2)
        let ids = records.compactMap { $0["id"]?.string }
        try #require(ids.count == 2)
        let text = try #require(
            records.first?.members?.first { member in
                member.name.text.contains("Name") && member.value.string != nil
            }?.name)
        try await device.group { group in
            for id in ids {
                try group.update(
                    JSON(members: [("id", JSON(id)), (text, "Two")] as [(PropertyName, JSON)]), in: name)
            }
        }
        let result = try await device.push()
        #expect(result.isClean, "\(result.failures.map { $0.failure?.message ?? "" })")
        for id in ids {
            #expect(try await peer.call("GET", "\(peer.service)/\(name)('\(id)')").json[text] == "Two")
        }
    }

    @Test("v2: rows with keys of several properties")
    func composite() async throws {
        let device = try await peer.device()
        let result = try await device.pull(TableQuery("SalesOrderLineItemSet"), named: "all")
        #expect(result.stored > 0)
        let table = try device.table("SalesOrderLineItemSet")
        let record = try #require(try await table.records().first)
        let id = try #require(record["id"]?.string)
        #expect(id.hasPrefix("SalesOrderID='") && id.contains(",ItemPosition='"))
        try await table.update(["id": JSON(id), "Note": "changed"])
        #expect(try await device.push().isClean)
    }

    @Test("v4 of the same rows: a pull by delta and an edit")
    func v4() async throws {
        let peer = try #require(Peer.sapV4)
        let device = try await peer.device()
        let query = TableQuery("A_BusinessPartner")
        let set = try await peer.call("GET", peer.service + "/").json["value"]?.elements?.compactMap {
            $0["name"]?.string
        }
        let name = set?.first { $0 == query.table } ?? set?.first ?? ""
        let result = try await device.pull(TableQuery(name), named: "all")
        #expect(result.grade == .changeTokens)
        #expect(result.stored > 0)
    }

    @Test(
        "faults of the service are told apart",
        arguments: [
            ("lock", SluiceError.Code.serverFailure), ("busy", .serverFailure), ("forbidden", .forbidden),
            ("notfound", .notFound),
        ])
    func faults(_ scenario: String, _ code: SluiceError.Code) async throws {
        let settings = ODataSettings(tables: ["ProductSet": .init(key: [.init("ProductID", .string)])])
        let client = try peer.client(settings).with(Scenario(name: scenario))
        let error = await #expect(throws: SluiceError.self) {
            try await client.table("ProductSet").lookup(id: "HT-1000")
        }
        #expect(error?.code == code)
    }

    private struct Scenario: RequestFilter {
        let name: String

        func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
            var request = request
            request.head.headerFields[try #require(.init("sap-mock-scenario"))] = name
            return try await next(request)
        }
    }
}
