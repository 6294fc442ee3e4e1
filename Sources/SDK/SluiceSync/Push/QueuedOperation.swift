internal import SluiceBase
internal import SluiceWire

/// The record that an operation is ordered by. A GUID is equal in any case: the server may spell it otherwise than the
/// device, and a column of a child otherwise than both.
struct RecordKey: Sendable, Hashable {
    let table: String
    let id: RecordID

    init(_ table: String, _ id: RecordID) {
        self.table = table
        self.id = id.caseless
    }
}

/// An operation reduced to the data that orders a push: of its content only the references.
struct QueuedOperation: Sendable, Hashable {
    /// The operation's id.
    package var id: String
    /// The place in the queue.
    package var sequence: Int64
    /// The table.
    package var table: String
    /// The record.
    package var recordID: RecordID
    /// The kind of the operation.
    package var kind: TableOperation.Kind
    /// The transaction group.
    package var group: String?
    /// The user who made the change; empty for no particular user.
    package var user = ""
    /// The application's tags.
    package var tags: Set<String> = []
    /// Whether it waits for a decision: pushes skip it.
    package var isHeld = false
    /// The records referenced by its record, by the columns of the declared dependencies.
    var parents: Set<RecordKey> = []
    /// The records referenced on the server until this operation is applied, as far as known.
    var formerParents: Set<RecordKey> = []
    /// The places of the operations that create its parents, as far as the schedule knows them.
    var knownMakers: Set<Int64> = []
    /// Whether a dependency without a column applies to this table.
    var isOrderedByTable = false

    package init(id: String, sequence: Int64, table: String, recordID: RecordID, kind: TableOperation.Kind) {
        self.id = id
        self.sequence = sequence
        self.table = table
        self.recordID = recordID
        self.kind = kind
    }

    var key: RecordKey { RecordKey(table, recordID) }
    var makesRecord: Bool { kind.makesRecord }
}

extension TableOperation.Kind {
    /// Whether the record exists on the server only after the operation.
    fileprivate var makesRecord: Bool { self == .insert || self == .undelete }
}

/// Reads the queue for the schedule of a push: once, and then only later operations.
struct QueueOutline {
    let store: any StoreReader
    let dependencies: [TableDependency]
    /// The number of operations read at a time.
    let part: Int

    init(store: any StoreReader, _ options: SyncOptions) {
        self.store = store
        (dependencies, part) = (options.dependencies, options.queuePart)
    }

    /// Returns the operations after that place of the queue, or from its beginning: all of them, or the first part.
    ///
    /// Without table dependencies and groups an operation depends only on earlier ones of its record. Then a long queue
    /// is read in parts.
    func event(after sequence: Int64?) throws -> PushSession.Event {
        guard sequence == nil, dependencies.isEmpty, try !hasGroups() else {
            return .queued(try operations(after: sequence ?? 0))
        }
        let first = try operations(after: 0, most: part)
        guard first.count == part else { return .queued(first) }
        return .firstPart(first, last: try QueueReader(store).nextSequence() - 1)
    }

    private func hasGroups() throws -> Bool {
        let inGroup = QueryExpression.binary(.ne, .column("group"), .literal(.null))
        return try !store.records(
            matching: TableQuery(TableOperation.schema.name, filter: inGroup, top: 1, select: ["id"])
        )
        .isEmpty
    }

    /// Returns the operations after that place of the queue, in order.
    ///
    /// They are read in parts, because the records of a long queue take much more memory than the reduced operations.
    private func operations(after sequence: Int64) throws -> [QueuedOperation] {
        var operations: [QueuedOperation] = []
        while true {
            let next = try self.operations(after: operations.last?.sequence ?? sequence, most: part)
            operations += next
            if next.count < part { return operations }
        }
    }

    /// Returns the next part of the queue after the first place, up to and including the second.
    func part(after sequence: Int64, through last: Int64) throws -> [QueuedOperation] {
        try operations(after: sequence, through: last, most: part)
    }

    private func operations(
        after sequence: Int64, through last: Int64 = .max, most: Int
    ) throws -> [QueuedOperation] {
        func isPlace(_ comparison: QueryExpression.BinaryOperator, _ place: Int64) -> QueryExpression {
            .binary(comparison, .column("sequence"), .literal(.number(JSON.Number(place))))
        }
        let query = TableQuery(
            TableOperation.schema.name,
            filter: .binary(.and, isPlace(.gt, sequence > 0 ? sequence : .min), isPlace(.le, last)),
            order: [.init("sequence")], top: most,
            select: ["id", "sequence", "table", "record", "kind", "state", "group", "tags", "user"])
        return try store.records(matching: query).map(operation)
    }

    /// Counts the operations that the next push of the selection can send, several of a record one after the other. A
    /// failed or postponed operation bars those that wait for it.
    func countOfFree(_ selection: PushSelection, except abandoned: Set<String>, at now: Timestamp) throws -> Int {
        func ids(_ isFailed: QueryExpression.BinaryOperator, top: Int? = nil) throws -> [String] {
            let filter = QueryExpression.binary(isFailed, .column("failure"), .literal(.null))
            let query = TableQuery(TableOperation.schema.name, filter: filter, top: top, select: ["id"])
            return try store.records(matching: query).compactMap { $0["id"]?.string }
        }
        if try ids(.eq, top: 1).isEmpty { return 0 }
        let delayed = try QueueReader(store).delayed().filter { $0.waits(at: now) }.map(\.id)
        let barred = try abandoned.union(ids(.ne)).union(delayed)
        var schedule = PushSchedule(dependencies: dependencies, selection: selection)
        schedule.add(
            try operations(after: 0).map { operation in
                var operation = operation
                if barred.contains(operation.id) { operation.isHeld = true }
                return operation
            })
        return schedule.countOfSent()
    }

    /// Whether the operation's record now refers to an uncreated parent unknown to the schedule, so that the operation
    /// may be ahead of its turn. Either the reference has changed since the queue was read, or a decision has turned
    /// the parent's update into an insert.
    func isAheadOfParent(_ operation: QueuedOperation) throws -> Bool {
        let references = references(of: operation.table)
        guard operation.kind != .delete, !references.isEmpty else { return false }
        var current = operation
        try addParents(of: &current, references)
        return try current.parents.subtracting([operation.key]).contains { parent in
            let isNew = !operation.parents.contains(parent)
            return try QueueReader(store).all(on: parent.id, in: parent.table).enumerated().contains { index, change in
                change.kind.makesRecord && !operation.knownMakers.contains(change.sequence)
                    && (isNew || index == 0 || change.sequence < operation.sequence)
            }
        }
    }

    private func operation(_ record: JSON) throws -> QueuedOperation {
        guard let id = record["id"]?.string, let sequence = record["sequence"]?.int,
            let table = record["table"]?.string, let recordID = record["record"]?.textID,
            let kind = record["kind"]?.string.flatMap(TableOperation.Kind.init),
            let state = record["state"]?.string.flatMap(TableOperation.State.init)
        else {
            throw SluiceError(
                .storeCorrupt, "the queue holds an operation that cannot be read", operationID: record["id"]?.string)
        }
        var operation = QueuedOperation(id: id, sequence: sequence, table: table, recordID: recordID, kind: kind)
        operation.group = record["group"]?.string
        operation.user = record["user"]?.string ?? ""
        operation.tags = Set((record["tags"]?.elements ?? []).compactMap(\.string))
        operation.isHeld = state == .parked || state == .dead
        let own = dependencies.filter { $0.child == table || $0.parent == table }
        operation.isOrderedByTable = own.contains { $0.column == nil }
        let references = references(of: table)
        if !references.isEmpty { try addParents(of: &operation, references) }
        return operation
    }

    private func references(of table: String) -> [TableDependency] {
        dependencies.filter { $0.child == table && $0.column != nil }
    }

    private func addParents(of operation: inout QueuedOperation, _ references: [TableDependency]) throws {
        func parents(_ record: JSON?) -> [RecordKey] {
            references.compactMap { reference in
                record?[reference.column ?? ""]?.textID.map { RecordKey(reference.parent, $0) }
            }
        }
        let queue = QueueReader(store)
        let stored = try queue.operation(operation.id)
        let state = try queue.state(of: operation.recordID, in: operation.table)
        let local = try store.record(operation.recordID, in: operation.table)
        operation.parents = Set(
            [local, stored?.frozen, stored?.sent.last?.local, operation.kind == .undelete ? state?.base : nil]
                .flatMap(parents))
        // Earlier operations of the record also set references on the server.
        let earlier = try queue.all(on: operation.recordID, in: operation.table)
            .filter { $0.sequence < operation.sequence }
        operation.formerParents = Set(
            ([state?.base] + earlier.flatMap { [$0.frozen, $0.sent.last?.local] }).flatMap(parents))
    }
}
