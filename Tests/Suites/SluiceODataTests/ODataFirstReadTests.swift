import HTTPTypes
import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceOData
@testable import SluiceSync

/// A service with three rows, on pages of one row, whose delta link is on the last page, as services write it.
private final class LateLinkService: Transport {
    private struct State {
        var rows = ["a": "one", "b": "one", "c": "one"]
        /// The step that is done once the page after that row is asked for.
        var change: (after: String, body: @Sendable (inout [String: String]) -> Void)?
        /// A tombstone that stands on the last page.
        var tombstone: String?
        var snapshots: [[String: String]] = []
        /// Rows that the next changes say to be gone, though they exist: they have left the query's filter.
        var left: [String] = []
    }
    private let state = Mutex(State())
    let version: ODataVersion

    init(_ version: ODataVersion) { self.version = version }

    var rows: [String: String] { state.withLock { $0.rows } }

    func change(after id: String, _ body: @escaping @Sendable (inout [String: String]) -> Void) {
        state.withLock { $0.change = (id, body) }
    }

    func leaves(_ id: String) { state.withLock { $0.left = [id] } }

    func buries(_ id: String) { state.withLock { $0.tombstone = id } }

    private func item(_ id: String, _ text: String) -> JSON {
        version == .v4
            ? ["@odata.etag": JSON("W/\"\(text)\""), "Number": JSON(id), "text": JSON(text)]
            : [
                "__metadata": ["uri": JSON("http://h/Orders('\(id)')"), "etag": JSON("W/\"\(text)\"")],
                "Number": JSON(id), "text": JSON(text),
            ]
    }

    private func gone(_ id: String) -> JSON {
        version == .v4
            ? ["@removed": ["reason": "deleted"], "Number": JSON(id)]
            : ["__metadata": ["uri": JSON("http://h/Orders('\(id)')"), "deleted": true]]
    }

    private func answer(_ items: [JSON], next: String? = nil, delta: String? = nil) -> SyncResponse {
        var body: JSON = [version == .v4 ? "value" : "results": JSON(items)]
        if let next { body[version == .v4 ? "@odata.nextLink" : "__next"] = JSON(next) }
        if let delta { body[version == .v4 ? "@odata.deltaLink" : "__delta"] = JSON(delta) }
        var response = ODataTransport.response(200, version == .v4 ? body : ["d": body])
        response.head.headerFields[.init("Preference-Applied")!] = "odata.track-changes"
        return response
    }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let path = PercentEncoding.decoded(request.head.path ?? "")
        return state.withLock { state in
            if let row = path.split(separator: "'").dropFirst().first.map(String.init), path.contains("Orders('") {
                return state.rows[row].map { text in
                    ODataTransport.response(200, version == .v4 ? item(row, text) : ["d": item(row, text)])
                } ?? ODataTransport.refusal(404, "no such row")
            }
            if let text = path.split(separator: "token=delta").dropFirst().first, let index = Int(text) {
                let before = state.snapshots[index]
                state.snapshots.append(state.rows)
                let changed = state.rows.filter { before[$0.key] != $0.value }.sorted { $0.key < $1.key }
                let lost = before.keys.filter { state.rows[$0] == nil }
                let gone = lost + state.left
                state.left = []
                return answer(
                    changed.map { item($0.key, $0.value) } + gone.map(self.gone),
                    delta: "Orders?$token=delta\(state.snapshots.count - 1)")
            }
            let isTracked = request.head.headerFields[.init("Prefer")!]?.contains("track-changes") ?? false
            let isPage = path.contains("token=after")
            guard isTracked || isPage else {
                return answer(state.rows.sorted { $0.key < $1.key }.map { item($0.key, $0.value) })
            }
            let after = isPage ? String(path.split(separator: "token=after").last ?? "") : ""
            if let change = state.change, change.after == after {
                change.body(&state.rows)
                state.change = nil
            }
            guard let next = ["a", "b", "c"].first(where: { $0 > after }) else {
                state.snapshots.append(state.rows)
                return answer(
                    state.tombstone.map { [gone($0)] } ?? [], delta: "Orders?$token=delta\(state.snapshots.count - 1)")
            }
            return answer(
                state.rows[next].map { [item(next, $0)] } ?? [],
                next: "?$token=after\(next)")
        }
    }
}

@Suite("OData: a first read of several pages")
struct ODataFirstReadTests {
    private func context(
        _ service: LateLinkService, now: @escaping @Sendable () -> Timestamp = SyncEnvironment.system.now
    ) async throws -> SyncContext {
        let client = SluiceClient(
            endpoint: try Endpoint(ODataFixture.base),
            dialect: .odata(service.version, ODataSettings(tables: ["Orders": ODataFixture.orders])),
            transport: service, options: ClientOptions(retry: .never))
        var options = SyncOptions()
        options.environment.now = now
        return try await SyncContext(client: client, store: MemoryStore(), options: options)
    }

    private func texts(_ context: SyncContext) async throws -> [String: String] {
        let rows = try await context.table("Orders").records()
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"]?.string ?? "", $0["text"]?.string ?? "") })
    }

    @Test(
        "a row that has left one query's filter stays where another holds it: v2 gives no reason",
        arguments: [true, false])
    func leftFilter(_ isHeld: Bool) async throws {
        let service = LateLinkService(.v2)
        let context = try await context(service)
        if isHeld { try await context.pull(TableQuery("Orders"), named: "all") }
        let some = TableQuery("Orders", filter: try QueryExpression(odata: "text eq 'one'"))
        try await context.pull(some, named: "some")
        service.leaves("a")
        try await context.pull(some, named: "some")
        #expect(try await texts(context).keys.contains("a") == isHeld)
    }

    @Test(
        "what changes on pages that were read already comes, though the link of the last page leaves it out",
        arguments: [ODataVersion.v2, .v4])
    func changedMeanwhile(_ version: ODataVersion) async throws {
        let service = LateLinkService(version)
        service.change(after: "b") { rows in
            rows["a"] = "two"
            rows["b"] = nil
        }
        let start = SyncEnvironment.system.now()
        let passed = Atomic<Int64>(0)
        let context = try await context(service) {
            Timestamp(ticks: start.ticks + passed.load(ordering: .relaxed) * Timestamp.ticksPerSecond)
        }
        let result = try await context.pull(TableQuery("Orders"), named: "all")
        #expect(result.grade == .changeTokens && result.reconcile != nil)
        #expect(try await texts(context) == service.rows)
        // A copy that lags may have answered the comparison, too: another one follows when none can, and no other.
        for isCompared in [false, true, false] {
            let result = try await context.pull(TableQuery("Orders"), named: "all")
            #expect((result.reconcile != nil) == isCompared)
            passed.add(30, ordering: .relaxed)
        }
    }

    @Test("a tombstone on one of its pages is no row", arguments: [ODataVersion.v2, .v4])
    func tombstone(_ version: ODataVersion) async throws {
        let service = LateLinkService(version)
        service.buries("z")
        let context = try await context(service)
        let result = try await context.pull(TableQuery("Orders"), named: "all")
        #expect(result.quarantined == 0)
        #expect(try await texts(context) == service.rows)
    }

    @Test("neither is one in a list or in a lookup by rows")
    func listed() async throws {
        let fixture = try ODataFixture(
            .v4, nil,
            [.json(200, #"{"value":[{"Number":"1"},{"@removed":{"reason":"deleted"},"Number":"2"}]}"#)])
        #expect(try await fixture.orders.read(TableQuery("Orders")).rows.count == 1)
    }

    @Test(
        "an error beside the rows of an answer, or the properties of a row, is an error",
        arguments: [
            (ODataVersion.v4, #"{"value":[{"Number":"1"}],"error":{"code":"500","message":"timed out"}}"#),
            (
                .v2,
                #"{"d":{"results":[{"Number":"1"}]},"error":{"code":"","message":{"lang":"en","value":"timed out"}}}"#
            ),
            (.v2, #"{"d":{"results":[],"error":{"message":"timed out"}}}"#),
        ])
    func besideRows(_ version: ODataVersion, _ text: String) async throws {
        let list = try ODataFixture(version, nil, [.json(200, text)])
        let error = await #expect(throws: SluiceError.self) { try await list.orders.read(TableQuery("Orders")) }
        #expect(error?.code == .serverFailure && error?.message.contains("timed out") == true)
        let whole = text.replacing(#""value":[{"Number":"1"}]"#, with: #""Number":"1""#)
            .replacing(#"{"results":[{"Number":"1"}]}"#, with: #"{"Number":"1"}"#)
        guard whole != text else { return }
        let one = try ODataFixture(version, nil, [.json(200, whole)])
        let other = await #expect(throws: SluiceError.self) { try await one.orders.lookup(id: "1") }
        #expect(other?.code == .serverFailure && other?.message.contains("timed out") == true)
    }

    @Test(
        "a row that is not JSON is set aside, and the others come", arguments: [ODataVersion.v2, .v4],
        [
            (#""text":"\ud83d""#, "Unicode"), (#""text":"\x41""#, "not escaped"), (#""amount":NaN"#, "NaN"),
            (#""text":"a","text":"b""#, "twice"),
        ])
    func notJSON(_ version: ODataVersion, _ member: (text: String, reason: String)) async throws {
        let rows = #"[{"Number":"1"},{"Number":"2",\#(member.text)},{"Number":"3","text":"\ud83d\ude00"}]"#
        let fixture = try ODataFixture(
            version, nil,
            Array(
                repeating: .json(200, version == .v4 ? #"{"value":\#(rows)}"# : #"{"d":{"results":\#(rows)}}"#),
                count: 9))
        let context = try await SyncContext(client: fixture.client, store: MemoryStore())
        let result = try await context.pull(TableQuery("Orders", top: 3))
        #expect(result.stored == 2 && result.quarantined == 1, "\(result)")
        let aside = try await context.quarantine(table: "Orders")
        #expect(aside.map(\.recordID) == ["2"] && aside.first?.reason.contains(member.reason) == true, "\(aside)")
    }
}
