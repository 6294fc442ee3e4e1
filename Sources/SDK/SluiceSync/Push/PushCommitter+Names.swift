internal import SluiceBase
internal import SluiceWire

/// Records that the server knows by another id than they had here.
extension PushCommitter {
    /// Has a record that was not sent yet take the id by which the server will know it.
    ///
    /// - Returns: the operation under that id, or as it was where it has been changed since; nil where another record has
    ///   the id.
    func rename(_ item: PushItem, as name: RecordName, in store: any StoreWriter) throws -> PushItem? {
        let queue = QueueWriter(store)
        guard let operation = try current(item, queue) else { return item }
        guard try store.record(name.id, in: operation.table) == nil,
            try queue.reader.all(on: name.id, in: operation.table).isEmpty
        else { return nil }
        return try take(name, item, operation, store, queue).item
    }

    /// The operation, if it is still the one that was sent, under the id that the server's record has: a key that it has
    /// assigned, or the same GUID as it writes it. A record that a pull has brought under that id meanwhile is the same one.
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
