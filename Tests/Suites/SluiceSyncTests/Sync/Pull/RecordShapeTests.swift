import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A filter that keeps values in another form here is added or removed beside stored rows")
struct RecordShapeTests {
    /// Keeps `n` tenfold here, in bodies and answers.
    private struct Tenfold: RequestTransform, RecordShaper {
        func recordShape(of table: String) -> String? { "tenfold" }

        func request(_ request: SyncRequest) -> SyncRequest {
            var request = request
            request.body = Self.body(request.body) { $0 / 10 }
            return request
        }

        func response(_ response: SyncResponse, to request: SyncRequest) -> SyncResponse {
            var response = response
            response.body = Self.body(response.body) { $0 * 10 }
            return response
        }

        private static func body(_ body: MessageBody, _ change: (Int64) -> Int64) -> MessageBody {
            guard let json = try? body.json else { return body }
            func changed(_ record: JSON) -> JSON {
                guard let n = record["n"]?.int else { return record }
                return record.setting(["n": JSON(change(n))])
            }
            if let rows = json["items"]?.elements {
                return MessageBody(json: json.setting(["items": JSON(rows.map(changed))]))
            }
            return MessageBody(json: json.elements.map { JSON($0.map(changed)) } ?? changed(json))
        }
    }

    private func context(
        _ model: ModelServer, _ store: any LocalStore, _ dialect: Dialect, _ filters: [any RequestFilter]
    ) async throws -> SyncContext {
        let client = SluiceClient(
            endpoint: try Endpoint("http://server.test"), dialect: dialect, transport: model, filters: filters)
        return try await SyncContext(client: client, store: store, options: SyncOptions(conflictPolicy: .hold))
    }

    @Test(
        "an edit of another property leaves the server's value, and the next pull brings the rows in the new form",
        arguments: [Dialect.azureV2, .azureV3, .datasync], [false, true])
    func edit(_ dialect: Dialect, _ isRemoved: Bool) async throws {
        let (model, store) = (ModelServer(), MemoryStore())
        model.seed("items", ["a", "b", "c"].map { ["id": JSON($0), "n": 5, "text": "old"] })
        let former = try await context(model, store, dialect, isRemoved ? [Tenfold()] : [])
        let items = TableQuery("items")
        try await former.pull(items, named: "all")

        let context = try await context(model, store, dialect, isRemoved ? [] : [Tenfold()])
        // By the first update the context learns that lists leave nothing out, and would read nothing for the second.
        for id in ["a", "c"] {
            try await context.table("items").update(["id": JSON(id), "text": "new"])
            #expect(try await context.push().isClean)
            #expect(model.rows("items")[RecordID(id)]?["n"] == 5)
        }
        try await context.pull(items, named: "all")
        for id in ["a", "b", "c"] {
            #expect(try await context.table("items").lookup(id: RecordID(id))?["n"] == (isRemoved ? 5 : 50))
        }
        let cursors = try await store.read { try Cursor.all(of: "items", in: $0) }
        #expect(cursors.map(\.isReshaping) == [false])
    }

    @Test("until a pull has ended, rows of the former form may be held")
    func broken() async throws {
        let (model, store) = (ModelServer(), MemoryStore())
        model.seed("items", [["id": "a", "n": 5], ["id": "b", "n": 5, "text": "old"]])
        let items = TableQuery("items")
        try await context(model, store, .datasync, []).pull(items, named: "all")
        let later = try await context(model, store, .datasync, [Tenfold()])
        model.onRequest { request in ModelCall(request).id == nil ? .answer(.model(500, .null)) : .none }
        await #expect(throws: SluiceError.self) { try await later.pull(items, named: "all") }
        model.onRequest { _ in .none }
        try await later.table("items").update(["id": "b", "text": "new"])
        #expect(try await later.push().isClean)
        #expect(model.rows("items")["b"]?["n"] == 5)
    }
}
