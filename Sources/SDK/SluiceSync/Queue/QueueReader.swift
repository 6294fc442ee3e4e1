package import SluiceBase
internal import SluiceWire

/// The queue's reads, in the reader's transaction.
package struct QueueReader {
    private let store: any StoreReader

    package init(_ store: any StoreReader) { self.store = store }

    private func operations(_ filter: QueryExpression?, skip: Int = 0, top: Int? = nil) throws -> [TableOperation] {
        let query = TableQuery(
            TableOperation.schema.name, filter: filter, order: [.init("sequence")], skip: skip, top: top)
        return try store.records(matching: query).map { try TableOperation(record: $0) }
    }

    private static func equals(_ column: PropertyName, _ value: String) -> QueryExpression {
        .binary(.eq, .column(column), .literal(.string(value)))
    }

    /// Returns the operations that match the filter, in the queue's order.
    package func all(_ filter: TableOperation.Filter) throws -> [TableOperation] {
        try operations(filter.expression).filter(filter.matches)
    }

    /// Returns some of the operations that match the filter, in the queue's order.
    func some(_ filter: TableOperation.Filter, skip: Int, top: Int) throws -> [TableOperation] {
        guard filter.tag != nil else { return try operations(filter.expression, skip: skip, top: top) }
        // Tags are no columns, so all operations are read, a part at a time.
        var (found, left, place): ([TableOperation], Int, Int) = ([], skip, 0)
        while found.count < top {
            let part = try operations(filter.expression, skip: place, top: Self.partSize)
            for operation in part where filter.matches(operation) {
                if left > 0 { left -= 1 } else if found.count < top { found.append(operation) }
            }
            guard part.count == Self.partSize else { break }
            place += Self.partSize
        }
        return found
    }

    /// Counts the operations that match the filter.
    func count(_ filter: TableOperation.Filter) throws -> Int {
        let query = TableQuery(TableOperation.schema.name, filter: filter.expression)
        guard filter.tag != nil else { return try store.count(matching: query) }
        return try some(filter, skip: 0, top: .max).count
    }

    private static let partSize = 1000

    /// Returns the pending operations that wait for a time.
    func delayed() throws -> [TableOperation] {
        try operations(
            .binary(
                .and, Self.equals("state", TableOperation.State.pending.rawValue),
                .binary(.ne, .column("notBefore"), .literal(.null))))
    }

    /// Counts all operations.
    func count() throws -> Int { try store.count(matching: TableQuery(TableOperation.schema.name)) }

    /// Returns all operations, or those of a table, in the queue's order.
    package func all(in table: String? = nil) throws -> [TableOperation] {
        try operations(table.map { Self.equals("table", $0) })
    }

    /// Returns the operations on a record, in the queue's order.
    package func all(on recordID: RecordID, in table: String) throws -> [TableOperation] {
        let texts: [(column: PropertyName, text: String)] = [("table", table), ("record", recordID.text)]
        return try store.records(in: TableOperation.schema.name, where: texts, orderedBy: "sequence")
            .map { try TableOperation(record: $0) }
    }

    /// Returns the operations of a group, in the queue's order.
    package func members(of group: String) throws -> [TableOperation] {
        try operations(Self.equals("group", group))
    }

    /// Returns the operation with that id.
    package func operation(_ id: String) throws -> TableOperation? {
        try store.record(RecordID(id), in: TableOperation.schema.name).map { try TableOperation(record: $0) }
    }

    /// Returns the given ids with operations, each with the record's local id. The server may write a GUID in another
    /// case.
    package func waiting(in table: String, among ids: [RecordID]) throws -> [RecordID: RecordID] {
        let ofTable = Self.equals("table", table)
        let count = try store.count(matching: TableQuery(TableOperation.schema.name, filter: ofTable))
        if count == 0 || ids.isEmpty { return [:] }
        // A short queue is read whole; of a long one only the entries that the index finds.
        var found = count <= 64 ? try recordIDs(in: table) : []
        let spelled = count <= 64 ? [] : ids.flatMap(\.spellings)
        for start in stride(from: 0, to: spelled.count, by: 500) {
            let some = spelled[start..<min(start + 500, spelled.count)].map { TableQuery.Literal.id($0) }
            let filter = QueryExpression.binary(.and, ofTable, .membership(.column("record"), some))
            let records = try store.records(matching: TableQuery(TableOperation.schema.name, filter: filter))
            for record in records { if let id = record["record"]?.textID { found.insert(id) } }
        }
        let here = Dictionary(found.map { ($0.caseless, $0) }) { first, _ in first }
        return Dictionary(ids.compactMap { id in (found.contains(id) ? id : here[id.caseless]).map { (id, $0) } }) {
            $1
        }
    }

    /// Returns the ids of the table's records with operations.
    func recordIDs(in table: String) throws -> Set<RecordID> {
        let query = TableQuery(
            TableOperation.schema.name, filter: Self.equals("table", table), select: ["id", "record"])
        return try Set(store.records(matching: query).compactMap { $0["record"]?.textID })
    }

    /// Whether operations of the table wait to be sent by that user. Held ones do not count, nor those of other users
    /// or with the given ids.
    func hasWaiting(in table: String, of user: String, besides ids: Set<String>) throws -> Bool {
        let ofUser = QueryExpression.binary(
            .or, .binary(.eq, .column("user"), .literal(.null)), Self.equals("user", user))
        let filter = QueryExpression.binary(
            .and, Self.equals("table", table), .binary(.and, Self.isWaiting, ofUser))
        // Enough to find one that is not among the ids.
        let some = TableQuery(TableOperation.schema.name, filter: filter, top: ids.count + 1, select: ["id"])
        return try store.records(matching: some).contains { $0["id"]?.string.map { !ids.contains($0) } ?? false }
    }

    /// Returns the audit's newest entry of an edit of the record that a delete replaced before it was sent.
    func folded(_ id: RecordID, in table: String) throws -> AuditEntry? {
        let query = TableQuery(
            SyncTables.audit.name, filter: Self.equals("what", AuditEntry.folded),
            order: [.init("at", descending: true)])
        return try store.records(matching: query).lazy.map { try AuditEntry(record: $0) }
            .first { $0.operation.recordID == id && $0.operation.table == table }
    }

    /// Counts the operations of other users.
    func count(notOf user: String) throws -> Int {
        let ofOthers = QueryExpression.binary(
            .and, .binary(.ne, .column("user"), .literal(.null)),
            .binary(.ne, .column("user"), .literal(.string(user))))
        return try store.count(matching: TableQuery(TableOperation.schema.name, filter: ofOthers))
    }

    /// Counts the operations in that state.
    func count(_ state: TableOperation.State) throws -> Int {
        try store.count(matching: TableQuery(TableOperation.schema.name, filter: Self.equals("state", state.rawValue)))
    }

    /// Counts the operations that wait for a decision.
    func countOfHeld() throws -> Int { try count(.parked) + count(.dead) }

    private static var isWaiting: QueryExpression {
        .binary(
            .or, equals("state", TableOperation.State.pending.rawValue),
            equals("state", TableOperation.State.inFlight.rawValue))
    }

    /// Returns the engine's state of a record with operations.
    package func state(of recordID: RecordID, in table: String) throws -> RecordState? {
        try store.record(RecordState.id(table, recordID), in: RecordState.schema.name)
            .map { try RecordState(record: $0) }
    }

    /// Whether the server has, as far as is known, a record of the table with operations.
    func hasServerRecords(in table: String) throws -> Bool {
        let isKnown = QueryExpression.binary(.ne, .column("mirror"), .literal(.null))
        let states = TableQuery(
            RecordState.schema.name, filter: .binary(.and, Self.equals("table", table), isKnown), top: 1,
            select: ["id"])
        return try !store.records(matching: states).isEmpty
    }

    /// Returns the sequence of a new operation at the end of the queue.
    func nextSequence() throws -> Int64 {
        try (store.largest("sequence", in: TableOperation.schema.name) ?? 0) + 1
    }
}
