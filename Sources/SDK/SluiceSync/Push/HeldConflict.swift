internal import SluiceBase

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
        let (client, base) = (changed?.without(foreign), operation.base(on: state?.base)?.without(foreign))
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
