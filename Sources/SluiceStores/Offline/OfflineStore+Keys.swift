internal import SluiceBase
internal import SluiceSync

extension SyncContext {
    /// The records with waiting changes whose property holds an id.
    func waiting(in table: String, with id: RecordID, in column: PropertyName) async throws -> [RecordID] {
        let ids = Set(try await queue.operations(QueueFilter(table: table)).map(\.recordID))
        return try await store.read { store in
            try ids.sorted().filter { try store.record($0, in: table)?[column] == JSON(id.text) }
        }
    }
}

extension OfflineStore {
    /// Whether one of the changes refers to another by a key that the service has yet to assign: then they cannot be one
    /// request.
    func waitForKeys(_ changes: [DeepRecord.Change]) -> Bool {
        let references = context.options.assignedReferences
        guard !references.isEmpty else { return false }
        var made: Set<String> = []
        for case .insert(_, let table) in changes { made.insert(table) }
        return references.contains { reference in
            made.contains(reference.parent)
                && changes.contains { change in
                    switch change {
                    case .insert(_, let table), .update(_, let table): table == reference.child
                    }
                }
        }
    }

    /// The record with the keys that the service has assigned in the place of ids.
    static func resolved(
        _ record: JSON, in table: String, _ references: [AssignedReference], _ transaction: LocalTransaction
    ) throws -> JSON {
        var resolved = record
        for reference in references where reference.child == table {
            guard let id = record[reference.column]?.string,
                let parent = try transaction.lookup(id: id, in: reference.parent), let key = parent[reference.key],
                !key.isNull
            else { continue }
            resolved[reference.column] = key
        }
        return resolved
    }
}
