internal import SluiceBase

/// Gives an operation a new body, inside one transaction; later changes of the record stay on top of it.
struct OperationEdit {
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter

    func carryOut(_ operation: TableOperation, _ record: JSON) throws {
        let (table, id) = (operation.table, operation.recordID)
        guard operation.state != .inFlight else { throw operation.unknownOutcome("the operation is on its way") }
        guard operation.kind.hasBody else {
            throw SluiceError(
                .operationRefused, "\(operation.kind.rawValue) has no body; discard it, or change its kind",
                table: table, recordID: id, operationID: operation.id)
        }
        try queue.reader.refuseDoubt(inGroupOf: operation)
        let local = try store.record(id, in: table)
        let state = try queue.reader.state(of: id, in: table)
        let after = try queue.reader.all(on: id, in: table).filter { $0.sequence > operation.sequence }
        let before = after.isEmpty ? local : operation.resultingRecord(local: local, mirror: state?.mirror)
        try RecordRules.validate(whole: record, besides: [before, state?.mirror], id: id, table: table)
        try queue.audit(operation, "edit", local: before, at: environment.now())

        let own = RecordRules.own(record, made: before, seen: local) { before?[$0] }
        let target = RecordRules.record(own, withSystemColumns: columns.system, of: before, id: id)
        let steps = QueueRecompute(columns: columns, environment: environment, queue: queue).steps(
            of: after, from: before, onto: target, local: local, mirror: state?.mirror)
        var edited = operation
        edited.revise()
        edited.frozen = after.isEmpty ? nil : target
        try queue.put(edited)
        for step in steps where step.operation.frozen != nil {
            var later = step.operation
            later.frozen = step.target
            try queue.put(later)
        }
        if let last = steps.last {
            try queue.setLocal(last.target, id, in: table)
        } else {
            try queue.setLocal(target, id, in: table)
        }
        if let group = operation.group { try queue.revive(group) }
    }
}

/// Discards an operation, inside one transaction: the record returns to its state without it, and the audit keeps the
/// operation. A group is discarded as a whole.
struct Discard {
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter
    /// The reason written to the audit.
    var reason = "discard"
    /// Whether a row stays if a lost insert creates it later; else it is deleted again.
    var lateRowsStay = false

    /// Discards the operation, and the rest of every group that loses an operation by it.
    func carryOut(_ operation: TableOperation) throws {
        if let group = operation.group { try check(group) }
        try carryOut(groups: giveUp(operation))
    }

    /// Discards the remaining operations of the groups, in the order of their names.
    func carryOut(groups: Set<String>) throws {
        var groups = groups
        while let group = groups.min() {
            groups.remove(group)
            try check(group)
            while let member = try queue.reader.members(of: group).last { groups.formUnion(try giveUp(member)) }
        }
    }

    /// Refuses to discard a group with an insert that may have arrived. A pull would delete its row, and the rest of
    /// the group would remain on the server.
    func check(_ group: String) throws {
        if lateRowsStay { return }
        let members = try queue.reader.members(of: group)
        for member in members {
            let mirror = try queue.reader.state(of: member.recordID, in: member.table)?.mirror
            guard member.mayHaveMadeRecord(mirror: mirror) else { continue }
            throw member.unknownOutcome("the server may have done its group already", with: members)
        }
    }

    /// Discards one operation.
    ///
    /// - Returns: the groups that lost an operation.
    func giveUp(_ operation: TableOperation) throws -> Set<String> {
        let (table, id) = (operation.table, operation.recordID)
        let local = try store.record(id, in: table)
        let state = try queue.reader.state(of: id, in: table)
        let all = try queue.reader.all(on: id, in: table)
        let ahead = all.last { $0.sequence < operation.sequence }
        let after = all.filter { $0.sequence > operation.sequence }
        let before = ahead.map { $0.resultingRecord(local: local, mirror: state?.mirror) } ?? state?.mirror
        let recompute = QueueRecompute(columns: columns, environment: environment, queue: queue)
        let isContested =
            ahead == nil && (operation.kind == .update || operation.kind == .delete)
            && ForeignChanges.contest(
                after, after: operation, making: operation.resultingRecord(local: local, mirror: state?.mirror),
                base: state?.base, server: state?.mirror, local: local, columns: columns)
        if operation.kind == .undelete {
            // Later edits need the restored record, so they are discarded too.
            let groups = try remove([operation] + after, local)
            try queue.setLocal(before, id, in: table)
            if ahead == nil { try queue.removeState(of: id, in: table) }
            return groups
        }
        let result = after.isEmpty ? local : operation.resultingRecord(local: local, mirror: state?.mirror)
        let groups = try remove([operation], after.isEmpty ? local : result)
        let ground = isContested ? state?.base : before
        var steps = recompute.steps(
            of: after, from: result, onto: ground, local: local, mirror: state?.mirror)
        if ahead == nil, steps.first?.operation.kind == .undelete { steps[0].restoresUnknown = true }
        if !steps.isEmpty {
            let landed = operation.landed
            try recompute.write(
                steps, on: ahead == nil ? .server(live: ground, tombstone: nil) : .operation(result: before),
                after: landed.isUncertain ? landed : nil, mirror: isContested ? .some(state?.mirror) : nil)
        } else {
            try queue.setLocal(before, id, in: table)
            if ahead == nil {
                try queue.removeState(of: id, in: table)
                if !lateRowsStay {
                    try UnansweredSend.leave(after: operation, known: state?.mirror, columns: columns, in: store)
                }
            }
        }
        return groups
    }

    private func remove(_ operations: [TableOperation], _ local: JSON?) throws -> Set<String> {
        for operation in operations {
            try queue.audit(operation, reason, local: local, at: environment.now())
            try queue.remove(operation)
        }
        return Set(operations.compactMap(\.group))
    }
}
