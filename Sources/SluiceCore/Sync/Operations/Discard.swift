/// Gives an operation up, inside one transaction: the record becomes what it was without it, and the audit keeps what
/// was given up.
struct Discard {
    let operation: TableOperation
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter

    private var table: String { operation.table }
    private var id: String { operation.recordID }

    func carryOut() throws {
        let local = try store.record(id, in: table)
        let state = try queue.reader.state(of: id, in: table)
        let all = try queue.reader.all(on: id, in: table)
        let ahead = all.last { $0.sequence < operation.sequence }
        let behind = all.filter { $0.sequence > operation.sequence }
        if let ahead {
            try giveUp([operation] + behind, local)
            try queue.setLocal(ahead.resultingRecord(local: local, mirror: state?.mirror), id, in: table)
        } else if operation.kind == .undelete {
            // Edits of a record that is not restored have nothing to stand on.
            try giveUp(all, local)
            try queue.setLocal(state?.mirror, id, in: table)
            try queue.removeState(of: id, in: table)
        } else {
            try settle(local, state, hasSuccessors: !behind.isEmpty)
            if behind.isEmpty { try SentTombstone.leave(behind: operation, known: state?.mirror, in: store) }
        }
    }

    private func giveUp(_ operations: [TableOperation], _ local: JSON?) throws {
        for operation in operations {
            try queue.audit(operation, "discard", local: local, at: environment.now())
            try queue.remove(operation)
        }
    }

    /// As a conflict would be settled for the server; what was edited behind the operation is derived anew.
    private func settle(_ local: JSON?, _ state: RecordState?, hasSuccessors: Bool) throws {
        let before = hasSuccessors ? operation.resultingRecord(local: local, mirror: state?.mirror) : local
        let conflict = Conflict(
            operation: operation, client: before, server: state?.mirror, base: state?.base,
            maybeApplied: operation.isUncertain, status: 0, isDeletedOnServer: state?.mirror == nil)
        try ConflictSettlement(
            operation: operation, item: PushItem(operation: operation, local: before, base: state?.base),
            conflict: conflict, columns: columns, environment: environment, store: store, queue: queue
        ).settle(.discard)
    }
}
