internal import SluiceBase
internal import SluiceWire

/// Handles records with another id on the server than here.
extension PushCommitter {
    /// Gives an unsent record its future id on the server.
    ///
    /// - Returns: the operation under that id, or unchanged if it has been edited since; nil where another record has
    ///   the id.
    func rename(_ item: PushItem, as name: RecordName, in store: any StoreWriter) throws -> PushItem? {
        let queue = QueueWriter(store)
        guard let operation = try current(item, queue) else { return item }
        guard try store.record(name.id, in: operation.table) == nil,
            try queue.reader.all(on: name.id, in: operation.table).isEmpty
        else { return nil }
        return try take(name, item, operation, store, queue).item
    }

    /// Returns the operation under the server's id, if it is still the one that was sent. That id is a key assigned by
    /// the server, or the server's spelling of the same GUID. A record with that id from a pull since is the same one.
    func named(
        _ item: PushItem, by server: JSON?, in store: any StoreWriter
    ) throws -> (item: PushItem, operation: TableOperation)? {
        let queue = QueueWriter(store)
        guard let operation = try current(item, queue) else { return nil }
        if case .assigned(let id, let key)? = item.created {
            if id == operation.recordID { return (item, operation) }
            return try take(RecordName(id, key: key), item, operation, store, queue)
        }
        guard let id = server.flatMap(columns.id), id != operation.recordID, id.isSame(as: operation.recordID),
            try queue.reader.all(on: id, in: operation.table).isEmpty
        else { return (item, operation) }
        return try take(RecordName(id, key: JSON(id)), item, operation, store, queue)
    }

    private func take(
        _ name: RecordName, _ item: PushItem, _ operation: TableOperation, _ store: any StoreWriter,
        _ queue: QueueWriter
    ) throws -> (item: PushItem, operation: TableOperation) {
        let assigned = AssignedID(references: idReferences, store: store, queue: queue)
        var named = item
        named.operation = try assigned.take(operation, name.id, name.key)
        named.local?[columns.id] = JSON(name.id)
        return (named, named.operation)
    }
}

extension PushCommitter {
    /// Rebases the waiting changes of a record onto the server's own record, of the version on which they were made.
    ///
    /// If hooks have stored another record than the server sent, the local one differs from the server's. Sent whole,
    /// it would write the hooks' local changes to the server.
    ///
    /// - Returns: the rebased operation, or nil if it was changed since it was read.
    func ground(_ item: PushItem, on server: JSON, in store: any StoreWriter) throws -> PushItem? {
        let (table, id) = (item.operation.table, item.operation.recordID)
        let queue = QueueWriter(store)
        guard try isCurrent(item, queue), var state = try queue.reader.state(of: id, in: table), let base = state.base
        else { return nil }
        func grounded(_ record: JSON) -> JSON {
            Rebase.reapply(from: base, to: record, onto: server, system: columns.system)
        }
        for var waiting in try queue.reader.all(on: id, in: table) where waiting.frozen != nil {
            waiting.frozen = waiting.frozen.map(grounded)
            try queue.put(waiting)
        }
        if let local = try store.record(id, in: table) { try queue.setLocal(grounded(local), id, in: table) }
        if state.mirror?[columns.version] == base[columns.version] { state.mirror = server }
        state.base = server
        try queue.put(state, isNoted: false)
        var item = item
        item.operation.frozen = item.operation.frozen.map(grounded)
        (item.base, item.local) = (server, item.local.map(grounded))
        return item
    }
}
