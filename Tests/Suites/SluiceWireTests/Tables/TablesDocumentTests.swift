import Foundation
import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

/// The snippets of docs/tables.md, run.
@Suite("The page about online tables")
struct TablesDocumentTests {
    private func client(_ server: any Transport) throws -> SluiceClient {
        SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server)
    }

    @Test("every line of its Swift is compiled here, block by block")
    func compiled() throws {
        #expect(try DocumentedSwift.notCompiled(of: "tables.md", in: #filePath) == [])
    }

    struct Person: SyncRecord {
        static let tableName = "people"
        var id: String?
        var name: String
        var age: Int?
        var version: String?
        var updatedAt: Timestamp?
    }

    @Test("a typed table")
    func typed() async throws {
        let server = ModelServer()
        let client = try client(server)
        server.onRequest { request in
            request.head.method == .post && request.head.path == "/tables/people" ? .answer(Self.made(server)) : .none
        }

        let people = client.table(Person.self)

        var ada = try await people.insert(Person(name: "Ada", age: 36))
        ada.age = 37
        ada = try await people.update(ada)
        try await people.delete(ada)
        ada = try await people.undelete(id: ada.id ?? "")
        #expect(ada.age == 37 && server.rows("people")["made"]?["age"] == 37)

        try await people.update(ada, parameters: ["source": "import", "tag": ["new", "vip"]])
        #expect(server.requests.last?.head.path == "/tables/people/made?source=import&tag=new&tag=vip")

        ada.version = "stale"
        do {
            ada = try await people.update(ada)
        } catch let error as SluiceError where error.code == .preconditionFailed {
            guard let theirs = try error.server(as: Person.self) else { throw error }
            ada.version = theirs.version
            ada = try await people.update(ada)
        }
        #expect(ada.version != "stale")
    }

    /// The model server wants ids; this gives one, as real servers do.
    private static func made(_ server: ModelServer) -> SyncResponse {
        server.seed("people", [["id": "made", "name": "Ada", "age": 36]])
        return .json(201, String(describing: server.rows("people")["made"] ?? .null))
    }

    @Test("an untyped table")
    func untyped() async throws {
        let server = ModelServer()
        let client = try client(server)
        server.onRequest { $0.head.method == .post ? .answer(Self.made(server)) : .none }

        let table = client.table("people")
        var ada = try await table.insert(["name": "Ada", "tags": ["new"]])
        ada["name"] = "Ada L."
        ada = try await table.update(ada)
        #expect(server.rows("people")["made"]?["name"] == "Ada L.")
    }

    @Test("lists")
    func lists() async throws {
        let server = ModelServer(pageSize: 2)
        server.seed("people", (1...5).map { ["id": JSON("\($0)"), "name": JSON("n\($0)"), "age": JSON(15 + $0)] })
        let client = try client(server)
        let people = client.table(Person.self)
        func print(_ text: String) { #expect(!text.isEmpty) }
        server.onRequest { request in
            let path = request.head.path ?? ""
            if path.contains("$top=0") { return .answer(.json(200, #"{"results":[],"count":3}"#)) }
            return path.contains("/api/") || path.contains("year(") ? .answer(.json(200, "[]")) : .none
        }

        let grown = TableQuery("people").where(column("age") >= 18).sorted(by: "name")

        for try await person in people.records(grown) {
            print(person.name)
        }

        var query = grown.taking(20)
        query.includesCount = true
        let page = try await people.read(query)
        print("\(page.rows.count) of \(page.count ?? 0)")
        let next = page.hasNext ? try await people.read(after: page) : nil
        let adults = try await people.count(grown)
        #expect(adults == 3 && next?.rows.count == 1)

        let old = try await people.read(odata: "$filter=year(updatedAt) lt 2020&$top=5")
        let films = try await client.table("films").read(odata: "/api/films?genre=noir")
        #expect(old.rows.isEmpty && films.rows.isEmpty)
        #expect(server.requests.last?.head.path == "/api/films?genre=noir")
    }

    struct Note: SyncRecord {
        static let tableName = "notes"
        var id: String?
        var text: String
        var etag: String?
        var isDeleted: Bool?

        enum CodingKeys: String, CodingKey {
            case id, text
            case etag = "version"
            case isDeleted = "deleted"
        }
    }

    @Test("system properties by coding keys")
    func systemProperties() async throws {
        let server = ModelServer()
        server.seed("notes", [["id": "a", "text": "t"]])
        let note = try await client(server).table(Note.self).lookup(id: "a")
        #expect(note.etag != nil && note.isDeleted == false)
    }

    @propertyWrapper
    struct Base64: Codable, Sendable {
        var wrappedValue: Data

        init(wrappedValue: Data) { self.wrappedValue = wrappedValue }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            guard let data = Data(base64Encoded: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not base64")
            }
            wrappedValue = data
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(wrappedValue.base64EncodedString())
        }
    }

    struct Photo: Codable, Sendable {
        var id: String?
        @Base64 var pixels: Data
        var takenAt: Timestamp
    }

    @Test("bytes as base64, and a time to milliseconds")
    func base64() async throws {
        let server = ModelServer()
        let photos = try client(server).table("photos", of: Photo.self)
        let time = try #require(Timestamp("2024-01-02T03:04:05.678Z"))
        let photo = try await photos.insert(Photo(id: "a", pixels: Data([1, 2, 255]), takenAt: time))
        #expect(photo.pixels == Data([1, 2, 255]) && photo.takenAt == time)
        #expect(server.rows("photos")["a"]?["pixels"] == "AQL/")
        #expect(server.rows("photos")["a"]?["takenAt"] == "2024-01-02T03:04:05.678Z")
    }

    @Test("custom calls")
    func customCalls() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, #"{"total":1.5}"#))
        let client = try client(transport)
        let csv: [UInt8] = Array("a;b".utf8)

        struct Order: Codable, Sendable { var sku: String }
        struct Receipt: Codable, Sendable { var total: Double }

        let orders = client.api("orders")
        let receipt = try await orders.call(Order(sku: "A-1"), returning: Receipt.self)
        let open = try await orders.call(method: .get, path: ["open"], parameters: ["limit": 5])
        let report = try await orders.send(MessageBody(bytes: csv), headers: [.contentType: "text/csv"])

        #expect(receipt.total == 1.5 && open == ["total": 1.5] && report.status == 200)
        #expect(transport.lines == ["POST /api/orders", "GET /api/orders/open?limit=5", "POST /api/orders"])
    }
}
