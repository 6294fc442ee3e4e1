package import SluiceBase
internal import SluiceWire

/// An insert of unknown outcome whose record was deleted or discarded here, while the server has no such record. The
/// request may still arrive. If the row appears after all, its delete is queued again.
///
/// The entry is removed at the row's first appearance, in any case: a row that differs from the sent bodies is another
/// client's.
package struct UnansweredSend: Sendable, Hashable {
    /// The table.
    package var table: String
    /// The record.
    package var recordID: RecordID
    /// The operation that left the queue. The delete that follows is a further revision of it.
    package var operationID: String
    /// The revision of the delete.
    package var revision: Int
    /// The time at which the operation was made.
    package var createdAt: Timestamp
    /// The sent bodies that may still take effect.
    package var bodies: [JSON]
    /// The user of the operation.
    package var user: String

    package static let schema = TableSchema(
        "sluice_tombstones", columns: [.init("table", .string), .init("bodies", .json)], indexes: [["table"]])

    /// Leaves an entry for an operation that is removed from the queue, if its send may still take effect.
    ///
    /// - Parameter known: the server's record, if one was ever known. Then nothing new can appear.
    package static func leave(
        after operation: TableOperation, known: JSON?, columns: PushColumns, in store: any StoreWriter
    ) throws {
        // A body that names no property, as of an undelete or a delete, would match any row of that id.
        let bodies = operation.sent.map(\.final).filter { body in
            (body.members ?? []).contains { $0.name != columns.id && !columns.system.contains($0.name) }
        }
        guard known == nil, operation.landed.isUncertain, operation.kind == .insert || operation.kind == .delete,
            !bodies.isEmpty
        else {
            return
        }
        // An earlier entry stands for a request that may still be under way.
        let earlier =
            try store.record(RecordState.id(operation.table, operation.recordID), in: schema.name)
            .flatMap(UnansweredSend.init)?.bodies ?? []
        let send = UnansweredSend(
            table: operation.table, recordID: operation.recordID, operationID: operation.id,
            revision: operation.revision + 1, createdAt: operation.createdAt,
            bodies: earlier.filter { !bodies.contains($0) } + bodies, user: operation.user)
        try store.put(send.record, in: schema.name)
    }

    /// Removes the entry, because the server's own answer has shown the record: a late request is refused now.
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

    /// Reads the send from a record of ``schema``; nil if it is not valid.
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
    /// Checks rows of a page that have no operations. For a late insert a delete is queued, and its row is not to be
    /// stored.
    ///
    /// - Returns: the ids of the late inserts.
    static func bury(
        _ page: RowPage, _ indices: [Int], of table: String, in store: any StoreWriter
    ) throws -> Set<RecordID> {
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        let left = try store.records(matching: TableQuery(schema.name, filter: ofTable)).compactMap(UnansweredSend.init)
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

extension TableOperation {
    /// Returns the error that refuses a repair because the outcome of a send is unknown. Its message lists the ways to
    /// settle it that the operation's state allows.
    ///
    /// - Parameter group: the operations of its group, which are only sent with it.
    func unknownOutcome(_ reason: String, with group: [TableOperation] = []) -> SluiceError {
        let together = [self] + group
        let way =
            if together.contains(where: { $0.state == .parked && $0.failure?.serverRecord != nil }) {
                "resolve the conflict that holds it, and push"
            } else if together.contains(where: { $0.isHeld || $0.notBefore != nil }) {
                // A push skips operations that are held or wait for a time.
                "retry it and push"
            } else {
                "push"
            }
        let other =
            if self.group != nil {
                ", or discard it as moved (--moved): what the server has done of it stays there"
            } else {
                kind == .insert ? ", or delete the record" : ""
            }
        return SluiceError(
            .operationRefused, "\(reason); \(way) to learn what became of it\(other)", table: table,
            recordID: recordID, operationID: id)
    }
}

extension QueueReader {
    /// Refuses to change an operation while its group may have arrived. The group is sent again unchanged, or its
    /// parts would not fit together.
    func refuseDoubt(inGroupOf operation: TableOperation) throws {
        guard let group = operation.group else { return }
        let members = try members(of: group)
        guard members.contains(where: \.isUncertain) else { return }
        throw operation.unknownOutcome("it is not known whether its group has arrived", with: members)
    }
}
