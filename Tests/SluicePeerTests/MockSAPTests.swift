import Sluice
import Testing

@Suite("mock-sap, shaped as SAP Gateway", .serialized, .enabled(if: Peer.areHere))
struct MockSAPTests {
    private let peer: Peer
    private let partners = Query("BusinessPartnerSet")

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

    @Test("v2: rows with keys of several properties")
    func composite() async throws {
        let device = try await peer.device()
        let result = try await device.pull(Query("SalesOrderLineItemSet"), named: "all")
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
        let query = Query("A_BusinessPartner")
        let set = try await peer.call("GET", peer.service + "/").json["value"]?.elements?.compactMap {
            $0["name"]?.string
        }
        let name = set?.first { $0 == query.table } ?? set?.first ?? ""
        let result = try await device.pull(Query(name), named: "all")
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

    private struct Scenario: Filter {
        let name: String

        func handle(_ request: Request, next: Next) async throws -> Response {
            var request = request
            request.head.headerFields[try #require(.init("sap-mock-scenario"))] = name
            return try await next(request)
        }
    }
}
