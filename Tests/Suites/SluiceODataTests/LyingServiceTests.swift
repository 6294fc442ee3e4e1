import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceOData

@Suite("OData services that answer with something else than was asked")
struct LyingServiceTests {
    private static func page(_ rows: String...) -> ScriptedTransport.Step {
        .json(200, #"{"value":[\#(rows.joined(separator: ","))]}"#)
    }
    private static let a = #"{"@odata.etag":"W/\"1\"","Number":"a","Text":"A","Done":false}"#
    private static let b = #"{"@odata.etag":"W/\"9\"","Number":"b","Text":"B","Done":true}"#

    private func device(
        _ steps: [ScriptedTransport.Step], settings: ODataSettings? = nil, batch: Int = 1
    ) async throws -> (SyncContext, ODataFixture) {
        let start = [Self.page(Self.a), Self.page()]
        let fixture = try ODataFixture(.v4, settings, start + steps)
        let context = try await SyncContext(
            client: fixture.client, store: MemoryStore(), tables: [],
            options: SyncOptions(conflictPolicy: .hold, batchSize: batch))
        try await context.table("Orders").pull()
        #expect(fixture.sent.count == 2)
        return (context, fixture)
    }

    @Test(
        "another row's record in an answer to a change is not the record's",
        arguments: [
            [ScriptedTransport.Step.json(200, b)], [.json(412, ""), .json(200, b)],
            [.json(204, "", ["ETag": "W/\"9\""]), .json(200, b), Self.page(a)],
        ])
    func otherRow(_ answers: [ScriptedTransport.Step]) async throws {
        let (context, _) = try await device(answers)
        let orders = try context.table("Orders")
        try await orders.update(["id": "a", "Done": true])
        let result = try? await context.push()
        #expect(result?.applied ?? 0 == 0)
        #expect(try await context.queue.operations().count == 1, "the change waits")
        #expect(try await orders.lookup(id: "a")?["Text"] == "A")
    }

    @Test(
        "a refusal that the row does not explain keeps the service's words: 409 is parked, and 412 waits",
        arguments: [(409, TableOperation.State.parked), (412, .pending)])
    func words(_ status: Int, _ state: TableOperation.State) async throws {
        let refusal = ScriptedTransport.Step.json(status, #"{"error":{"message":"the period is closed"}}"#)
        let (context, _) = try await device([refusal, .json(200, Self.a), Self.page(Self.a)])
        try await context.table("Orders").update(["id": "a", "Done": true])
        _ = try? await context.push()
        let operation = try #require(try await context.queue.operations().first)
        #expect(operation.state == state)
        #expect(operation.failure?.message.contains("the period is closed") == true, "\(operation)")
    }

    @Test("an insert that meets another's row of its key is not said to be one's own")
    func otherInsert() async throws {
        let theirs = #"{"@odata.etag":"W/\"9\"","Number":"c","Text":"theirs","Done":true}"#
        let (context, _) = try await device([.json(409, #"{"error":{"message":"exists"}}"#), .json(200, theirs)])
        try await context.table("Orders").insert(["id": "c", "Number": "c", "Text": "mine"])
        _ = try? await context.push()
        let operation = try #require(try await context.queue.operations().first)
        #expect(operation.failure?.message == "the server has a record of this id already", "\(operation)")
    }

    @Test("after a lost answer, a key that the service spells otherwise is the sent row's where the values are too")
    func spelledKey() async throws {
        let ours = #"{"@odata.etag":"W/\"9\"","Number":"XYZ","Text":"mine","Done":false}"#
        let exists = ScriptedTransport.Step.json(409, #"{"error":{"message":"exists"}}"#)
        let (context, _) = try await device([.failure(SluiceError(.network, "cut")), exists, .json(200, ours)])
        try await context.table("Orders").insert(["id": "xyz", "Number": "xyz", "Text": "mine"])
        _ = try? await context.push()
        _ = try? await context.push()
        #expect(try await context.queue.operations().isEmpty)
        #expect(try await context.table("Orders").lookup(id: "XYZ")?["Text"] == "mine")
        #expect(try await context.table("Orders").lookup(id: "xyz") == nil)
    }

    @Test(
        "another's row whose key differs by case only is named, and the insert is parked", arguments: [false, true])
    func caselessKey(_ isLost: Bool) async throws {
        let theirs = #"{"@odata.etag":"W/\"9\"","Number":"ABC","Text":"theirs","Done":true}"#
        let exists = ScriptedTransport.Step.json(409, #"{"error":{"message":"exists"}}"#)
        let lost = [ScriptedTransport.Step.failure(SluiceError(.network, "cut"))]
        let (context, _) = try await device((isLost ? lost : []) + [exists, .json(200, theirs)])
        try await context.table("Orders").insert(["id": "abc", "Number": "abc", "Text": "mine"])
        _ = try? await context.push()
        _ = try? await context.push()
        let operation = try #require(try await context.queue.operations().first)
        #expect(operation.state == .parked)
        #expect(operation.failure?.message.contains("another record, ABC") == true, "\(operation)")
        #expect(try await context.table("Orders").lookup(id: "abc")?["Text"] == "mine")
    }

    @Test("a change that is confirmed by 204, and whose row is shown no more, is done and in the audit")
    func hiddenByTheChange() async throws {
        let (context, fixture) = try await device([.json(204, ""), Self.page(), .json(404, "{}")])
        try await context.table("Orders").update(["id": "a", "Done": true])
        let result = try await context.push()
        #expect(result.applied == 1 && result.conflicts == 0)
        #expect(fixture.sent.allSatisfy { !$0.hasPrefix("POST") }, "no second row")
        #expect(try await context.table("Orders").lookup(id: "a") == nil)
        let audit = try await context.store.read { try $0.records(matching: TableQuery("sluice_audit")) }
        #expect(audit.map { $0["what"] } == ["done, and no longer shown"], "\(audit)")
    }

    @Test("a login page is named, at whatever request it comes")
    func loginPage() async throws {
        let login = ScriptedTransport.Step.json(200, "<!DOCTYPE html><html><body>Log in</body></html>")
        let described = try ODataFixture(.v4, ODataSettings(), [login])
        let error = await #expect(throws: SluiceError.self) { try await described.orders.read() }
        #expect(error?.message.contains("login page") == true)
        let listed = try ODataFixture(.v4, nil, [login])
        let other = await #expect(throws: SluiceError.self) { try await listed.orders.read() }
        #expect(other?.message.contains("login page") == true)
        for (answer, page) in [
            (login, Self.page(Self.a)), (.json(302, "", ["Location": "http://login.example/"]), nil),
        ] {
            let (context, _) = try await device([answer] + (page.map { [$0, $0] } ?? []))
            try await context.table("Orders").update(["id": "a", "Done": true])
            _ = try? await context.push()
            let operation = try #require(try await context.queue.operations().first)
            #expect(operation.state == .pending)
            #expect(operation.failure?.message.contains("login page") == true, "\(operation)")
        }
    }

    @Test("a description that is refused is named")
    func refusedDescription() async throws {
        let fixture = try ODataFixture(.v4, ODataSettings(), [.json(403, #"{"error":{"message":"no role"}}"#)])
        let error = await #expect(throws: SluiceError.self) { try await fixture.orders.read() }
        #expect(error?.code == .forbidden && error?.message == "$metadata: no role", "\(String(describing: error))")
    }

    @Test("a row that was made under another key is not the one that was sent")
    func otherKey() async throws {
        let (context, _) = try await device([.json(201, Self.b)])
        try await context.table("Orders").insert(["id": "c", "Text": "C"])
        _ = try await context.push()
        #expect(try await context.queue.operations().count == 1)
        #expect(try await context.table("Orders").lookup(id: "c")?["Text"] == "C")
    }

    @Test(
        "a row that a filter on the client's id was not asked for is not changed, also where it has no value there",
        arguments: [#""other""#, "null", #""""#])
    func ignoredFilter(_ reference: String) async throws {
        var table = ODataFixture.orders
        table.clientID = "Ref"
        let fixture = try ODataFixture(
            .v4, ODataSettings(tables: ["Orders": table]),
            [Self.page(#"{"@odata.etag":"W/\"9\"","Number":"7","Ref":\#(reference)}"#)])
        await #expect(throws: SluiceError.self) {
            _ = try await fixture.orders.update(["id": "mine", "Text": "a", "__version": "W/\"1\""])
        }
        #expect(fixture.sent.allSatisfy { $0.hasPrefix("GET") })
    }

    @Test(
        "a row that the list by the client's id shows late is found by the key it was created with",
        arguments: [false, true])
    func lateList(_ isDelete: Bool) async throws {
        var table = ODataFixture.orders
        (table.clientID, table.assignsKey) = ("Ref", true)
        let created = #"{"@odata.etag":"W/\"1\"","Number":"7","Ref":"mine","Text":"new"}"#
        let edited = #"{"@odata.etag":"W/\"2\"","Number":"7","Ref":"mine","Text":"edit"}"#
        let (context, fixture) = try await device(
            [.json(201, created), Self.page(), .json(200, created), isDelete ? .json(204, "") : .json(200, edited)],
            settings: ODataSettings(tables: ["Orders": table]))
        let orders = try context.table("Orders")
        try await orders.insert(["id": "mine", "Text": "new"])
        #expect(try await context.push().isClean)
        if isDelete {
            try await orders.delete(id: "mine")
        } else {
            try await orders.update(["id": "mine", "Text": "edit"])
        }
        #expect(try await context.push().isClean)
        #expect(
            fixture.sent.dropFirst(4) == ["GET /Orders('7')", isDelete ? "DELETE /Orders('7')" : "PATCH /Orders('7')"],
            "\(fixture.sent)")
        #expect(try await orders.lookup(id: "mine")?["Text"] == (isDelete ? nil : "edit"))
    }

    @Test("a delete of a row to which others gave another client's id is parked, and not counted as done")
    func otherReference() async throws {
        var table = ODataFixture.orders
        (table.clientID, table.assignsKey) = ("Ref", true)
        let created = #"{"@odata.etag":"W/\"1\"","Number":"7","Ref":"mine","Text":"new"}"#
        let renamed = #"{"@odata.etag":"W/\"2\"","Number":"7","Ref":"theirs","Text":"new"}"#
        let (context, fixture) = try await device(
            [.json(201, created), Self.page(), .json(200, renamed)], settings: ODataSettings(tables: ["Orders": table]))
        let orders = try context.table("Orders")
        try await orders.insert(["id": "mine", "Text": "new"])
        #expect(try await context.push().isClean)
        try await orders.delete(id: "mine")
        let result = try await context.push()
        #expect(result.applied == 0 && result.failures.map(\.state) == [.parked], "\(result)")
        #expect(!fixture.sent.contains { $0.hasPrefix("DELETE") })
    }

    @Test("an update that replaces a row keeps the client's id in it")
    func replacedReference() async throws {
        var table = ODataFixture.orders
        (table.clientID, table.assignsKey) = ("Ref", true)
        let created = #"{"@odata.etag":"W/\"1\"","Number":"7","Ref":"mine","Text":"new"}"#
        let rows = (0..<4).map { _ in Self.page(created) }
        let (context, fixture) = try await device(
            [.json(201, created)] + rows.prefix(1) + [.json(200, created)] + rows,
            settings: ODataSettings(tables: ["Orders": table], update: .put))
        let orders = try context.table("Orders")
        try await orders.insert(["id": "mine", "Text": "new"])
        #expect(try await context.push().isClean)
        try await orders.update(["id": "mine", "Text": "edit"])
        _ = try? await context.push()
        let place = try #require(fixture.sent.firstIndex { $0.hasPrefix("PUT") }, "\(fixture.sent)")
        #expect(try fixture.body(of: place)["Ref"] == "mine")
    }

    @Test("a creation of an assigned key is not sent while a later part of its batch cannot be planned")
    func unplannedPart() async throws {
        var table = ODataFixture.orders
        table.assignsKey = true
        // Without a tag the row is compared before its update is sent.
        let untagged = #"{"Number":"a","Text":"A"}"#
        let fixture = try ODataFixture(
            .v4, ODataSettings(tables: ["Orders": table], batches: .multipart),
            [Self.page(untagged), Self.page()]
                + [.failure(SluiceError(.network, "cut"))])
        let context = try await SyncContext(
            client: fixture.client, store: MemoryStore(), options: SyncOptions(batchSize: 10))
        let orders = try context.table("Orders")
        try await orders.pull()
        try await orders.insert(["Text": "new"])
        try await orders.update(["id": "a", "Text": "B"])
        _ = try? await context.push()
        #expect(fixture.sent.count == 3 && fixture.sent.allSatisfy { $0.hasPrefix("GET") }, "\(fixture.sent)")
        let operations = try await context.queue.operations()
        #expect(operations.count == 2 && operations.allSatisfy { $0.state != .parked }, "\(operations)")
    }

    @Test("another row at the address that a creation is answered with is not what was made")
    func otherAddress() async throws {
        var table = ODataFixture.orders
        table.assignsKey = true
        let fixture = try ODataFixture(
            .v4, ODataSettings(tables: ["Orders": table]),
            [.json(204, "", ["OData-EntityId": "Orders('a')"]), .json(200, Self.b)])
        let error = await #expect(throws: SluiceError.self) {
            _ = try await fixture.orders.insert(["Text": "mine"])
        }
        #expect(error?.code == .maybeApplied)
        #expect(fixture.sent == ["POST /Orders", "GET /Orders('a')"])
    }

    private static func batch(_ parts: (id: Int, answer: String)...) -> ScriptedTransport.Step {
        let text = parts.map {
            "--r\r\nContent-Type: application/http\r\nContent-ID: \($0.id)\r\n\r\nHTTP/1.1 \($0.answer)\r\n\r\n\r\n"
        }
        return .json(200, text.joined() + "--r--\r\n", ["Content-Type": "multipart/mixed; boundary=r"])
    }

    @Test("the answers of a batch belong to the changes whose Content-ID they repeat")
    func order() async throws {
        let settings = ODataSettings(tables: ["Orders": ODataFixture.orders], batches: .multipart)
        let (context, _) = try await device(
            [Self.batch((2, "403 Forbidden"), (1, "400 Bad Request")), .json(404, "")], settings: settings, batch: 10)
        for id in ["x", "y"] { try await context.table("Orders").insert(["id": JSON(id)]) }
        _ = try? await context.push()
        let waiting = try await context.queue.operations()
        #expect(waiting.map(\.recordID) == ["x", "y"])
        #expect(waiting.map { $0.failure?.status } == [400, 403])
    }

    @Test("of a change that a batch leaves out without a failure before it nothing is known")
    func leftOut() async throws {
        let settings = ODataSettings(tables: ["Orders": ODataFixture.orders], batches: .multipart)
        let (context, _) = try await device([Self.batch((1, "204 No Content"))], settings: settings, batch: 10)
        for id in ["x", "y"] { try await context.table("Orders").insert(["id": JSON(id)]) }
        _ = try? await context.push()
        let waiting = try await context.queue.operations()
        #expect(waiting.map(\.isUncertain) == [true, true])
    }

    @Test("another origin gets none of the service's cookies, and gives none")
    func otherOrigin() async throws {
        let script = ScriptedTransport([
            .json(200, Self.a, ["Set-Cookie": "session=SECRET-77"]),
            .json(200, "{}", ["Set-Cookie": "session=EVIL"]),
            .json(400, #"{"error":{"message":"no session SECRET-77"}}"#),
        ])
        let transport = ODataTransport(
            version: .v4, settings: ODataSettings(tables: ["Orders": ODataFixture.orders]),
            endpoint: try Endpoint(ODataFixture.base), inner: script)
        func get(_ authority: String, _ path: String) async throws -> SyncResponse {
            let head = HTTPRequest(method: .get, scheme: "http", authority: authority, path: path)
            return try await transport.send(SyncRequest(head))
        }
        _ = try await get("odata.example", "/svc/tables/Orders/a")
        _ = try await get("elsewhere.example", "/steal")
        let refusal = try await get("odata.example", "/svc/tables/Orders/a")
        #expect(script.requests.map { $0.head.headerFields[.cookie] } == [nil, nil, "session=SECRET-77"])
        #expect(refusal.status == 400)
        #expect(!String(decoding: refusal.body.bytes, as: UTF8.self).contains("SECRET-77"))
    }
}
