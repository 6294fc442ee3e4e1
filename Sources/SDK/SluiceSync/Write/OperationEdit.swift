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

        let target = RecordRules.record(record, withSystemColumns: columns.system, of: before, id: id)
        let steps = QueueRecompute(columns: columns, environment: environment, queue: queue).steps(
            of: after, from: before, restored: nil, onto: target, local: local, mirror: state?.mirror)
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
