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
        _ operation: TableOperation, _ id: RecordID, _ key: JSON, _ columns: PushColumns
    ) throws -> TableOperation {
        let (table, old) = (operation.table, operation.recordID)
        var made = operation
        for var waiting in try queue.reader.all(on: old, in: table) {
            waiting.rename(to: id, columns.id)
            try queue.put(waiting)
            if waiting.id == operation.id { made = waiting }
        }
        if var local = try store.record(old, in: table) {
            local[columns.id] = JSON(id)
            try queue.setLocal(local, id, in: table)
            try queue.setLocal(nil, old, in: table)
        }
        if var state = try queue.reader.state(of: old, in: table) {
            state.recordID = id
            try queue.put(state)
            try queue.removeState(of: old, in: table)
        }
        try UnansweredSend.remove(old, in: table, from: store)
        let keys = AssignedKeys(references: references, store: store, queue: queue)
        for reference in references where reference.parent == table {
            try keys.replace(old, by: key, along: reference)
        }
        return made
    }
}

extension TableOperation {
    /// Has it be about the record under its new id.
    fileprivate mutating func rename(to id: RecordID, _ column: PropertyName) {
        recordID = id
        if frozen?.kind == .object { frozen?[column] = JSON(id) }
        for index in sent.indices where sent[index].local?.kind == .object { sent[index].local?[column] = JSON(id) }
    }
}
