internal import SluiceBase
internal import SluiceWire

/// Gathers the operations that are ready to be sent into pages, as a pure state: operations that began together go
/// together, and a group goes when all its members are ready. If a member leaves without being ready, none is sent.
struct PushPages {
    /// Operations that are sent together.
    struct Page {
        var items: [PlacedItem] = []
        var isGroup = false
        /// Whether it cannot be sent, because a member of the group is missing.
        var isBroken = false
    }
    /// An operation with its place in the queue.
    struct PlacedItem: Sendable {
        let place: Int64
        let item: PushItem
    }

    private struct Group {
        /// The members in the order in which they began: parents before their children.
        var places: [Int64] = []
        var expected: Set<Int64> = []
        var ready: [Int64: PlacedItem] = [:]
        var isBroken = false
    }

    /// The free operations that may still become ready, and those that are.
    private var expected: Set<Int64> = []
    private var ready: [PlacedItem] = []
    private var groups: [String: Group] = [:]
    private var groupOf: [Int64: String] = [:]

    /// Notes operations that begin together.
    mutating func begin(_ operations: [QueuedOperation]) {
        for operation in operations {
            guard let group = operation.group else {
                expected.insert(operation.sequence)
                continue
            }
            groups[group, default: Group()].expected.insert(operation.sequence)
            groups[group]?.places.append(operation.sequence)
            groupOf[operation.sequence] = group
        }
    }

    /// Notes that an operation is ready to be sent.
    mutating func add(_ item: PlacedItem) {
        expected.remove(item.place)
        if let group = groupOf.removeValue(forKey: item.place) {
            groups[group]?.expected.remove(item.place)
            groups[group]?.ready[item.place] = item
        } else {
            ready.append(item)
        }
    }

    /// Notes that an operation does not become ready.
    ///
    /// - Parameter isGone: whether it has left its group, so that the others are sent without it.
    mutating func leave(_ place: Int64, isGone: Bool) {
        expected.remove(place)
        if let group = groupOf.removeValue(forKey: place) {
            groups[group]?.expected.remove(place)
            if !isGone { groups[group]?.isBroken = true }
        }
    }

    /// Returns the pages that are due: groups in the order in which their members began, others in that of the queue.
    ///
    /// - Parameter size: the maximum number of operations on a page; a group goes whole, whatever its size.
    mutating func due(_ size: Int) -> [Page] {
        var pages: [Page] = []
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) where group.expected.isEmpty {
            groups[name] = nil
            if group.ready.isEmpty { continue }
            let items = group.places.compactMap { group.ready[$0] }
            pages.append(Page(items: items, isGroup: true, isBroken: group.isBroken))
        }
        guard ready.count >= size || expected.isEmpty else { return pages }
        ready.sort { $0.place < $1.place }
        while ready.count >= size || expected.isEmpty && !ready.isEmpty {
            pages.append(Page(items: Array(ready.prefix(size))))
            ready.removeFirst(min(size, ready.count))
        }
        return pages
    }
}

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
        // The process ended, or its commit failed.
        operation = operation.landed
        let local: JSON?
        switch operation.kind {
        case .undelete: local = state?.base
        case .insert, .update: local = isFrozen && made != nil ? made : try reader.record(id, in: table)
        case .delete: local = nil
        }
        let foreign = columns.foreign(
            in: state?.base ?? state?.mirror ?? local, local: local, beside: state?.mirror)
        var item = PushItem(
            operation: operation, local: local?.without(foreign),
            base: operation.base(on: state?.base)?.without(foreign))
        item.foreign = foreign
        item.forms = forms.known(in: table)
        item.known = state?.mirror?[columns.version]
        item.isYoung = isYoung(state?.base)
        let isHooked = AskedHooks(options.hooks, .afterPull, table: table) != nil
        if !operation.isUncertain, !isHooked, let mirror = state?.mirror {
            item.rewritten = item.rewritten(as: mirror, columns, except: options.localOnly.columns[table])
        }
        return .loaded(item)
    }
}
