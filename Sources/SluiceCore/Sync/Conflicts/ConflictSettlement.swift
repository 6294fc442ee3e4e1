/// Carries a conflict's decision out, inside one transaction.
///
/// The operation that met the conflict is over. What is still to be said to the server, its own change or edits made
/// while the decision was taken, is derived anew from what the application should see and what the server has.
struct ConflictSettlement {
    let operation: TableOperation
    let item: PushItem
    let conflict: Conflict
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter

    private var table: String { operation.table }
    private var id: String { operation.recordID }
    /// The server's record, if it has a live one.
    private var live: JSON? { conflict.isDeletedOnServer ? nil : conflict.server }

    func settle(_ decision: ConflictDecision) throws {
        let local = try store.record(id, in: table)
        let successors = try queue.reader.all(on: id, in: table).filter { $0.id != operation.id }
        let decided: JSON?
        switch decision {
        case .server, .discard:
            decided = live
            try queue.audit(
                operation, decision == .server ? "server wins" : "discard", local: item.local, at: environment.now())
        case .client: decided = item.local ?? (operation.kind == .undelete ? conflict.server : nil)
        case .merge(let record): decided = merged(record)
        case .delete: decided = nil
        case .defer, .ask, .abort, .next: return
        }
        for successor in successors { try queue.remove(successor) }
        try enqueue(successors.isEmpty ? decided : withLaterEdits(decided, local, behind: successors))
    }

    /// The handler's record with the id and the server's own properties as they are.
    private func merged(_ record: JSON) -> JSON {
        var merged = RecordRules.withoutSystemColumns(record, columns.system)
        merged[columns.id] = JSON(id)
        for name in columns.system { if let value = live?[name] { merged[name] = value } }
        return merged
    }

    /// The decided record with the edits on top that were made after the send.
    private func withLaterEdits(
        _ decided: JSON?, _ local: JSON?, behind successors: [TableOperation]
    ) -> JSON? {
        guard let local else { return nil }
        // An undelete behind a delete changed nothing of the record that the delete was made on.
        let isRestored = operation.kind == .delete && successors.first?.kind == .undelete
        guard let decided, let before = isRestored ? item.base : item.local else { return local }
        return Rebase.reapply(from: before, to: local, onto: decided, system: columns.system)
    }

    /// Makes `wanted` the local record and queues what takes the server there.
    private func enqueue(_ decided: JSON?) throws {
        var wanted = decided
        if live == nil { wanted?[columns.deleted] = nil }
        try queue.setLocal(wanted, id, in: table)
        switch (wanted, live, conflict.server) {
        case (nil, nil, _):
            try end()
        case (nil, let server?, _):
            try continueAs(.delete, base: server)
        case (let wanted?, let server?, _):
            if Rebase.changes(from: server, to: wanted, system: columns.system) == .object {
                try queue.setLocal(server, id, in: table)
                try end()
            } else {
                try continueAs(.update, base: server)
            }
        case (_?, nil, let tombstone?):
            try continueAs(.undelete, base: tombstone)
            try queue.put(
                TableOperation(
                    id: environment.makeID(), sequence: try queue.reader.nextSequence(), table: table, recordID: id,
                    kind: .update, createdAt: environment.now()))
        case (_?, nil, nil):
            try continueAs(.insert, base: nil)
        }
    }

    private func end() throws {
        try queue.remove(operation)
        try queue.removeState(of: id, in: table)
    }

    private func continueAs(_ kind: TableOperation.Kind, base: JSON?) throws {
        var next = operation
        next.kind = kind
        next.state = .pending
        next.revision += 1
        next.failure = nil
        next.sent = []
        // The server's record was seen: a send that still lingers somewhere has an older version, or none.
        next.isUncertain = false
        try queue.put(next)
        try queue.put(RecordState(table: table, recordID: id, base: base, mirror: live))
    }
}
