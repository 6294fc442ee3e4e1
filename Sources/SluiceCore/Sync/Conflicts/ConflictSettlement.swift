/// Carries a conflict's decision out, inside one transaction.
///
/// The operation that met the conflict is over. What is still to be said to the server, its own change or edits made
/// while the decision was taken, is derived anew from what the application should see and what the server has: see
/// ``Succession``.
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
        let decided: JSON?
        switch decision {
        case .server, .discard:
            decided = live
            try queue.audit(
                operation, decision == .server ? "server wins" : "discard", local: item.local, at: environment.now())
        case .client: decided = item.local ?? (operation.kind == .undelete ? conflict.server : nil)
        case .merge(let record):
            decided = RecordRules.record(record, withSystemColumns: columns.system, of: live, id: id)
        case .delete: decided = nil
        case .defer, .ask, .abort, .next: return
        }
        let succession = Succession(columns: columns, environment: environment, queue: queue)
        let successors = try queue.reader.all(on: id, in: table).filter { $0.sequence > operation.sequence }
        let later = succession.steps(
            of: successors, from: item.local, restored: item.base, onto: decided,
            local: try store.record(id, in: table), mirror: try queue.reader.state(of: id, in: table)?.mirror)
        try succession.write(
            [.init(operation: operation, target: decided)] + later,
            on: .server(live: live, tombstone: live == nil ? conflict.server : nil))
        try settleGroup(decision)
    }

    /// A group goes whole or not at all: where its change of this record is given up, so are the others.
    private func settleGroup(_ decision: ConflictDecision) throws {
        guard let group = operation.group else { return }
        if decision == .server || decision == .discard {
            try Discard(columns: columns, environment: environment, store: store, queue: queue)
                .carryOut(groups: [group])
        } else {
            try queue.revive(group)
        }
    }
}
