import SluiceCore
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Servers that differ in what a pull can follow.
enum ServerKind: String, CaseIterable, Sendable {
    /// Issues change tokens and digests.
    case tokens
    /// Sorts by time, and rows of one time by id.
    case sorted
    /// Sorts by time, and rows of one time in an order of its own.
    case loose
    /// Does not look at the order that is asked for.
    case unsorted

    /// Those that sort. Of one that does not it is noticed where a page shows it.
    static let sorting: [ServerKind] = [.tokens, .sorted, .loose]

    func make(pageSize: Int) -> ModelServer {
        let server = ModelServer(pageSize: pageSize)
        var traits = ModelServer.Traits()
        traits.issuesChangeTokens = self == .tokens
        traits.givesDigests = self == .tokens
        traits.sortsTiesByID = self != .loose
        traits.sorts = self != .unsorted
        server.set(traits)
        return server
    }
}

/// A store that cannot write one record.
final class FailingStore: LocalStore {
    private let inner: any LocalStore
    private let unwritable = Mutex<String?>(nil)

    init(_ inner: any LocalStore) { self.inner = inner }

    func failsToWrite(_ id: String?) { unwritable.withLock { $0 = id } }

    func define(_ tables: [TableSchema]) async throws { try await inner.define(tables) }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try await inner.read(body)
    }

    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        let id = unwritable.withLock { $0 }
        return try await inner.write { try body(Writer(inner: $0, unwritable: id)) }
    }

    func close() async throws {}

    private struct Writer: StoreWriter {
        let inner: any StoreWriter
        let unwritable: String?

        func record(_ id: RecordID, in table: String) throws -> JSON? { try inner.record(id, in: table) }
        func records(matching query: TableQuery) throws -> [JSON] { try inner.records(matching: query) }
        func count(matching query: TableQuery) throws -> Int { try inner.count(matching: query) }
        func tables() throws -> [TableSchema] { try inner.tables() }
        func redeclare(_ table: TableSchema) throws { try inner.redeclare(table) }
        func drop(_ table: String) throws { try inner.drop(table) }
        func put(_ record: JSON, in table: String) throws {
            if let unwritable, record["id"]?.string == unwritable {
                throw SluiceError(.storeFull, "there is no room")
            }
            try inner.put(record, in: table)
        }
        func delete(_ ids: [RecordID], from table: String) throws { try inner.delete(ids, from: table) }
        func delete(matching query: TableQuery) throws -> Int { try inner.delete(matching: query) }
    }
}

/// A transport whose first answer waits for something, once the server has given it.
final class SlowTransport: Transport {
    private let inner: ModelServer
    private let body = Mutex<(@Sendable () async -> Void)?>(nil)

    init(_ inner: ModelServer) { self.inner = inner }

    func afterFirstAnswer(_ body: @escaping @Sendable () async -> Void) { self.body.withLock { $0 = body } }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let response = try await inner.send(request)
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        await body?()
        return response
    }
}
