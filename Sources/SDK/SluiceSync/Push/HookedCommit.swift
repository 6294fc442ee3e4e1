internal import SluiceBase

/// A commit of a push that carries out a hook's decision.
enum HookedCommit: Sendable {
    /// The operation was not sent and stays pending, for that reason; with a delay, at least that long.
    case postponed(TableOperation.Failure, Duration? = nil)
    /// The operation has failed, and is retried after that time.
    case retried(TableOperation.Failure, uncertain: Bool, Duration)
    /// The operation becomes one of that kind, with the given record or its own; after a failure, if there was one.
    case changed(TableOperation.Kind, JSON?, TableOperation.Failure? = nil, uncertain: Bool = false)
    /// The operation has failed and is given up; the record becomes the given one, or the server's last known one.
    case cancelled(TableOperation.Failure, uncertain: Bool, JSON? = nil)
}

extension PushCommitter {
    /// Writes the commit.
    ///
    /// - Throws: ``SluiceError`` of code `operationRefused` and `invalidRecord` where the queue does not allow it.
    func write(
        _ commit: HookedCommit, _ operation: TableOperation, _ item: PushItem, _ store: any StoreWriter,
        _ queue: QueueWriter
    ) throws {
        var operation = operation
        operation.isUncertain = operation.isUncertain || item.operation.isUncertain
        switch commit {
        case .postponed(let failure, let delay):
            (operation.state, operation.failure) = (.pending, failure)
            operation.wait(for: delay, from: environment.now())
            try queue.put(operation)
        case .retried(let failure, let uncertain, let delay):
            fail(&operation, failure, uncertain)
            operation.wait(for: delay, from: environment.now())
            try queue.put(operation)
        case .changed(let kind, let record, let failure, let uncertain):
            if failure != nil || operation.state == .inFlight { fail(&operation, failure, uncertain) }
            try queue.put(operation)
            try change(operation, to: kind, record, store, queue)
        case .cancelled(let failure, let uncertain, let record):
            fail(&operation, failure, uncertain)
            try cancel(operation, record, store, queue)
        }
    }

    private func fail(_ operation: inout TableOperation, _ failure: TableOperation.Failure?, _ uncertain: Bool) {
        operation.fail(failure, .pending, reachedServer: uncertain, maximum: maximumAttempts)
        if uncertain { operation.doubt() }
    }

    /// Changes the operation. A change counts as an attempt, so that an operation changed again and again ends as dead.
    private func change(
        _ failed: TableOperation, to kind: TableOperation.Kind, _ record: JSON?, _ store: any StoreWriter,
        _ queue: QueueWriter
    ) throws {
        if kind == failed.kind, let record {
            try OperationEdit(columns: columns, environment: environment, store: store, queue: queue)
                .carryOut(failed, record)
        } else {
            try KindChange(columns: columns, environment: environment, store: store, queue: queue)
                .carryOut(failed, to: kind, record: record)
        }
        guard failed.failedAttempts > 0, var changed = try queue.reader.operation(failed.id) else { return }
        changed.failedAttempts = failed.failedAttempts
        if failed.state == .dead { (changed.state, changed.failure) = (.dead, failed.failure) }
        try queue.put(changed)
    }

    private func cancel(
        _ operation: TableOperation, _ record: JSON?, _ store: any StoreWriter, _ queue: QueueWriter
    ) throws {
        let (table, id) = (operation.table, operation.recordID)
        func refuse(_ code: SluiceError.Code, _ reason: String) -> SluiceError {
            SluiceError(code, reason, table: table, recordID: id, operationID: operation.id)
        }
        if let record {
            let known = [try store.record(id, in: table), try queue.reader.state(of: id, in: table)?.mirror]
            try RecordRules.validate(whole: record, besides: known, id: id, table: table)
            guard try queue.reader.all(on: id, in: table).count == 1 else {
                throw refuse(.operationRefused, "other changes of the record wait too")
            }
        }
        try queue.put(operation)
        try Discard(columns: columns, environment: environment, store: store, queue: queue).carryOut(operation)
        guard let record else { return }
        let server = try store.record(id, in: table)
        try queue.setLocal(
            RecordRules.record(
                RecordRules.withoutSystemColumns(record, columns.system), withSystemColumns: columns.system,
                of: server, id: id), id, in: table)
        if server == nil {
            // The server is not known to have the record, so the first shared change is sent as an insert.
            try queue.put(RecordState(table: table, recordID: id, base: nil, mirror: nil))
        }
    }
}
