internal import SluiceBase

/// Carries out a conflict's decision, inside one transaction.
///
/// The operation that met the conflict ends. The remaining requests, for its own change or for edits made during the
/// decision, are recomputed from the decided record and the server's record: see ``QueueRecompute``.
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
        let what: String
        switch decision {
        case .server: what = "server wins"
        case .discard: what = "discard"
        case .client: what = "client wins"
        case .merge, .replace: what = "merge"
        case .delete: what = "delete"
        case .defer, .ask, .abort, .next: return
        }
        let givesUp = decision == .server || decision == .discard
        let local = try store.record(id, in: table)
        let successors = try queue.reader.all(on: id, in: table).filter { $0.sequence > operation.sequence }
        // A record with a value that was sent may be this operation's own, and later edits go on top of it.
        let mayBeOwn = live.map { live in operation.sent.contains { item.mayHaveLeft(live, by: $0, columns) } } ?? false
        let isContested =
            givesUp && !(conflict.maybeApplied && mayBeOwn)
            && ForeignChanges.contest(
                successors, after: operation, making: item.local, base: item.base, server: live, local: local,
                columns: columns)
        let decided = isContested ? item.base : decided(decision)
        if givesUp || item.witnesses != nil || !keepsChange(decided) {
            try queue.audit(operation, item.attributed(what), local: item.local, at: environment.now())
        }
        let recompute = QueueRecompute(columns: columns, environment: environment, queue: queue)
        let later = recompute.steps(
            of: successors, from: item.local, restored: item.base, onto: decided, live: isContested ? item.base : live,
            local: local, mirror: try queue.reader.state(of: id, in: table)?.mirror)
        try recompute.write(
            [.init(operation: operation, target: decided)] + later,
            on: isContested
                ? .server(live: item.base, tombstone: nil)
                : .server(live: live, tombstone: live == nil ? conflict.server : nil),
            mirror: isContested ? .some(live) : nil)
        try settleGroup(decision)
    }

    /// Returns the record for the application.
    private func decided(_ decision: ConflictDecision) -> JSON? {
        switch decision {
        case .server, .discard: return live
        case .client where live == nil:
            // An undelete restores the server's record.
            return operation.kind == .undelete ? conflict.server ?? item.local : restored
        default: break
        }
        guard let record = decision.record(in: conflict) else { return nil }
        return RecordRules.spelled(
            RecordRules.record(record, withSystemColumns: columns.system, of: live, id: id), like: live,
            system: columns.system)
    }

    /// The record after the change, with unchanged properties taken from the server's tombstone.
    private var restored: JSON? {
        guard var record = item.local, let base = item.base else { return item.local }
        for (name, value) in conflict.server?.members ?? []
        where name != columns.id && !columns.system.contains(name) && !value.isNull
            && (record[name] ?? .null) == (base[name] ?? .null)
        {
            record[name] = value
        }
        return record
    }

    /// Whether the decided record has all of the operation's changes.
    private func keepsChange(_ decided: JSON?) -> Bool {
        guard let local = item.local else { return true }
        guard let decided else { return false }
        let changes = Rebase.changes(from: item.base ?? .object, to: local, system: columns.system)
        return (changes.members ?? []).allSatisfy { (decided[$0.name] ?? .null) == $0.value }
    }

    /// Settles the operation's group, which is sent whole or not at all: if this change is given up, so are the others.
    private func settleGroup(_ decision: ConflictDecision) throws {
        guard let group = operation.group else { return }
        if decision == .server || decision == .discard {
            // The server's records stand, including the whole group if it was applied already.
            try Discard(
                columns: columns, environment: environment, store: store, queue: queue, lateRowsStay: true
            ).carryOut(groups: [group])
        } else {
            try queue.revive(group)
        }
    }
}
