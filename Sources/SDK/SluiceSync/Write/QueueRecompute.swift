internal import SluiceBase

/// Recomputes the requests of the operations queued after one that completed or changed.
///
/// Each change is reapplied on top of the record that it now finds. The kind of its request depends on whether the
/// server will have the record by then. Changes that may merge become one.
struct QueueRecompute {
    /// An operation, and the record after it.
    struct Step {
        var operation: TableOperation
        var target: JSON?
        /// For a delete, the record made by the edit that it replaced.
        var folded: JSON?
        /// The record on which it was made, as far as known.
        var origin: JSON?
        /// The former values that a decision has changed: see ``TableOperation/overruled``. The operation is then sent even
        /// if the decided record has its values already.
        var overruled: JSON?
        /// Whether it restores a record of unknown content: the record has to be read first.
        var restoresUnknown = false
    }

    /// The record before the first step.
    enum Ground {
        /// The server's record: a live one, a tombstone, or none.
        case server(live: JSON?, tombstone: JSON?)
        /// The result of the operation before.
        case operation(result: JSON?)
    }

    let columns: PushColumns
    let environment: SyncEnvironment
    let queue: QueueWriter

    /// Reapplies the changes of `successors`, each on top of the record before it.
    ///
    /// - Parameters:
    ///   - before: the record on which the first of them was made; nil where it was deleted.
    ///   - target: the record that the first of them now finds.
    ///   - live: the server's record, where the first of them follows a waiting delete: an undelete restores this one,
    ///     not an older one.
    ///   - local: the record as the application sees it, after the last of them.
    func steps(
        of successors: [TableOperation], from before: JSON?, onto target: JSON?, live: JSON? = nil, local: JSON?,
        mirror: JSON?
    ) -> [Step] {
        var (before, target, restored, kept) = (before, target, before, target)
        return successors.enumerated().map { index, successor in
            let isLast = index == successors.count - 1
            let after = isLast ? local : successor.resultingRecord(local: local, mirror: mirror)
            // An undelete does not change the record on which the delete before it was made, or the newer one that it
            // brought back.
            let old = successor.kind == .undelete ? restored ?? after : before
            var result = after
            // An undelete restores the record that the delete before it removes. If that delete waits before the first step,
            // this is the server's record.
            if successor.kind == .undelete { target = target ?? kept ?? live }
            if let after, let old, let target {
                result = Rebase.reapply(from: old, to: after, onto: target, system: columns.system)
            } else if after == nil, successor.kind == .undelete {
                // The restored record was not known when the undelete was made.
                result = target
            }
            // For a delete, the edit that it replaced.
            var folded = successor.kind == .delete ? successor.frozen : nil
            if let edit = folded, let old, let target {
                folded = Rebase.reapply(from: old, to: edit, onto: target, system: columns.system)
            }
            (before, target, restored, kept) = (after, result, after ?? restored, result ?? kept)
            return Step(
                operation: successor, target: result, folded: folded, origin: old, overruled: successor.overruled)
        }
    }

    /// Writes the operations that take the ground to each step's target, and the record after the last.
    ///
    /// - Parameter ended: the operation that stood before them, if it may have been applied: its sends are evidence for
    ///   the first of them.
    /// - Parameter mirror: the server's record, if it is newer than the base of the operations.
    func write(
        _ steps: [Step], on ground: Ground, after ended: TableOperation? = nil, mirror: JSON?? = nil
    ) throws {
        guard let record = steps.first.map({ ($0.operation.table, $0.operation.recordID) }) else { return }
        let (table, id) = record
        // Read before anything is removed: a sequence number that a push has read is not used again.
        var next = try queue.reader.nextSequence()
        let merged = try merge(steps, on: ground.live)
        let state = try queue.reader.state(of: id, in: table)
        var written: [TableOperation] = []
        var found = ground.live
        for var step in merged {
            if ground.live == nil { step.target?[columns.deleted] = nil }
            let seen = [state?.base, state?.mirror, step.origin]
            step.target = step.target.map { columns.renewed($0, in: table, seen: seen, by: found) }
            let operations = try derive(step, finding: found, on: ground, after: ended, isFirst: written.isEmpty)
            if operations.isEmpty { try queue.remove(step.operation) }
            for var operation in operations {
                if operation.kind == .delete, step.operation.kind != .delete {
                    // To the end: deletes of dependent records must be sent first.
                    operation.sequence = next
                    next += 1
                }
                written.append(operation)
            }
            found = step.target
        }
        for step in steps where !merged.contains(where: { $0.operation.id == step.operation.id }) {
            try queue.remove(step.operation)
        }
        if let last = written.indices.last, written[last].kind != .delete { written[last].frozen = nil }
        putInOrder(&written, from: next)
        for operation in written { try queue.put(operation) }
        // Nothing is sent for a delete of a record that is gone, and others may have made it again since.
        if written.isEmpty, case .server(nil, let tombstone) = ground, (tombstone ?? state?.base) != nil,
            let delete = steps.last?.operation, delete.kind == .delete
        {
            try queue.audit(delete, AuditEntry.settled, local: nil, at: environment.now())
        }
        let isRestored = written.first?.kind == .undelete
        try settle(id, table, found, ground, mirror, sendsNothing: written.isEmpty, isRestored: isRestored)
    }

    /// Moves an inserted edit to the end of the queue, and later operations of the record after it.
    private func putInOrder(_ written: inout [TableOperation], from next: Int64) {
        var next = next
        var last: Int64?
        for index in written.indices {
            if let last, written[index].sequence <= last {
                written[index].sequence = next
                next += 1
            }
            last = written[index].sequence
        }
    }

    private func settle(
        _ id: RecordID, _ table: String, _ local: JSON?, _ ground: Ground, _ mirror: JSON??, sendsNothing: Bool,
        isRestored: Bool
    ) throws {
        guard case .server(let live, let tombstone) = ground else { return try queue.setLocal(local, id, in: table) }
        let newest = mirror ?? live
        if sendsNothing {
            try queue.setLocal(newest, id, in: table)
            try queue.removeState(of: id, in: table)
        } else {
            try queue.setLocal(local, id, in: table)
            // An undelete is based on the current tombstone.
            let base = isRestored && live != nil ? nil : live ?? tombstone
            try queue.put(RecordState(table: table, recordID: id, base: base, mirror: newest))
        }
    }

    private func merge(_ steps: [Step], on live: JSON?) throws -> [Step] {
        try steps.reduce(into: []) { merged, step in
            guard let last = merged.last, last.operation.mayTake(step.operation) else { return merged.append(step) }
            if step.target == nil, last.operation.kind.hasBody, let edit = last.target,
                Rebase.changes(from: live ?? .object, to: edit, system: columns.system) != .object
            {
                try queue.noteFolded(last.operation, making: edit, at: environment.now())
                merged[merged.count - 1].folded = edit
            }
            merged[merged.count - 1].target = step.target
            merged[merged.count - 1].overruled = TableOperation.overruled(last.overruled, then: step.overruled)
            merged[merged.count - 1].operation.tags.formUnion(step.operation.tags)
            merged[merged.count - 1].operation.headers = last.operation.headers.replacing(step.operation.headers)
        }
    }

    /// Returns the operations from the found record to the step's target: none, one, or an undelete and an update.
    private func derive(
        _ step: Step, finding found: JSON?, on ground: Ground, after ended: TableOperation?, isFirst: Bool
    ) throws -> [TableOperation] {
        var operation = step.operation
        operation.revise()
        (operation.frozen, operation.overruled) = (step.target, step.overruled)
        if isFirst, case .server = ground {
            // If no operation before it can have been applied, a delayed send carries an older version or none.
            operation.sent = ended?.sent ?? []
            operation.isUncertain = ended != nil
            if let ended {
                operation.attempts = max(operation.attempts, ended.attempts)
                operation.revision = max(operation.revision, ended.revision + 1)
            }
        }
        switch (found, step.target) {
        case (nil, nil):
            if step.restoresUnknown {
                operation.sent = []
                operation.isUncertain = false
                return [operation]
            }
            // The ended operation may have been applied after all, so the record has to be deleted.
            guard isFirst, ended != nil else { return [] }
            operation.kind = .delete
            operation.frozen = step.folded
        case (_?, nil):
            operation.kind = .delete
            operation.frozen = step.folded
        case (let found?, let target?):
            if step.overruled == nil, Rebase.changes(from: found, to: target, system: columns.system) == .object {
                guard isFirst, let ended else { return [] }
                // The ended operation may have been applied, so the target is sent even without a difference.
                if ended.kind == .delete, step.operation.kind == .undelete {
                    operation.sent = []
                    operation.isUncertain = false
                    return [operation]
                }
            }
            operation.kind = .update
        case (nil, _?):
            guard isFirst, case .server(nil, var restored?) = ground else {
                operation.kind = .insert
                break
            }
            restored[columns.deleted] = nil
            operation.kind = .undelete
            operation.frozen = restored
            var edit = TableOperation(
                id: environment.makeID(), sequence: operation.sequence, table: operation.table,
                recordID: operation.recordID, kind: .update, createdAt: environment.now())
            edit.tags = operation.tags
            edit.headers = operation.headers
            edit.user = operation.user
            edit.isMergeable = operation.isMergeable
            edit.frozen = step.target
            return [operation, edit]
        }
        return [operation]
    }
}

extension QueueRecompute.Ground {
    /// The live record, if there is one.
    fileprivate var live: JSON? {
        switch self {
        case .server(let live, _): live
        case .operation(let result): result
        }
    }
}
