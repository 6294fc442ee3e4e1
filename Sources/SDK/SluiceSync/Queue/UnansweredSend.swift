package import SluiceBase

/// An insert of unknown outcome whose record was deleted or discarded here, while the server has no such record: the
/// request may still arrive. If the row appears after all, its delete is queued again.
///
/// It goes with the row's first appearance, whatever comes of it: a row that is not what was sent is another's.
package struct UnansweredSend: Sendable, Hashable {
    /// The table.
    package var table: String
    /// The record.
    package var recordID: RecordID
    /// The operation that went out of the queue; the delete that follows is a further revision of it.
    package var operationID: String
    /// The revision that the delete is to have.
    package var revision: Int
    /// When the operation was made.
    package var createdAt: Timestamp
    /// The bodies that were sent and may take effect yet.
    package var bodies: [JSON]
    /// Whose operation it was.
    package var user: String

    package static let schema = TableSchema(
        "sluice_tombstones", columns: [.init("table", .string), .init("bodies", .json)], indexes: [["table"]])

    /// Leaves one after an operation that goes out of the queue, if there is anything that may still appear.
    ///
    /// - Parameter known: the server's record, as far as one was ever known: then nothing new can appear.
    package static func leave(
        after operation: TableOperation, known: JSON?, columns: PushColumns, in store: any StoreWriter
    ) throws {
        let isUncertain = operation.isUncertain || operation.state == .inFlight
        // A body that names no property, as an undelete's or that of a delete, would be shown by any row of that id.
        let bodies = operation.sent.map(\.final).filter { body in
            (body.members ?? []).contains { $0.name != columns.id && !columns.system.contains($0.name) }
        }
        guard known == nil, isUncertain, operation.kind == .insert || operation.kind == .delete, !bodies.isEmpty else {
            return
        }
        // One that was left before stands for a request that may be under way still.
        let earlier =
            try store.record(RecordState.id(operation.table, operation.recordID), in: schema.name)
            .flatMap(UnansweredSend.init)?.bodies ?? []
        let send = UnansweredSend(
            table: operation.table, recordID: operation.recordID, operationID: operation.id,
            revision: operation.revision + 1, createdAt: operation.createdAt,
            bodies: earlier.filter { !bodies.contains($0) } + bodies, user: operation.user)
        try store.put(send.record, in: schema.name)
    }

    /// The record is here again, by the server's own answer: what is late now is refused.
    package static func remove(_ recordID: RecordID, in table: String, from store: any StoreWriter) throws {
        try store.delete([RecordState.id(table, recordID)], from: schema.name)
    }

    private var record: JSON {
        [
            "id": JSON(RecordState.id(table, recordID)), "table": JSON(table), "record": JSON(recordID),
            "operation": JSON(operationID), "revision": JSON(revision), "createdAt": JSON(createdAt.description),
            "bodies": JSON(bodies), "user": JSON(user),
        ]
    }

    /// The send that a record of ``schema`` stands for; nil if it stands for none.
    package init?(record: JSON) {
        guard let table = record["table"]?.string, let recordID = record["record"]?.textID,
            let operationID = record["operation"]?.string, let revision = record["revision"]?.int,
            let createdAt = record["createdAt"]?.string.flatMap({ Timestamp($0) })
        else { return nil }
        self.init(
            table: table, recordID: recordID, operationID: operationID, revision: Int(revision), createdAt: createdAt,
            bodies: record["bodies"]?.elements ?? [], user: record["user"]?.string ?? "")
    }

    private init(
        table: String, recordID: RecordID, operationID: String, revision: Int, createdAt: Timestamp, bodies: [JSON],
        user: String
    ) {
        self.table = table
        self.recordID = recordID
        self.operationID = operationID
        self.revision = revision
        self.createdAt = createdAt
        self.bodies = bodies
        self.user = user
    }
}

extension UnansweredSend {
    /// Looks at rows that a page brings and that have no operations: those that are late inserts are queued to be
    /// deleted, and are not to be stored.
    ///
    /// - Returns: the ids of those.
    static func bury(
        _ page: RowPage, _ indices: [Int], of table: String, in store: any StoreWriter
    ) throws -> Set<RecordID> {
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        let left = try store.records(matching: Query(schema.name, filter: ofTable)).compactMap(UnansweredSend.init)
        if left.isEmpty { return [] }
        let rows = Dictionary(indices.map { (page.rows[$0].id.caseless, $0) }) { _, last in last }
        var buried: Set<RecordID> = []
        for send in left {
            guard let index = rows[send.recordID.caseless] else { continue }
            let id = page.rows[index].id
            try remove(send.recordID, in: table, from: store)
            let row = page.record(at: index)
            guard !page.rows[index].isDeleted, try store.record(id, in: table) == nil,
                send.bodies.contains(where: { $0.isHeld(by: row) })
            else { continue }
            let queue = QueueWriter(store)
            var operation = TableOperation(
                id: send.operationID, sequence: try queue.reader.nextSequence(), table: table, recordID: id,
                kind: .delete, createdAt: send.createdAt)
            operation.revision = send.revision
            operation.user = send.user
            try queue.put(operation)
            try queue.put(RecordState(table: table, recordID: id, base: row, mirror: row))
            buried.insert(id)
        }
        return buried
    }
}

extension JSON {
    /// Whether the row has every value of this body. Null and absent are the same here: servers differ in which of the
    /// two they write.
    fileprivate func isHeld(by row: JSON) -> Bool {
        (members ?? []).allSatisfy { name, value in
            let held = row[name] ?? .null
            return held == value || held.textID.flatMap { id in value.textID.map(id.isSame) } ?? false
        }
    }
}
