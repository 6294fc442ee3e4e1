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
        let mirror = try queue.reader.state(of: id, in: table)?.mirror
        let successors = try queue.reader.all(on: id, in: table).filter { $0.sequence > operation.sequence }
        let base = base(of: successors, local: local, mirror: mirror)
        // A record with a value that was sent may be this operation's own, and later edits go on top of it.
        let mayBeOwn = live.map { live in operation.sent.contains { item.mayHaveLeft(live, by: $0, columns) } } ?? false
        let isContested =
            givesUp && !(conflict.maybeApplied && mayBeOwn)
            && ForeignChanges.contest(
                successors, after: operation, making: item.local, base: base, server: live, local: local,
                columns: columns)
        let decided = isContested ? base : decided(decision)
        if givesUp || item.witnesses != nil || !keepsChange(decided) {
            try queue.audit(operation, item.attributed(what), local: item.local, at: environment.now())
        }
        let recompute = QueueRecompute(columns: columns, environment: environment, queue: queue)
        let later = recompute.steps(
            of: successors, from: item.local, onto: decided, live: isContested ? base : live, local: local,
            mirror: mirror)
        try recompute.write(
            [.init(operation: operation, target: decided, origin: columns.times(of: item.local, in: table))] + later,
            on: isContested
                ? .server(live: base, tombstone: nil)
                : .server(live: live, tombstone: live == nil ? conflict.server : nil),
            mirror: isContested ? .some(live) : nil)
        try settleGroup(decision)
    }

    /// Returns the server's record on which the operations after this one stand: the base of the change, or the newer
    /// record that an undelete brought back after a delete.
    private func base(of successors: [TableOperation], local: JSON?, mirror: JSON?) -> JSON? {
        guard operation.kind == .delete, let next = successors.first, next.kind == .undelete else { return item.base }
        return (successors.count == 1 ? local : next.resultingRecord(local: local, mirror: mirror)) ?? item.base
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

/// Decides a held conflict, inside one transaction.
struct HeldConflict {
    let operation: TableOperation
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter

    func settle(_ decision: ConflictDecision) throws {
        let (table, id) = (operation.table, operation.recordID)
        func refuse(_ code: SluiceError.Code, _ reason: String) -> SluiceError {
            SluiceError(code, reason, table: table, recordID: id, operationID: operation.id)
        }
        switch decision {
        case .server, .client, .delete, .discard, .merge, .replace: break
        case .defer, .ask, .abort, .next:
            throw refuse(.invalidArgument, "decide for server, client, a merged or another record, delete or discard")
        }
        guard operation.isHeldConflict, let failure = operation.failure else {
            throw refuse(.operationRefused, "the operation is no conflict that is held")
        }
        let state = try queue.reader.state(of: id, in: table)
        // A context without a client may not know the wire by which the record came.
        let shown = failure.serverRecord.flatMap { columns.isDeleted($0) || $0["__deleted"]?.bool == true ? nil : $0 }
        let version = { (record: JSON?) in record.map { $0[columns.version] ?? .null } }
        var mirror = state?.mirror
        if version(shown) != version(mirror) {
            // A list without versions may show the same row under another version than the refusal did. The server
            // understands the refusal's version as a condition.
            guard let shown, let listed = mirror,
                Rebase.changes(from: shown, to: listed, system: columns.system) == .object
            else {
                throw refuse(.operationRefused, "the server's record has changed since; retry to see the new one")
            }
            mirror = shown
        }
        let all = try queue.reader.all(on: id, in: table)
        if decision == .delete, let last = all.last, last.id != operation.id {
            // They would make the record again as it is seen here, with what this decision gives up.
            throw refuse(.operationRefused, "later changes of the record wait; discard those first")
        }
        let local = try store.record(id, in: table)
        let server = mirror ?? failure.serverRecord
        let changed = all.last?.id == operation.id ? local : operation.resultingRecord(local: local, mirror: mirror)
        let foreign = columns.foreign(in: state?.base ?? changed, local: changed, beside: server)
        let (client, base) = (changed?.without(foreign), state?.base?.without(foreign))
        let conflict = Conflict(
            operation: operation, client: client, server: server, base: base,
            maybeApplied: operation.isUncertain, status: failure.status ?? 0, isDeletedOnServer: mirror == nil)
        if let record = decision.given {
            try RecordRules.validate(whole: record, besides: [client, conflict.server], id: id, table: table)
        }
        let decision = decision.mapGiven { record in
            RecordRules.own(record, made: changed, seen: local) { name in
                changed?[name] == state?.base?[name] ? server?[name] : changed?[name]
            }
        }
        try ConflictSettlement(
            operation: operation, item: PushItem(operation: operation, local: client, base: base),
            conflict: conflict, columns: columns, environment: environment, store: store, queue: queue
        ).settle(decision)
    }
}
