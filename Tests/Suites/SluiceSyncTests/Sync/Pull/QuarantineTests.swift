import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Quarantine: rows that cannot be stored stop nothing")
struct QuarantineTests {
    /// A server whose first page is that text.
    private func device(_ kind: StoreKind, _ page: String) async throws -> (Device, Changeable<String>) {
        let device = try await Device(kind)
        let text = Changeable(page)
        device.server.onRequest { request in
            let path = PercentEncoding.decoded(request.head.path ?? "")
            let isFirst =
                !path.contains("updatedAt g") && !path.contains("eq null") && !path.contains("id gt")
                && !path.contains("$skip") && !path.contains("id eq")
            let isLast = path.contains("$orderby=id desc")
            let body = isLast ? #"[{"id":"c","version":"1"},{"id":"a","version":"1"}]"# : isFirst ? text.value : "[]"
            return .answer(SyncResponse(HTTPResponse(status: .ok), body: MessageBody(bytes: Array(body.utf8))))
        }
        return (device, text)
    }

    @Test(
        "what cannot be stored is set aside with its reason and its text, and the rest of the page comes",
        arguments: StoreKind.allCases,
        [
            (#"7"#, "not an object"), (#""text""#, "not an object"), (#"{"n":1}"#, "no “id”"),
            (#"{"id":5,"n":1}"#, "a number for its “id”"), (#"{"id":null}"#, "null for its “id”"),
            (#"{"id":""}"#, "without a character"), (#"{"id":["x"]}"#, "not text"),
            (#"{"id":"bad","deleted":"yes"}"#, "neither true nor false"), (#"{"id":"bad","version":7}"#, "not text"),
            (#"{"id":"bad","updatedAt":{}}"#, "not text"), (#"{"id":"bad","updatedAt":"soon"}"#, "no time"),
            (#"{"id":"bad","updatedAt":""}"#, "no time"), (#"{"id":"bad","updatedAt":"2023-02-30"}"#, "no time"),
            (#"{"id":"bad","version":"1\r\nX: y"}"#, "control characters"),
            (#"{"id":"bad","n":"half an emoji: \ud83d"}"#, "no valid Unicode"),
            (#"{"id":"bad","n":["\ud83d\u0041"],"m":"\ude00"}"#, "no valid Unicode"),
            (#"{"id":"bad","n":NaN}"#, "such as NaN"), (#"{"id":"bad","n":[-Infinity]}"#, "such as NaN"),
            (#"{"id":"bad","n":True}"#, "such as NaN"), (#"{"id":"bad","n":trueish}"#, "such as NaN"),
            (#"{"id":"bad","n":007}"#, "such as NaN"), (#"{"id":"bad","n":1_000}"#, "such as NaN"),
            ("{\"id\":\"bad\",\"n\":\"a\nb\"}", "not escaped"), (#"{"id":"bad","n":"C:\users"}"#, "not escaped"),
            (#"{"id":"bad","n":1,"n":2}"#, "twice"), (#"{"id":"bad","n":{"a":1,"a":2}}"#, "twice"),
            (#"{"id":"one","id":"two","n":1}"#, "twice"),
            (#"{"id":"bad","\ud83d":1}"#, "no valid Unicode"), (#"{"id":"\ud83d"}"#, "no valid Unicode"),
        ])
    func setAside(_ kind: StoreKind, _ row: (text: String, reason: String)) async throws {
        for name in ["all", nil] { try await setAside(kind, name, row) }
    }

    private func setAside(_ kind: StoreKind, _ name: String?, _ row: (text: String, reason: String)) async throws {
        let good = { (id: String) in #"{"id":"\#(id)","updatedAt":"2023-01-01T00:00:00Z","version":"1"}"# }
        let (device, _) = try await device(kind, "[\(good("a")),\(row.text),\(good("c"))]")
        let result = try await device.todos.pull(named: name)
        #expect(result.stored == 2 && result.quarantined == 1, "\(result)")
        #expect(try await device.todos.records().compactMap { $0["id"]?.string } == ["a", "c"])
        let rows = try await device.context.quarantine(table: "todos")
        #expect(rows.count == 1 && rows.first?.reason.contains(row.reason) == true, "\(rows)")
        #expect(rows.first?.raw == row.text)
        #expect(rows.first?.recordID == (row.text.contains("bad") ? "bad" : nil))
    }

    @Test(
        "a deletion may be said in the form of a database",
        arguments: [("1", "0"), (#""1""#, #""0""#), (#""true""#, #""false""#), (#""True""#, #""False""#)])
    func databaseForm(_ isDeleted: (yes: String, no: String)) async throws {
        func row(_ id: String, _ deleted: String) -> String {
            #"{"id":"\#(id)","updatedAt":"2023-01-01T00:00:00Z","version":"1","deleted":\#(deleted)}"#
        }
        let (device, text) = try await device(.sqlite, "[\(row("a", isDeleted.no)),\(row("c", isDeleted.no))]")
        #expect(try await device.todos.pull(named: "all").stored == 2)
        text.value = "[\(row("a", isDeleted.yes).replacing(#""1","d"#, with: #""2","d"#)),\(row("c", isDeleted.no))]"
        let result = try await device.todos.pull(named: "other")
        #expect(result.deleted == 1 && result.quarantined == 0)
        #expect(try await device.todos.records().compactMap { $0["id"]?.string } == ["c"])
    }

    /// A text of so many levels, in brackets.
    private static func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    @Test(
        "a row that nests too deep stops nothing, whether or not a filter has read the page as a document",
        arguments: [(63, true), (64, false), (65, false), (100, false)], [false, true])
    func deep(_ row: (levels: Int, isStored: Bool), _ readsDocument: Bool) async throws {
        struct Reader: RequestFilter {
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                let response = try await next(request)
                _ = try response.body.json
                return response
            }
        }
        for page in [#"[ROW,GOOD]"#, #"{"results":[ROW,GOOD],"count":2}"#] {
            let text = page.replacing("ROW", with: #"{"id":"deep","version":"1","n":\#(Self.nested(row.levels))}"#)
                .replacing("GOOD", with: #"{"id":"good","version":"1","updatedAt":"2023-01-01T00:00:00Z"}"#)
            let server = ModelServer()
            let asked = Counter()
            server.onRequest { _ in
                .answer(
                    SyncResponse(
                        HTTPResponse(status: .ok),
                        body: MessageBody(bytes: Array((asked.next() == 1 ? text : "[]").utf8))))
            }
            let device = try await Device(.sqlite, server: server, filters: readsDocument ? [Reader()] : [])
            let result = try await device.todos.pull(named: "all")
            #expect(result.stored == (row.isStored ? 2 : 1) && result.quarantined == (row.isStored ? 0 : 1))
            #expect(try await device.local("good") != nil)
            let deep = try await device.local("deep")
            #expect((deep != nil) == row.isStored)
            let aside = try await device.context.quarantine()
            #expect(aside.allSatisfy { $0.recordID == "deep" && $0.reason.contains("deeper than 64") })
            #expect(aside.allSatisfy { $0.raw.contains(Self.nested(row.levels)) })
        }
    }

    @Test("two rows of one id and version that differ contradict each other; a later version settles it")
    func disputed() async throws {
        let (device, text) = try await device(
            .memory,
            #"[{"id":"a","version":"1","n":1,"updatedAt":"2023-01-01T00:00:00Z"},{"id":"a","version":"1","n":2,"updatedAt":"2023-01-01T00:00:00Z"}]"#
        )
        let result = try await device.todos.pull()
        #expect(result.stored == 0 && result.quarantined > 0)
        #expect(try await device.context.quarantine().map(\.recordID) == ["a"])
        #expect(try await device.local("a") == nil)
        text.value = #"[{"id":"a","version":"2","n":3,"updatedAt":"2023-01-02T00:00:00Z"}]"#
        #expect(try await device.todos.pull().stored == 1)
        #expect(try await device.context.quarantine().isEmpty, "the good row clears the entry")
        #expect(try await device.local("a")?["n"] == 3)
    }

    @Test("one id twice in two versions is its later state", arguments: ["all", nil] as [String?])
    func twoVersions(_ name: String?) async throws {
        for time in ["", #","updatedAt":"2023-01-01T00:00:00Z""#] {
            let (device, _) = try await device(
                .memory, #"[{"id":"a","version":"1","n":1\#(time)},{"id":"a","version":"2","n":2\#(time)}]"#)
            #expect(try await device.todos.pull(named: name).quarantined == 0)
            #expect(try await device.local("a")?["n"] == 2)
        }
    }

    @Test("a server that always lists one id in two versions is read to the end", arguments: ["all", nil] as [String?])
    func twoVersionsForEver(_ name: String?) async throws {
        for time in ["", #","updatedAt":"2023-01-01T00:00:00Z""#] {
            let device = try await Device(.memory)
            let rows =
                #"[{"id":"b","version":"1"\#(time)},{"id":"a","version":"1"\#(time)},{"id":"a","version":"2"\#(time)}]"#
            let all = try #require(try JSON(parsing: rows).elements)
            device.server.onRequest { request in
                let call = ModelCall(request)
                let query = try? call.query()
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query?.filter), schema: nil)
                let matching = all.filter { evaluator?.matches($0) ?? true }.dropFirst(query?.skip ?? 0)
                return .answer(.model(200, JSON(Array(matching.prefix(2)))))
            }
            try await device.todos.pull(named: name)
            #expect(try await device.todos.count() == 2)
            #expect(device.server.requests.count < 60)
        }
    }

    @Test("a row that is bad leaves the one that was here as it was")
    func staysAsItWas() async throws {
        let (device, text) = try await device(.memory, #"[{"id":"a","version":"1","n":1}]"#)
        try await device.todos.pull()
        text.value = #"[{"id":"a","version":[],"n":2}]"#
        #expect(try await device.todos.pull().quarantined == 1)
        #expect(try await device.local("a")?["n"] == 1)
        let entries = try await device.context.quarantine(table: "todos").map(\.id)
        try await device.context.removeFromQuarantine(entries)
        #expect(try await device.context.quarantine().isEmpty)
    }

    @Test("a row that the store refuses does not take its page along", arguments: ["all", nil] as [String?])
    func refusedByStore(_ name: String?) async throws {
        let server = ModelServer()
        server.seed("todos", (0..<5).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        let device = try await Device(.memory, server: server, store: PickyStore(MemoryStore()))
        let result = try await device.todos.pull(named: name)
        #expect(result.stored == 4 && result.quarantined == 1)
        #expect(try await device.context.quarantine().first?.recordID == "r3")
    }

    @Test("no change is told of a row that the store refuses")
    func refusedUntold() async throws {
        let server = ModelServer()
        server.seed("todos", (0..<5).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        let device = try await Device(.memory, server: server, store: PickyStore(MemoryStore()))
        var changes = device.context.changes.makeAsyncIterator()
        try await device.todos.pull()
        let told = await changes.next()?.changes ?? []
        #expect(Set(told.map { "\($0.kind.rawValue) \($0.recordID)" }) == Set([0, 1, 2, 4].map { "inserted r\($0)" }))
    }

    @Test("two rows of one version that differ settle nothing, and a newer one after them does")
    func settledInPage() async throws {
        let row = { (version: Int, n: Int) in
            #"{"id":"a","version":"\#(version)","n":\#(n),"updatedAt":"2023-01-0\#(version)T00:00:00Z"}"#
        }
        let (device, _) = try await device(.memory, "[\(row(1, 1)),\(row(1, 2)),\(row(2, 3))]")
        let result = try await device.todos.pull()
        #expect(result.stored > 0 && result.quarantined == 0)
        #expect(try await device.context.quarantine().isEmpty)
        #expect(try await device.local("a")?["n"] == 3)
    }

    @Test("pages of nothing but bad rows end the pull neither early nor never", arguments: ["all", nil] as [String?])
    func onlyBadRows(_ name: String?) async throws {
        let device = try await Device(.memory)
        let all: [JSON] =
            (0..<4).map { ["n": JSON($0), "updatedAt": JSON("2023-01-0\($0 + 1)T00:00:00Z")] }
            + [["id": "z", "version": "1", "updatedAt": "2023-02-01T00:00:00Z"]]
        device.server.onRequest { request in
            let call = ModelCall(request)
            let query = try? call.query()
            let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query?.filter), schema: nil)
            let matching = all.filter { evaluator?.matches($0) ?? true }.dropFirst(query?.skip ?? 0)
            return .answer(.model(200, JSON(Array(matching.prefix(2)))))
        }
        let result = try await device.todos.pull(named: name)
        #expect(result.quarantined == 4 && result.stored == 1)
        #expect(try await device.context.quarantine().count == 4)
    }

    @Test("a purge of other rows leaves what is set aside, one of its row or of all takes it")
    func purged() async throws {
        let good = { (id: String) in #"{"id":"\#(id)","n":1,"updatedAt":"2023-01-01T00:00:00Z","version":"1"}"# }
        let (device, text) = try await device(.memory, "[\(good("a")),\(good("b"))]")
        try await device.todos.pull(named: "all")
        text.value = #"[{"id":"a","version":7},{"id":"c","version":7}]"#
        try await device.todos.pull()
        func rows() async throws -> Set<RecordID?> { try await Set(device.context.quarantine().map(\.recordID)) }
        #expect(try await rows() == ["a", "c"])
        try await device.todos.purge(TableQuery("todos", filter: try QueryExpression(odata: "id eq 'b'")))
        #expect(try await rows() == ["a", "c"])
        try await device.todos.purge(TableQuery("todos", filter: try QueryExpression(odata: "id eq 'a'")))
        #expect(try await rows() == ["c"])
        try await device.todos.purge()
        #expect(try await rows() == [])
    }
}

final class Changeable<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// A store that refuses one record as such.
private struct PickyStore: LocalStore {
    let inner: any LocalStore

    init(_ inner: any LocalStore) { self.inner = inner }

    func define(_ tables: [TableSchema]) async throws { try await inner.define(tables) }
    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try await inner.read(body)
    }
    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        try await inner.write { try body(Writer(inner: $0)) }
    }
    func close() async throws {}

    private struct Writer: StoreWriter {
        let inner: any StoreWriter
        func record(_ id: RecordID, in table: String) throws -> JSON? { try inner.record(id, in: table) }
        func records(matching query: TableQuery) throws -> [JSON] { try inner.records(matching: query) }
        func count(matching query: TableQuery) throws -> Int { try inner.count(matching: query) }
        func tables() throws -> [TableSchema] { try inner.tables() }
        func redeclare(_ table: TableSchema) throws { try inner.redeclare(table) }
        func drop(_ table: String) throws { try inner.drop(table) }
        func put(_ record: JSON, in table: String) throws {
            if table == "todos", record["n"] == 3 { throw SluiceError(.invalidRecord, "no threes here") }
            try inner.put(record, in: table)
        }
        func delete(_ ids: [RecordID], from table: String) throws { try inner.delete(ids, from: table) }
        func delete(matching query: TableQuery) throws -> Int { try inner.delete(matching: query) }
    }
}
