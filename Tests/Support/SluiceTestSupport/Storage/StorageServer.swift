internal import HTTPTypes
internal import SluiceCore
internal import SluiceTesting
internal import Synchronization

/// The server of a trial: it loses one answer, and remembers every state that its rows have had.
final class StorageServer: Transport {
    let model = ModelServer(pageSize: 3)
    private let states = Mutex<[RecordID: Set<JSON>]>([:])
    private let ids = Atomic(0)

    init() {
        model.seed("todos", (0..<6).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        look()
    }

    /// A new id, for the whole trial.
    func makeID() -> String { "id-\(ids.add(1, ordering: .relaxed).newValue)" }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        look()
        defer { look() }
        return try await model.send(request)
    }

    private func look() {
        let rows = model.rows("todos")
        states.withLock { states in
            for (id, row) in rows { states[id, default: []].insert(Self.plain(row)) }
        }
    }

    /// Whether the row was ever like this, besides what the server sets.
    func hasHad(_ record: JSON, _ id: RecordID) -> Bool {
        look()
        return states.withLock { $0[id]?.contains(Self.plain(record)) ?? false }
    }

    /// The live rows without what the server sets.
    var live: Set<JSON> {
        Set(model.rows("todos").values.filter { $0["deleted"] != true }.map(Self.plain))
    }

    static func plain(_ record: JSON) -> JSON {
        RecordRules.withoutSystemColumns(record, ["version", "createdAt", "updatedAt", "deleted"])
    }
}
