internal import SluiceBase

/// Carries a conflict's decision out, inside one transaction.
///
/// The operation that met the conflict is over. What is still to be said to the server, its own change or edits made
/// while the decision was taken, is derived anew from what the application should see and what the server has: see
/// ``QueueRecompute``.
struct ConflictSettlement {
    let operation: TableOperation
    let item: PushItem
    let conflict: Conflict
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter

    private var table: String { operation.table }
    private var id: RecordID { operation.recordID }
    /// The server's record, if it has a live one.
    private var live: JSON? { conflict.isDeletedOnServer ? nil : conflict.server }

    func settle(_ decision: ConflictDecision) throws {
        let decided: JSON?
        let what: String
        switch decision {
        case .server: (decided, what) = (live, "server wins")
        case .discard: (decided, what) = (live, "discard")
        case .client:
            // An undelete restores what the server has.
            let restored = operation.kind == .undelete ? conflict.server : nil
            let spelled = RecordRules.spelled(item.local, like: live, system: columns.system)
            (decided, what) = (restored ?? withUnseen(spelled), "client wins")
        case .merge(let record):
            decided = RecordRules.spelled(
                RecordRules.record(record, withSystemColumns: columns.system, of: live, id: id), like: live,
                system: columns.system)
            what = "merge"
        case .delete: (decided, what) = (nil, "delete")
        case .defer, .ask, .abort, .next: return
        }
        if decision == .server || decision == .discard || item.witnesses != nil || !keepsChange(decided) {
            try queue.audit(operation, item.attributed(what), local: item.local, at: environment.now())
        }
        let recompute = QueueRecompute(columns: columns, environment: environment, queue: queue)
        let successors = try queue.reader.all(on: id, in: table).filter { $0.sequence > operation.sequence }
        let later = recompute.steps(
            of: successors, from: item.local, restored: item.base, onto: decided, live: live,
            local: try store.record(id, in: table), mirror: try queue.reader.state(of: id, in: table)?.mirror)
        try recompute.write(
            [.init(operation: operation, target: decided)] + later,
            on: .server(live: live, tombstone: live == nil ? conflict.server : nil))
        try settleGroup(decision)
    }

    /// The local record with the properties of the server's that the change was made without: who made it has neither set
    /// nor removed them.
    private func withUnseen(_ local: JSON?) -> JSON? {
        guard var record = local, let members = live?.members else { return local }
        for (name, value) in members where record[name] == nil && item.base?[name] == nil {
            if !columns.system.contains(name) { record[name] = value }
        }
        return record
    }

    /// Whether all that the operation changes is in the decided record.
    private func keepsChange(_ decided: JSON?) -> Bool {
        guard let local = item.local else { return true }
        guard let decided else { return false }
        let changes = Rebase.changes(from: item.base ?? .object, to: local, system: columns.system)
        return (changes.members ?? []).allSatisfy { (decided[$0.name] ?? .null) == $0.value }
    }

    /// A group goes whole or not at all: where its change of this record is given up, so are the others.
    private func settleGroup(_ decision: ConflictDecision) throws {
        guard let group = operation.group else { return }
        if decision == .server || decision == .discard {
            // What the server has stands, all of the group if it was done already.
            try Discard(
                columns: columns, environment: environment, store: store, queue: queue, lateRowsStay: true
            ).carryOut(groups: [group])
        } else {
            try queue.revive(group)
        }
    }
}
