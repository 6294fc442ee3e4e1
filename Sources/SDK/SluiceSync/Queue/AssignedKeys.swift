internal import SluiceBase

/// Replaces a record's id in references by the key that the service assigned.
struct AssignedKeys {
    let references: [AssignedReference]
    let store: any StoreWriter
    let queue: QueueWriter

    /// - Parameter server: the record of the service.
    func follow(_ id: RecordID, in table: String, as server: JSON) throws {
        for reference in references where reference.parent == table {
            guard let key = server[reference.key], !key.isNull, key != JSON(id.text) else { continue }
            try replace(id, by: key, along: reference)
        }
    }

    func replace(_ id: RecordID, by key: JSON, along reference: AssignedReference) throws {
        let (table, column) = (reference.child, reference.column)
        let placeholder = JSON(id.text)
        // Only records with operations can hold the id: it was written on this device, and the service has not seen
        // it.
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        var children: Set<RecordID> = []
        for record in try store.records(matching: TableQuery(TableOperation.schema.name, filter: ofTable)) {
            var operation = try TableOperation(record: record)
            children.insert(operation.recordID)
            guard var frozen = operation.frozen, frozen[column] == placeholder else { continue }
            frozen[column] = key
            operation.frozen = frozen
            try queue.put(operation)
        }
        for child in children {
            guard var record = try store.record(child, in: table), record[column] == placeholder else { continue }
            record[column] = key
            try queue.setLocal(record, child, in: table)
        }
    }
}
