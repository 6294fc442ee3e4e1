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
        let state = try queue.reader.state(of: id, in: table)
        let mirror = state?.mirror
        let successors = try queue.reader.all(on: id, in: table).filter { $0.sequence > operation.sequence }
        let ground =
            operation.overruled == nil ? base(of: successors, local: local, mirror: mirror) : state?.base
        let given = decided(decision)
        // A record with a value that was sent may be this operation's own, and later edits go on top of it.
        let mayBeOwn =
            conflict.maybeApplied
            && live.map { live in operation.sent.contains { item.mayHaveLeft(live, by: $0, columns) } }
                ?? false
        let overruled = mayBeOwn ? [] : overruled(successors, by: given, local: local, mirror: mirror)
        let isOverruled = overruled.contains { $0 != nil }
        let isContested =
            (givesUp || isSame(given, live)) && !mayBeOwn
            && ForeignChanges.contest(
                successors, after: operation, making: item.local, base: ground, server: live, local: local,
                columns: columns)
        let isMerging = successors.first.map(operation.mayTake) ?? false
        // Edits made during the request are decided together with it.
        let isFolded = isOverruled && !isContested && isMerging && !operation.isHeld
        let decided = isContested ? ground : isFolded ? item.local : given
        if givesUp || item.witnesses != nil || !isFolded && !keepsChange(given) {
            try queue.audit(operation, item.attributed(what), local: item.local, at: environment.now())
        }
        let recompute = QueueRecompute(columns: columns, environment: environment, queue: queue)
        let keepsBase = isContested || isFolded
        var steps = recompute.steps(
            of: successors, from: item.local, onto: decided, live: keepsBase ? ground : live, local: local,
            mirror: mirror)
        if !keepsBase {
            for (index, values) in overruled.enumerated() { steps[index].overruled = values }
        }
        var own = QueueRecompute.Step(
            operation: operation, target: decided, origin: columns.times(of: item.local, in: table))
        if isFolded { own.overruled = operation.overruled }
        try recompute.write(
            [own] + steps,
            on: keepsBase
                ? .server(live: ground, tombstone: nil)
                : .server(live: live, tombstone: live == nil ? conflict.server : nil),
            mirror: keepsBase ? .some(live) : nil)
        try settleGroup(decision)
    }

    /// Returns the server's record on which the operations after this one stand: the base of the change, or the newer
    /// record that an undelete brought back after a delete.
    private func base(of successors: [TableOperation], local: JSON?, mirror: JSON?) -> JSON? {
        guard operation.kind == .delete, let next = successors.first, next.kind == .undelete else { return item.base }
        return (successors.count == 1 ? local : next.resultingRecord(local: local, mirror: mirror)) ?? item.base
    }

    /// Returns for each later edit the former values of the properties that both the edit and the decision set; nil where
    /// there are none. Only values count that the decision takes from the server's change alone, or that a handler has
    /// added up: the edit was made before they were known here.
    private func overruled(_ later: [TableOperation], by decided: JSON?, local: JSON?, mirror: JSON?) -> [JSON?] {
        guard operation.kind.hasBody, live != nil, let decided, var found = item.local, let local,
            later.allSatisfy({ $0.kind == .update })
        else { return later.map { _ in nil } }
        let theirs = Rebase.changes(from: item.base ?? .object, to: live ?? .object, system: columns.system).names
        let ours = Rebase.changes(from: item.base ?? .object, to: found, system: columns.system).names
        let unseen = conflict.addsUp ? nil : Set(theirs).subtracting(ours)
        var settled: Set<PropertyName> = columns.system
        return later.enumerated().map { index, edit in
            let base = edit.base(on: found) ?? found
            found = (index == later.count - 1 ? local : edit.resultingRecord(local: local, mirror: mirror)) ?? found
            let edits = Rebase.changes(from: base, to: found, system: settled)
            var names = Set(edits.names).intersection(Rebase.changes(from: base, to: decided, system: settled).names)
            if let unseen { names.formIntersection(unseen) }
            settled.formUnion(edits.names)
            guard !names.isEmpty else { return nil }
            // The server refuses a version that is older than its record after this operation.
            let version = item.base?[columns.version] ?? live?[columns.version] ?? .null
            return JSON(members: names.sorted().map { ($0, base[$0] ?? .null) } + [(columns.version, version)])
        }
    }

    /// Whether the decided record is the server's.
    private func isSame(_ decided: JSON?, _ live: JSON?) -> Bool {
        guard let decided, let live else { return false }
        return Rebase.changes(from: live, to: decided, system: columns.system) == .object
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
