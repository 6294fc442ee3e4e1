internal import SluiceBase

/// Replaces a record's id by the key that the service assigned, where no property of the row holds the local id. It
/// changes the record, its operations, and the references to it by id.
struct AssignedID {
    /// The references by ids.
    let references: [AssignedReference]
    let store: any StoreWriter
    let queue: QueueWriter

    /// - Parameter key: the key as the value of a property.
    /// - Returns: the operation that made the record, after the change.
    func take(
        _ operation: TableOperation, _ id: RecordID, _ key: JSON
    ) throws -> TableOperation {
        try take(operation.recordID, in: operation.table, as: id, key)
        return try queue.reader.operation(operation.id) ?? operation
    }

    /// Gives the record with the old id the new one.
    func take(_ old: RecordID, in table: String, as id: RecordID, _ key: JSON) throws {
        for var waiting in try queue.reader.all(on: old, in: table) {
            waiting.rename(to: id)
            try queue.put(waiting)
        }
        if var local = try store.record(old, in: table) {
            local["id"] = JSON(id)
            try queue.setLocal(nil, old, in: table)
            try queue.setLocal(local, id, in: table)
        }
        if var state = try queue.reader.state(of: old, in: table) {
            state.recordID = id
            try queue.removeState(of: old, in: table)
            try queue.put(state)
        }
        try UnansweredSend.remove(old, in: table, from: store)
        let keys = AssignedKeys(references: references, store: store, queue: queue)
        for reference in references where reference.parent == table {
            try keys.replace(old, by: key, along: reference)
        }
    }
}

extension TableOperation {
    /// Moves the operation to the record's new id.
    fileprivate mutating func rename(to id: RecordID) {
        recordID = id
        if frozen?.kind == .object { frozen?["id"] = JSON(id) }
        for index in sent.indices where sent[index].local?.kind == .object { sent[index].local?["id"] = JSON(id) }
    }
}
