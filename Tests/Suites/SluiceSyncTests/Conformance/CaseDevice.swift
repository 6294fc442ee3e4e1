import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// A device as a row of the conformance cases needs one: any wire, any transport, a store in memory.
struct CaseDevice {
    let store: any LocalStore
    let context: SyncContext
    let table: SyncTable<JSON>

    init(
        dialect: String? = nil, transport: any Transport, filters: [any RequestFilter] = [], policy: String? = nil,
        pageSize: Int? = nil, retries: Int = 1, store: (any LocalStore)? = nil
    ) async throws {
        self.store = store ?? MemoryStore()
        var options = ClientOptions()
        options.retry = RetryPolicy(attempts: retries)
        options.environment.sleep = { _ in }
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), dialect: try Dialect(named: dialect ?? "azure-v2"),
            transport: transport,
            filters: filters, options: options)
        let defaults = SyncOptions()
        context = try await SyncContext(
            client: client, store: self.store,
            options: SyncOptions(
                conflictHandlers: policy.flatMap(Self.handler).map { [$0] } ?? [],
                conflictPolicy: policy.flatMap(ConflictPolicy.init) ?? .hold, pageSize: pageSize ?? defaults.pageSize,
                commitLag: .zero))
        table = try context.table("todos")
    }

    /// A decision as a text: `merge {…}`, `discard`, `delete`, `defer`, `abort`.
    private static func handler(_ policy: String) -> (any ConflictHandler)? {
        if policy.hasPrefix("merge "), let record = try? JSON(parsing: Array(policy.dropFirst(6).utf8)) {
            return ConflictClosure { _ in .merge(record) }
        }
        let decisions: [String: ConflictDecision] = [
            "discard": .discard, "delete": .delete, "defer": .defer, "abort": .abort,
        ]
        return decisions[policy].map { decision in ConflictClosure { _ in decision } }
    }

    /// Puts records into the store as if they had come from the server.
    func settle(_ records: [JSON]) async throws {
        let name = table.name
        try await store.write { writer in for record in records { try writer.put(record, in: name) } }
    }

    /// The ids in the store, in order.
    func ids() async throws -> [String] { try await table.records().compactMap { $0["id"]?.string } }

    func operations() async throws -> [TableOperation] { try await context.queue.operations() }
}
