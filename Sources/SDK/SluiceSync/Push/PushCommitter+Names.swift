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
