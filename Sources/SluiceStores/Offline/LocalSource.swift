internal import SluiceBase
internal import SluiceSync

/// The local store as the source of a read.
struct LocalSource: RecordSource {
    let context: SyncContext
    private var store: any LocalStore { context.store }

    init(_ context: SyncContext) { self.context = context }

    func page(_ query: Query) async throws -> RecordPage {
        var query = query
        // Whole records: the selection is made of them afterwards.
        query.select = []
        let asked = query
        return try await store.read { reader in
            let records = asked.top == 0 ? [] : try reader.records(matching: asked)
            return RecordPage(records: records, count: asked.includesCount ? try reader.count(matching: asked) : nil)
        }
    }

    func record(_ id: RecordID, in table: String) async throws -> JSON? {
        try await store.read { try $0.record(id, in: table) }
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] {
        try await context.waiting(in: reference.table, with: id, in: reference.targetColumn)
    }

    func holds(_ id: RecordID, in table: String) async throws -> Bool { try await record(id, in: table) != nil }
    func page(_ options: ODataOptions, of table: String) async throws -> RecordPage? { nil }
}
