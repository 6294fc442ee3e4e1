internal import SluiceBase

/// Has a record take the key for its id that the service has assigned, where no property of the row holds the id it had
/// here: the record, what waits for it in the queue, and what refers to it by its id.
struct AssignedID {
    /// The references by ids.
    let references: [AssignedReference]
    let store: any StoreWriter
    let queue: QueueWriter

    /// - Parameter key: the key as a property has it.
    /// - Returns: the operation that made the record, as it is now.
    func take(
        _ operation: TableOperation, _ id: RecordID, _ key: JSON
    ) throws -> TableOperation {
        try take(operation.recordID, in: operation.table, as: id, key)
        return try queue.reader.operation(operation.id) ?? operation
    }

    /// Has the record of that id take the other one.
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
    /// Has it be about the record under its new id.
    fileprivate mutating func rename(to id: RecordID) {
        recordID = id
        if frozen?.kind == .object { frozen?["id"] = JSON(id) }
        for index in sent.indices where sent[index].local?.kind == .object { sent[index].local?["id"] = JSON(id) }
    }
}
