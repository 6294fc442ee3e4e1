internal import SluiceBase
internal import SluiceWire

extension PushWorker {
    /// Reads operations that are begun together, all on one state of the store.
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
        return zip(queued, events).map { operation, event in
            switch event {
            case .notLoaded(let absence): gatherer.leave(operation.id, isGone: absence == .gone)
            case .failed: gatherer.leave(operation.id)
            default: break
            }
            return .operation(operation.sequence, event)
        }
    }

    private func load(_ queued: QueuedOperation, _ reader: any StoreReader) throws -> OperationSession.Event {
        let queue = QueueReader(reader)
        // Out of a group, too, it goes only by a decision: then the others are the group.
        guard var operation = try queue.operation(queued.id) else { return .notLoaded(.gone) }
        // One that was moved after others is read again at its new place. A group is not: the others would go
        // without it, so the next push reads it anew.
        guard operation.sequence == queued.sequence else {
            return .notLoaded(queued.group == nil ? .gone : .moved)
        }
        let (table, id) = (operation.table, operation.recordID)
        let onRecord = try queue.all(on: id, in: table)
        if operation.waits(at: options.environment.now()) { return .notLoaded(.held) }
        guard !operation.isHeld, onRecord.first?.id == operation.id else { return .notLoaded(.held) }
        if try QueueOutline(store: reader, options).isAheadOfParent(queued) { return .notLoaded(.moved) }
        let state = try queue.state(of: id, in: table)
        // A frozen body stays as it is: the record has moved on, and its successor will send that.
        let isFrozen = operation.state == .inFlight || onRecord.count > 1
        let made = operation.sentAsIs?.local ?? operation.frozen
        // No task waits for that send's answer any more: the process ended, or its commit failed.
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
        return .loaded(item)
    }
}
