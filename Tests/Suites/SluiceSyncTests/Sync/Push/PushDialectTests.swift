import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("A push on every wire")
struct PushDialectTests {
    /// A context with a scripted server, and one record `a` pulled from it.
    private func context(
        _ dialect: Dialect, _ transport: ScriptedTransport, retry: RetryPolicy = .never,
        policy: ConflictPolicy = .hold
    ) async throws -> SyncContext {
        var options = quickOptions()
        options.retry = retry
        let client = SluiceClient(
            endpoint: testEndpoint, dialect: dialect, transport: transport, options: options)
        return try await SyncContext(
            client: client, store: MemoryStore(), options: SyncOptions(conflictPolicy: policy, commitLag: .zero))
    }

    private func row(_ dialect: Dialect, n: Int, version: String, deleted: Bool = false) -> String {
        let columns = dialect.columns
        return #"{"id":"a","n":\#(n),"m":1,"\#(columns.version)":"\#(version)","#
            + #""\#(columns.updatedAt)":"2020-01-01T00:00:00.000Z","\#(columns.deleted)":\#(deleted)}"#
    }

    private func list(_ dialect: Dialect, _ row: String) -> String {
        dialect.odata == .v4 ? #"{"items":[\#(row)],"count":null,"nextLink":null}"# : "[\(row)]"
    }

    /// The record by its id and from the list, which are read before the first update that replaces one.
    private func whole(_ dialect: Dialect, _ row: String) -> [ScriptedTransport.Step] {
        dialect.patchesUpdates ? [] : [.json(200, row), .json(200, list(dialect, row))]
    }

    @Test("an update sends what changed, or the record whole, and its version in If-Match", arguments: Dialect.all)
    func update(dialect: Dialect) async throws {
        let first = row(dialect, n: 1, version: "v1")
        let transport = ScriptedTransport(
            [.json(200, list(dialect, first)), .json(200, list(dialect, ""))] + whole(dialect, first) + [
                .json(200, row(dialect, n: 2, version: "v2"), ["ETag": #""v2""#])
            ])
        let context = try await context(dialect, transport)
        let table = try context.table("t")
        try await table.pull()
        try await table.update(["id": "a", "n": 2])
        let result = try await context.push()
        #expect(result.isClean, "\(result)")
        let sent = try #require(transport.requests.last)
        #expect(sent.head.headerFields[.ifMatch] == #""v1""#)
        #expect(sent.head.method == (dialect.patchesUpdates ? .patch : .put))
        #expect(try sent.body.json == (dialect.patchesUpdates ? ["id": "a", "n": 2] : ["id": "a", "n": 2, "m": 1]))
        #expect(try await table.lookup(id: "a")?[dialect.columns.version] == "v2")
        #expect(transport.requests.count == (dialect.patchesUpdates ? 3 : 5))
    }

    @Test("a stale update is a conflict with the server's record", arguments: Dialect.all)
    func conflict(dialect: Dialect) async throws {
        let first = row(dialect, n: 1, version: "v1")
        let transport = ScriptedTransport(
            [.json(200, list(dialect, first)), .json(200, list(dialect, ""))] + whole(dialect, first) + [
                .json(412, row(dialect, n: 5, version: "v5"), ["ETag": #""v5""#])
            ])
        let context = try await context(dialect, transport)
        let table = try context.table("t")
        try await table.pull()
        try await table.update(["id": "a", "n": 2])
        let result = try await context.push()
        #expect(result.conflicts == 1 && result.failures.first?.failure?.serverRecord?["n"] == 5)
    }

    @Test("an undelete has the form of its wire and ends with the server's record", arguments: Dialect.all)
    func undelete(dialect: Dialect) async throws {
        let restored = row(dialect, n: 1, version: "v3")
        let deleted = row(dialect, n: 1, version: "v2", deleted: true)
        // A wire that restores by PUT reads the tombstone by its id too.
        let byID: [ScriptedTransport.Step] = dialect.undelete == .put ? [.json(200, deleted)] : []
        let transport = ScriptedTransport(
            [.json(200, list(dialect, deleted))] + byID + [.json(200, restored, ["ETag": #""v3""#])])
        let context = try await context(dialect, transport)
        let table = try context.table("t")
        try await table.undelete(id: "a")
        let result = try await context.push()
        #expect(result.isClean, "\(result)")
        let sent = try #require(transport.requests.last)
        let path = "/app/tables/t/a"
        #expect(sent.head.headerFields[.ifMatch] == #""v2""#)
        switch dialect.undelete {
        case .post: #expect(sent.head.method == .post && sent.body.isEmpty)
        case .patch:
            #expect(try sent.head.method == .patch && sent.head.path == path && sent.body.json == ["deleted": false])
        case .put:
            #expect(sent.head.method == .put && sent.head.path == "\(path)?__includedeleted=true")
            #expect(try sent.body.json == ["id": "a", "n": 1, "m": 1, "deleted": false])
        }
        #expect(try await table.lookup(id: "a")?["n"] == 1)
    }

    @Test("a record that is not deleted any more needs no undelete, and one that is nowhere is refused")
    func nothingToUndelete() async throws {
        let dialect = Dialect.datasync
        let there = ScriptedTransport([.json(200, list(dialect, row(dialect, n: 1, version: "v3")))])
        let context = try await context(dialect, there)
        try await context.table("t").undelete(id: "a")
        #expect(try await context.push().isClean)
        #expect(try await context.table("t").lookup(id: "a")?["n"] == 1 && there.requests.count == 1)

        let missing = ScriptedTransport([.json(200, list(dialect, ""))])
        let other = try await self.context(dialect, missing)
        try await other.table("t").undelete(id: "a")
        let failures = try await other.push().failures
        #expect(failures.first?.failure?.code == "notFound" && failures.first?.state == .parked)
    }

    @Test("an edit of a record that was deleted brings it back, where the client wins", arguments: Dialect.all)
    func restoreByEdit(dialect: Dialect) async throws {
        let tombstone = list(dialect, row(dialect, n: 1, version: "v2", deleted: true))
        let first = row(dialect, n: 1, version: "v1")
        let transport = ScriptedTransport(
            [.json(200, list(dialect, first)), .json(200, list(dialect, ""))] + whole(dialect, first) + [
                .json(dialect.odata == .v4 ? 410 : 404, ""), .json(200, tombstone),
                .json(dialect.undelete == .post ? 201 : 200, row(dialect, n: 1, version: "v3")),
                .json(200, row(dialect, n: 2, version: "v4")),
            ])
        let context = try await context(dialect, transport, policy: .clientWins)
        let table = try context.table("t")
        try await table.pull()
        try await table.update(["id": "a", "n": 2])
        let result = try await context.push()
        #expect(result.isClean && result.conflicts == 1, "\(result)")
        let writes = transport.requests.filter(\.isWrite)
        #expect(writes.map { $0.head.headerFields[.ifMatch] } == [#""v1""#, #""v2""#, #""v3""#])
        #expect(try writes.last?.body.json["n"] == 2)
        let local = try await table.lookup(id: "a")
        #expect(local?["n"] == 2 && local?["m"] == 1 && local?[dialect.columns.version] == "v4")
    }

    @Test("connections that never came about leave no doubt, one that broke does")
    func unsent() async throws {
        let refused = ScriptedTransport.Step.failure(SluiceError(.network, "x", cause: RequestNotSent("refused")))
        let broken = ScriptedTransport.Step.failure(SluiceError(.network, "x"))
        for (steps, isUncertain) in [
            ([refused], false), ([refused, refused, refused], false), ([broken, refused, refused], true),
            ([refused, broken, refused], true), ([refused, refused, broken], true),
        ] {
            let transport = ScriptedTransport(steps)
            let context = try await context(.azureV2, transport, retry: RetryPolicy(attempts: steps.count))
            try await context.table("t").insert(["id": "a", "n": 1])
            _ = try await context.push()
            let operation = try await context.queue.operations().first
            #expect(operation?.isUncertain == isUncertain && operation?.state == .pending)
            #expect(transport.requests.count == steps.count)
        }
    }

    @Test("an incremental pull says so, and a push says what it is", arguments: [Dialect.azureV1, .azureV2])
    func features(dialect: Dialect) async throws {
        let transport = ScriptedTransport(otherwise: .json(200, "[]"))
        let context = try await context(dialect, transport)
        let table = try context.table("t")
        try await table.pull()
        try await table.pull(named: "all")
        try await table.insert(["id": "a"])
        _ = try await context.push()
        let name = field("X-ZUMO-FEATURES")
        #expect(
            transport.requests.prefix(3).map { $0.head.headerFields[name] } == ["QS,OL", "QS,OL,IP", "TU,OL"])
    }
}
