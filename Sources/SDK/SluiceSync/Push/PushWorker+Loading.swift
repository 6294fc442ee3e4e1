internal import SluiceBase
internal import SluiceWire

extension PushWorker {
    /// Reads operations that begin together, all on one state of the store.
    ///
    /// - Returns: an event for each, in their order.
    func load(_ queued: [QueuedOperation]) async -> [PushSession.Event] {
        let events: [OperationSession.Event]
        do {
            try Task.checkCancellation()
            events = try await store.read { reader in
                queued.map { operation in
                    do {
                        return asking(try load(operation, reader))
                    } catch {
                        return .failed(SluiceError(wrapping: error))
                    }
                }
            }
        } catch {
            events = queued.map { _ in .failed(SluiceError(wrapping: error)) }
        }
        return zip(queued, events).map { .operation($0.sequence, $1) }
    }

    private func load(_ queued: QueuedOperation, _ reader: any StoreReader) throws -> OperationSession.Event {
        let queue = QueueReader(reader)
        var onRecord = try queue.all(on: queued.recordID, in: queued.table)
        var found = onRecord.first { $0.id == queued.id }
        if found == nil, let renamed = try queue.operation(queued.id) {
            // Its record has another id by now.
            found = renamed
            onRecord = try queue.all(on: renamed.recordID, in: renamed.table)
        }
        // A group member, too, leaves the queue only by a decision; the others then are the group.
        guard var operation = found else { return .notLoaded(.gone) }
        // A moved operation is read again at its new place. A group member is not: the others would be sent without it,
        // so the next push reads it.
        guard operation.sequence == queued.sequence else {
            return .notLoaded(queued.group == nil ? .gone : .held)
        }
        let (table, id) = (operation.table, operation.recordID)
        if operation.waits(at: options.environment.now()) { return .notLoaded(.held) }
        guard !operation.isHeld, onRecord.first?.id == operation.id else { return .notLoaded(.held) }
        if try QueueOutline(store: reader, options).isAheadOfParent(queued) { return .notLoaded(.held) }
        let state = try queue.state(of: id, in: table)
        // A frozen body stays as it is: the record has changed since, and its successor will send that change.
        let isFrozen = operation.state == .inFlight || onRecord.count > 1
        let made = operation.sentAsIs?.local ?? operation.frozen
        // No task waits for this send's answer any more: the process ended, or its commit failed.
        if operation.state == .inFlight { operation.isUncertain = true }
        let local: JSON?
        switch operation.kind {
        case .undelete: local = state?.base
        case .insert, .update: local = isFrozen && made != nil ? made : try reader.record(id, in: table)
        case .delete: local = nil
        }
        var item = PushItem(operation: operation, local: local, base: state?.base)
        item.forms = forms.known(in: table)
        item.known = state?.mirror?[columns.version]
        let isHooked = AskedHooks(options.hooks, .afterPull, table: table) != nil
        if !operation.isUncertain, !isHooked, let mirror = state?.mirror {
            item.rewritten = item.rewritten(as: mirror, columns, except: options.localOnly.columns[table])
        }
        return .loaded(item)
    }
}
