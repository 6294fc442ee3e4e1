import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("The oracle sees the invariants broken that no deliberate fault of the engine breaks")
struct OracleTests {
    private static let columns = PushColumns(SystemColumns())
    private static let item = RecordKey(table: "items", id: "1")

    private var oracle = OracleState(devices: 1, columns: columns, hasFilters: false)

    // MARK: - Told of what an engine would have done

    @Test("I6: a cursor that goes back")
    mutating func cursor() {
        store("2026-01-01T00:00:02Z")
        store("2026-01-01T00:00:03Z")
        #expect(oracle.violation == nil)
        store("2026-01-01T00:00:01Z")
        #expect(oracle.violation?.invariant == .cursorForward)
    }

    @Test("I6: a cursor may go back with the server's clock, and for another query")
    mutating func cursorAllowed() {
        store("2026-01-01T00:00:02Z")
        store("2026-01-01T00:00:01Z", query: "a gt 1")
        oracle.clockSteps += 1
        store("2026-01-01T00:00:00Z", query: "a gt 1")
        #expect(oracle.violation == nil)
    }

    @Test("I9: a change that brings back what was deleted, and is no insert or undelete")
    mutating func deleted() {
        let gone = changed(to: row(1) { $0.isDeleted = true })
        let call = ModelCall(request(.patch, "/tables/items/1", ["a": 1]))
        oracle.effect(change(call, user: 0), before: gone, after: row(2))
        #expect(oracle.violation?.invariant == .deletedStaysDeleted)
    }

    @Test("I9: an undelete brings it back")
    mutating func undeleted() {
        let gone = changed(to: row(1) { $0.isDeleted = true })
        oracle.effect(
            change(ModelCall(request(.post, "/tables/items/1", [:])), user: 0), before: gone, after: row(2))
        #expect(oracle.violation == nil)
    }

    @Test("I11: a row whose version goes back")
    mutating func session() {
        let first = changed(to: row(1))
        let second = changed(to: row(2), from: first)
        take(second)
        #expect(oracle.violation == nil)
        take(first)
        #expect(oracle.violation?.invariant == .session)
    }

    @Test("I11: a row's version may go back with the server's, where a backup takes its place")
    mutating func restored() {
        let first = changed(to: row(1))
        take(changed(to: row(2), from: first))
        oracle.restored(["items": ["1": first]], at: 2)
        take(first)
        #expect(oracle.violation == nil)
    }

    @Test("I1: a value that was to go on in another queue, and is in none")
    func transfer() {
        var oracle = OracleState(devices: 2, columns: Self.columns, hasFilters: false)
        oracle.note(SimulatedEdit(key: Self.item, kind: .insert, fields: ["a": 7]), takesBack: false, on: 0)
        oracle.moves(["0.1"], of: Self.item, from: 0, to: 1)
        oracle.moved(Self.item, from: 0, to: 1)
        #expect(oracle.violation?.invariant == .noLostWrite)
    }

    @Test(
        "I1: an edit that a decision without a record for its content has ended",
        arguments: [JSON.null, [], ["id": "2"]])
    func decidedByNothing(_ nothing: JSON) {
        var oracle = OracleState(devices: 1, columns: Self.columns, hasFilters: false)
        oracle.note(SimulatedEdit(key: Self.item, kind: .update, fields: ["a": 7]), takesBack: false, on: 0)
        oracle.decided("0.1", of: Self.item, ["id": "1", "a": 7], .merge(nothing), on: 0)
        oracle.checkClaims(of: Self.item, on: 0)
        #expect(oracle.violation?.invariant == .noLostWrite)
    }

    @Test("I1: an edit whose deletion was taken back, and that is nowhere", arguments: [false, true])
    mutating func reconsidered(_ isTakenBack: Bool) {
        _ = changed(to: row(1))
        oracle.committed(SimulatedTransaction([operation]), on: 0)
        oracle.note(SimulatedEdit(key: Self.item, kind: .update, fields: ["a": 7]), takesBack: false, on: 0)
        oracle.note(SimulatedEdit(key: Self.item, kind: .delete, fields: [:]), takesBack: false, on: 0)
        if isTakenBack {
            oracle.note(SimulatedEdit(key: Self.item, kind: .undelete, fields: [:]), takesBack: false, on: 0)
        }
        oracle.checkClaims(of: Self.item, on: 0)
        #expect(oracle.violation?.invariant == (isTakenBack ? .noLostWrite : nil))
    }

    @Test("I4: an update that writes what a hook made of a property")
    func tidied() {
        var oracle = OracleState(devices: 1, columns: Self.columns, hasFilters: false, tidiesPages: true)
        var update = request(.patch, "/tables/items/1", ["a": 1, "b": -7])
        update.head.headerFields[.ifMatch] = "\"v1\""
        let before = row(1) { $0.fields["b"] = 7 }
        oracle.effect(change(ModelCall(update), user: 0), before: before, after: row(2) { $0.fields["b"] = -7 })
        #expect(oracle.violation?.invariant == .noStaleOverwrite)
    }

    @Test("I7: a conflict that doubts what every answer has proved", arguments: [false, true])
    mutating func proved(_ isProved: Bool) throws {
        oracle.committed(SimulatedTransaction([operation]), on: 0)
        oracle.sent("0.1-1", "POST", by: 0)
        if isProved { oracle.refused("0.1-1", by: 0) }
        let waiting = TableOperation(
            id: "0.1", sequence: 1, table: "items", recordID: "1", kind: .insert, createdAt: Timestamp(ticks: 0))
        oracle.met(
            Conflict(
                operation: waiting, client: ["id": "1"], server: nil, base: nil, maybeApplied: true, status: 409,
                isDeletedOnServer: true), on: 0)
        #expect(oracle.violation?.invariant == (isProved ? .atomicity : nil))
    }

    @Test("I12: an operation that is sent for another user")
    mutating func users() {
        oracle.committed(SimulatedTransaction([operation]), on: 0)
        #expect(oracle.violation == nil)
        let call = ModelCall(request(.post, "/tables/items", ["id": "1"]))
        oracle.effect(change(call, user: 1), before: nil, after: row(1))
        #expect(oracle.violation?.invariant == .userIsolation)
    }

    @Test("I12: a value that another user wrote")
    mutating func values() {
        let value = FieldValue(key: Self.item, field: "a", value: 7)
        oracle.offer(value, on: 0)
        let call = ModelCall(request(.post, "/tables/items", ["id": "1", "a": 7]))
        oracle.effect(change(call, user: 1), before: nil, after: row(1) { $0.fields["a"] = 7 })
        #expect(oracle.violation?.invariant == .userIsolation)
    }

    private mutating func store(_ cursor: String, query: String = "") {
        let record: JSON = ["id": "c", "query": JSON(query), "updatedAt": JSON(cursor)]
        oracle.committed(
            SimulatedTransaction([SluiceTesting.StoreChange(table: Cursor.schema.name, id: "c", record: record)]), on: 0
        )
    }

    private mutating func take(_ row: SimulatedRow) {
        oracle.committed(
            SimulatedTransaction([SluiceTesting.StoreChange(table: "items", id: "1", record: row.wire)]), on: 0)
    }

    /// A change by another client.
    private mutating func changed(to row: SimulatedRow, from before: SimulatedRow? = nil) -> SimulatedRow {
        oracle.effect(SimulatedChange(table: "items", id: "1"), before: before, after: row)
        return row
    }

    private func row(_ version: Int, _ edit: (inout SimulatedRow) -> Void = { _ in }) -> SimulatedRow {
        let time = Timestamp("2026-01-01T00:00:00Z") ?? Timestamp(ticks: 0)
        var row = SimulatedRow(id: "1", createdAt: time)
        row.version = version
        edit(&row)
        row.finish(.azureV2, SimulationSetting())
        return row
    }

    private var operation: SluiceTesting.StoreChange {
        SluiceTesting.StoreChange(
            table: TableOperation.schema.name, id: "0.1",
            record: [
                "id": "0.1", "table": "items", "record": "1", "kind": "insert", "state": "inFlight", "sequence": 1,
            ])
    }

    private func change(_ call: ModelCall, user: Int) -> SimulatedChange {
        SimulatedChange(call: call, table: "items", device: 0, user: user, requestID: "0.1-1")
    }

    private func request(_ method: HTTPRequest.Method, _ path: String, _ body: JSON) -> SyncRequest {
        SyncRequest(
            HTTPRequest(method: method, scheme: "http", authority: "server", path: path), body: MessageBody(json: body),
            context: SyncRequest.Context())
    }

    // MARK: - Played

    @Test("I13: a token in a request's address")
    func secrets() {
        #expect(breaks(.secrets, SimulationConfiguration(devices: 1...1, faults: [], filters: [Telling()])))
    }

    @Test(
        "I13: a token in an error, and in what the store says of an operation",
        arguments: [HTTPRequest.Method.get, .post])
    func secretsInErrors(_ method: HTTPRequest.Method) {
        let configuration = SimulationConfiguration(devices: 1...1, faults: [], filters: [Telling(refusing: method)])
        #expect(breaks(.secrets, configuration))
    }

    @Test("I14: a store that keeps what belongs to records that are settled")
    func bounded() {
        let stores = SimulatedStores("hoarder") { TamperedStore(keeps: RecordState.schema.name) }
        #expect(breaks(.bounded, SimulationConfiguration(devices: 1...1, stores: [stores], faults: [])))
    }

    @Test("E1: an error that nothing documents")
    func documentedErrors() {
        let stores = SimulatedStores("odd") { TamperedStore(failsAt: 30) }
        #expect(breaks(.documentedErrors, SimulationConfiguration(devices: 1...1, stores: [stores], faults: [])))
    }

    @Test("L5: more requests than there is reason for")
    func effort() {
        let configuration = SimulationConfiguration(devices: 1...1, faults: [], filters: [Insisting()])
        #expect(breaks(.effort, configuration))
    }

    /// Whether one of the first seeds finds that invariant broken.
    private func breaks(_ invariant: SimulationInvariant, _ configuration: SimulationConfiguration) -> Bool {
        let simulation = Simulation(configuration)
        return (1...60 as ClosedRange<UInt64>).contains {
            simulation.play(simulation.story(of: $0)).violation?.invariant == invariant
        }
    }

    /// Says to everyone by which token it asks.
    private struct Telling: RequestFilter {
        /// The requests that it tells it by an error of; nil tells it by the address. The application sees the errors
        /// of its pulls, and the store keeps those of operations.
        var refusing: HTTPRequest.Method?

        func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
            guard let name = HTTPField.Name("X-ZUMO-AUTH"), let token = request.head.headerFields[name] else {
                return try await next(request)
            }
            if let refusing {
                guard request.head.method == refusing else { return try await next(request) }
                // Less than all of it: of a whole one the client tells nothing.
                throw SluiceError(.rejected, "refused: \(token.prefix(7))", status: 400)
            }
            var request = request
            let path = request.head.path ?? ""
            request.head.path = path + (path.contains("?") ? "&" : "?") + "token=\(token)"
            return try await next(request)
        }
    }

    /// Sends every change seven times.
    private struct Insisting: RequestFilter {
        func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
            let response = try await next(request)
            guard request.head.method != .get else { return response }
            for _ in 0..<6 { _ = try await next(request) }
            return response
        }
    }
}

/// A store in memory that does not do all that it is told.
private final class TamperedStore: LocalStore {
    private let inner = MemoryStore()
    private let kept: String?
    private let failing: Int
    private let writes = Mutex(0)

    struct Odd: Error {}

    /// - Parameters:
    ///   - table: the table of which it deletes nothing.
    ///   - failing: the write that it fails, from 1; 0 for none.
    init(keeps table: String? = nil, failsAt failing: Int = 0) {
        kept = table
        self.failing = failing
    }

    func define(_ tables: [TableSchema]) async throws { try await inner.define(tables) }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try await inner.read(body)
    }

    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        let number = writes.withLock { count in
            count += 1
            return count
        }
        if number == failing { throw Odd() }
        return try await inner.write { [kept] in try body(Writer(inner: $0, kept: kept)) }
    }

    func close() async throws {}

    private struct Writer: StoreWriter {
        let inner: any StoreWriter
        let kept: String?

        func record(_ id: RecordID, in table: String) throws -> JSON? { try inner.record(id, in: table) }
        func records(matching query: TableQuery) throws -> [JSON] { try inner.records(matching: query) }
        func count(matching query: TableQuery) throws -> Int { try inner.count(matching: query) }
        func tables() throws -> [TableSchema] { try inner.tables() }
        func redeclare(_ table: TableSchema) throws { try inner.redeclare(table) }
        func drop(_ table: String) throws { try inner.drop(table) }
        func put(_ record: JSON, in table: String) throws { try inner.put(record, in: table) }
        func delete(_ ids: [RecordID], from table: String) throws {
            if table != kept { try inner.delete(ids, from: table) }
        }
        func delete(matching query: TableQuery) throws -> Int { try inner.delete(matching: query) }
    }
}
