import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceOData

/// The queue's changes of rows of services that answer with 204, and what others change between that and the read of the row.
@Suite("answers without a row to changes of a queue")
struct NoContentTests {
    /// A device that has pulled one row with a text and a number.
    private func device(_ steps: [ScriptedTransport.Step]) async throws -> (SyncContext, ODataFixture) {
        let page =
            #"{"d":{"results":[{"__metadata":{"uri":"x","etag":"W/\"1\""},"Number":"1","Text":"a","Size":0}]}}"#
        // The second one, which is empty, is the end.
        let fixture = try ODataFixture(.v2, nil, [.json(200, page), .json(200, #"{"d":{"results":[]}}"#)] + steps)
        let context = try await SyncContext(
            client: fixture.client, store: MemoryStore(), tables: [], options: SyncOptions(conflictPolicy: .hold))
        try await context.table("Orders").pull()
        #expect(fixture.sent.count == 2)
        return (context, fixture)
    }

    private static func row(_ tag: String, _ more: String) -> ScriptedTransport.Step {
        .json(
            200,
            #"{"d":{"results":[{"__metadata":{"uri":"x","etag":"\#(tag.replacing("\"", with: "\\\""))"},"Number":"1"\#(more)}]}}"#
        )
    }

    @Test("under the tag of the condition nothing was changed, whatever another has changed by then")
    func unchanged() async throws {
        let (context, fixture) = try await device([
            .json(204, "", ["ETag": "W/\"1\""]), Self.row("W/\"2\"", #","Text":"theirs","Size":0"#),
        ])
        try await context.table("Orders").update(["id": "1", "Text": "mine"])
        let result = try await context.push()
        #expect(result.applied == 0 && !result.isClean)
        #expect(fixture.sent.dropFirst(2).first == "MERGE /Orders('1')")
        let waiting = try await context.queue.operations()
        #expect(waiting.count == 1 && waiting.first?.failure?.code == "conflict")
        #expect(try await context.table("Orders").lookup(id: "1")?["Text"] == "mine")
    }

    @Test(
        "a creation that is answered with what was sent, without a version and an address, counts once the row is found",
        arguments: [200, 201])
    func echoedCreation(_ status: Int) async throws {
        let (context, fixture) = try await device(
            [.json(status, #"{"d":{"Number":"7","Text":"mine"}}"#)]
                + Array(repeating: .json(200, #"{"d":{"results":[]}}"#), count: 4))
        try await context.table("Orders").insert(["id": "7", "Text": "mine"])
        let result = try await context.push()
        #expect(result.applied == 0, "\(result) \(fixture.sent)")
        #expect(try await context.queue.operations().map(\.kind) == [.insert])
    }

    @Test("a key that only the service can have given proves a creation, though there is no version and no address")
    func assignedKey() async throws {
        // It assigns keys, and its settings do not say so.
        let (context, fixture) = try await device([.json(201, #"{"d":{"Number":"S-9","Text":"mine"}}"#)])
        try await context.table("Orders").insert(["id": "7", "Text": "mine"])
        _ = try await context.push()
        _ = try await context.push()
        #expect(fixture.sent.filter { $0.hasPrefix("POST") }.count == 1, "\(fixture.sent)")
        // And where a property holds the record's id, the answer has the key beside it.
        let settings = ODataSettings(
            tables: ["Orders": .init(clientID: "Ref", assignsKey: true, key: [.init("Number", .string)])])
        let named = try ODataFixture(.v4, settings, [.json(201, #"{"Number":"4711","Ref":"a-1","Text":"t"}"#)])
        let other = try await SyncContext(
            client: named.client, store: MemoryStore(), tables: [], options: SyncOptions())
        try await other.table("Orders").insert(["id": "a-1", "Text": "t"])
        #expect(try await other.push().applied == 1)
        #expect(named.sent == ["POST /Orders"])
    }

    @Test("a row with another's new tag and nothing of what was sent does not count as done", arguments: ["", "2"])
    func untaken(other: String) async throws {
        // A service that answers so without taking the change; or it answers for another's.
        let (context, _) = try await device([
            .json(204, ""), Self.row("W/\"2\"", #","Text":"theirs\#(other)","Size":0"#),
        ])
        try await context.table("Orders").update(["id": "1", "Text": "mine"])
        let result = try await context.push()
        #expect(result.applied == 0 && !result.isClean)
        #expect(try await context.queue.operations().first?.failure?.code == "conflict")
        #expect(try await context.table("Orders").lookup(id: "1")?["Text"] == "mine")
    }

    @Test(
        "a delete that is answered without a body, and not by 204, is done once the row is gone", arguments: [200, 202])
    func takenIn(_ status: Int) async throws {
        let (context, fixture) = try await device([.json(status, ""), Self.row("W/\"1\"", #","Text":"a","Size":0"#)])
        try await context.table("Orders").delete(id: "1")
        #expect(try await context.push().applied == 0)
        #expect(fixture.sent.dropFirst(2).first == "DELETE /Orders('1')")
        #expect(try await context.queue.operations().map(\.kind) == [.delete])
    }

    @Test("a later edit is made on the row as it was known, so the service refuses it where another's would be lost")
    func laterEdit() async throws {
        let (context, fixture) = try await device([
            .json(204, ""), Self.row("W/\"8\"", #","Text":"mine","Size":3"#), .json(412, ""),
            .row("1", "W/\"8\"", #","Text":"mine","Size":3"#, version: .v2),
        ])
        let orders = try context.table("Orders")
        try await orders.update(["id": "1", "Text": "mine"], options: OperationOptions(isMergeable: false))
        try await orders.update(["id": "1", "Size": 2], options: OperationOptions(isMergeable: false))
        let result = try await context.push()
        #expect(result.applied == 1)
        #expect(fixture.sent.filter { $0.hasPrefix("MERGE") }.count == 2)
        let conditions = fixture.script.requests.compactMap { $0.head.headerFields[.ifMatch] }
        #expect(conditions == ["W/\"1\"", "W/\"1\""], "the other's size was never seen here")
        #expect(try await context.queue.operations().first?.failure?.code == "conflict")
        #expect(try await orders.lookup(id: "1")?["Size"] == 2)
    }

    @Test("under the row's own tag the row is as the change left it, and the next change is made on that")
    func ownTag() async throws {
        let (context, fixture) = try await device([
            .json(204, "", ["ETag": "\"2\""]),
            .row("1", "W/\"2\"", #","Text":"mine","Size":3,"By":"server""#, version: .v2),
            .json(204, "", ["ETag": "W/\"3\""]),
            .row("1", "W/\"3\"", #","Text":"mine","Size":2,"By":"server""#, version: .v2),
        ])
        let orders = try context.table("Orders")
        try await orders.update(["id": "1", "Text": "mine"], options: OperationOptions(isMergeable: false))
        try await orders.update(["id": "1", "Size": 2], options: OperationOptions(isMergeable: false))
        let result = try await context.push()
        #expect(result.isClean && result.applied == 2)
        let conditions = fixture.script.requests.compactMap { $0.head.headerFields[.ifMatch] }
        #expect(conditions == ["W/\"1\"", "W/\"2\""])
        #expect(try await orders.lookup(id: "1")?["By"] == "server")
    }
}
