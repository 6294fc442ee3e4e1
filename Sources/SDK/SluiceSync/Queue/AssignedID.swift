package import SluiceBase

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

/// A column that refers to records by a key which the service assigns. Until the key is known, the column holds the
/// record's local id.
package struct AssignedReference: Sendable, Hashable {
    /// The table that holds the references.
    package let child: String
    /// The property that holds the key of the referenced record.
    package let column: PropertyName
    /// The referenced table.
    package let parent: String
    /// The property of the referenced table that the service assigns.
    package let key: PropertyName

    /// Returns the tables' references by a key that the service assigns.
    package static func all(in tables: [TableSchema]) -> [AssignedReference] {
        all(in: tables) { $0.isAssigned }.filter { $0.key != "id" }
    }

    /// Returns the tables' references by the record's id, which becomes the key once the service has assigned it.
    package static func byID(in tables: [TableSchema]) -> [AssignedReference] {
        all(in: tables) { _ in true }.filter { $0.key == "id" }
    }

    private static func all(
        in tables: [TableSchema], where isTaken: (TableSchema.Reference) -> Bool
    ) -> [AssignedReference] {
        var found: [AssignedReference] = []
        for table in tables {
            for reference in table.references where isTaken(reference) {
                let one =
                    reference.isCollection
                    ? AssignedReference(
                        child: reference.table, column: reference.targetColumn, parent: table.name,
                        key: reference.column)
                    : AssignedReference(
                        child: table.name, column: reference.column, parent: reference.table,
                        key: reference.targetColumn)
                if !found.contains(one) { found.append(one) }
            }
        }
        return found
    }

    package init(child: String, column: PropertyName, parent: String, key: PropertyName) {
        (self.child, self.column, self.parent, self.key) = (child, column, parent, key)
    }
}
