public import SluiceBase
internal import SluiceWire

/// The queue as an operator sees it: what waits, why, and what to do about it.
///
/// ```swift
/// for operation in try await context.queue.operations(QueueFilter(states: [.parked, .dead])) {
///     print(operation.id, operation.failure?.message ?? "")
/// }
/// ```
///
/// Each call is one transaction. What changes an operation waits for a push under way, and is noted in the audit.
public struct SyncQueue: Sendable {
    let context: SyncContext

    /// The operations that the filter takes, all without one, in the order in which they will be sent.
    public func operations(_ filter: QueueFilter = QueueFilter()) async throws -> [TableOperation] {
        try await context.shared.read { try QueueReader($0).all(filter) }
    }

    /// Some of the operations that the filter takes, in the order in which they will be sent: `top` of them after the
    /// first `skip`. For a queue that is too long to be in memory as a whole.
    public func operations(
        _ filter: QueueFilter = QueueFilter(), skip: Int, top: Int
    ) async throws -> [TableOperation] {
        guard skip >= 0, top >= 0 else {
            throw SluiceError(.invalidArgument, "skip and top cannot be negative")
        }
        return try await context.shared.read { try QueueReader($0).some(filter, skip: skip, top: top) }
    }

    /// How many operations the filter takes.
    public func count(_ filter: QueueFilter = QueueFilter()) async throws -> Int {
        try await context.shared.read { try QueueReader($0).count(filter) }
    }

    /// The operation with that id, or nil.
    public func operation(_ id: String) async throws -> TableOperation? {
        try await context.shared.read { try QueueReader($0).operation(id) }
    }

    /// Three copies of a record: what the application sees, what its oldest waiting change was made on, and the newest
    /// that is known from the server.
    public struct Copies: Sendable, Hashable {
        /// What the application sees.
        public var local: JSON?
        /// What the oldest waiting change was made on.
        public var base: JSON?
        /// The newest that is known from the server.
        public var mirror: JSON?
    }

    /// The copies of the record that the operation is on.
    public func copies(of operation: TableOperation) async throws -> Copies {
        try await context.shared.read { reader in
            let state = try QueueReader(reader).state(of: operation.recordID, in: operation.table)
            let local = try reader.record(operation.recordID, in: operation.table)
            return Copies(local: local, base: state?.base, mirror: state?.mirror)
        }
    }

    /// The record as the operation makes it, without the changes after it; nil for a delete.
    public func body(of operation: TableOperation) async throws -> JSON? {
        try await context.shared.read { reader in
            let queue = QueueReader(reader)
            let local = try reader.record(operation.recordID, in: operation.table)
            let last = try queue.all(on: operation.recordID, in: operation.table).last
            if last?.id == operation.id { return local }
            let mirror = try queue.state(of: operation.recordID, in: operation.table)?.mirror
            return operation.resultingRecord(local: local, mirror: mirror)
        }
    }

    /// What was given up or changed on purpose, the oldest first.
    public func audit() async throws -> [AuditEntry] {
        let query = Query(SyncTables.audit.name, order: [.init("at")])
        return try await context.shared.read { try $0.records(matching: query).map { try AuditEntry(record: $0) } }
    }

    /// Has the next push try a parked or dead operation again, and all of its group.
    ///
    /// A creation that is held as `maybeApplied` is sent once more, under the same request id: where its first send took
    /// effect after all, and the service does not remember ids, there are then two rows.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an id that is not in the queue.
    public func retry(_ id: String) async throws {
        try await context.shared.write(at: .localChange, context.options.environment) { writer in
            let queue = QueueWriter(writer)
            var operation = try Self.find(id, queue.reader)
            if let group = operation.group { return try queue.revive(group) }
            guard operation.state != .inFlight else { return }
            if operation.isMaybeApplied { operation.forgetDoubt() }
            operation.revive()
            try queue.put(operation)
        }
    }

    /// Has the next push try all parked and dead operations again that the filter takes, with their groups. Creations that
    /// are held as `maybeApplied` stay: each of them is a decision of its own, ``retry(_:)``.
    ///
    /// - Returns: how many they are, those of the groups not counted.
    @discardableResult
    public func retryAll(_ filter: QueueFilter = QueueFilter()) async throws -> Int {
        try await context.shared.write(at: .localChange, context.options.environment) { writer in
            let queue = QueueWriter(writer)
            let held = try queue.reader.all(filter).filter { $0.isHeld && !$0.isMaybeApplied }
            for var operation in held {
                operation.revive()
                try queue.put(operation)
            }
            for group in Set(held.compactMap(\.group)).sorted() { try queue.revive(group) }
            return held.count
        }
    }

    static func find(_ id: String, _ queue: QueueReader) throws -> TableOperation {
        guard let operation = try queue.operation(id) else {
            throw SluiceError(.invalidArgument, "there is no such operation in the queue", operationID: id)
        }
        return operation
    }
}

extension SyncQueue {
    /// Takes operations over that another user made, with their groups: pushes of this context's user send them from
    /// now on. For example for a user whose credentials were renewed and who had no name before. Each is noted in the
    /// audit. Waits for a push that is under way.
    ///
    /// - Parameter filter: which of them; all without one.
    /// - Returns: how many they are.
    /// - Throws: ``SluiceError`` of code `invalidArgument` inside of a conflict handler or a filter, and of the store.
    @discardableResult
    public func takeOver(_ filter: QueueFilter = QueueFilter()) async throws -> Int {
        let (environment, user) = (context.options.environment, context.options.user)
        return try await context.exclusively { store in
            try await store.write(at: .localChange, environment) { writer in
                let queue = QueueWriter(writer)
                let chosen = try queue.reader.all(filter)
                let groups = Set(chosen.compactMap(\.group))
                let others = try queue.reader.all().filter { operation in
                    !operation.belongs(to: user)
                        && (chosen.contains { $0.id == operation.id } || operation.group.map(groups.contains) ?? false)
                }
                for var operation in others {
                    try queue.audit(operation, "take over", local: nil, at: environment.now())
                    operation.user = user
                    try queue.put(operation)
                }
                return others.count
            }
        }
    }
}

extension SyncQueue {
    /// The operations that the filter takes as a text, one JSON document a line, with all that another store needs to
    /// carry them on: their records, what these were made on, tags, groups, and why they wait. It holds no credentials.
    /// The operations stay in the queue.
    ///
    /// A group or a record's operations of which the filter takes only some cannot be imported by themselves; filter by
    /// table or by record for a text that can.
    public func export(_ filter: QueueFilter = QueueFilter()) async throws -> String {
        let lines = try await context.shared.read { reader in
            let queue = QueueReader(reader)
            return try queue.all(filter).map { try Self.document($0, reader, queue).json.description }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func document(
        _ operation: TableOperation, _ reader: any StoreReader, _ queue: QueueReader
    ) throws -> OperationDocument {
        let (table, id) = (operation.table, operation.recordID)
        let all = try queue.all(on: id, in: table)
        let state = try queue.state(of: id, in: table)
        let local = try reader.record(id, in: table)
        let isLast = all.last?.id == operation.id
        let isFirst = all.first?.id == operation.id
        return OperationDocument(
            operation, after: isLast ? local : operation.resultingRecord(local: local, mirror: state?.mirror),
            base: isFirst ? state?.base : nil, mirror: isFirst ? state?.mirror : nil,
            members: try operation.group.map { try queue.members(of: $0).count })
    }

    /// Puts exported operations at the end of this queue and their records into the store: all of them, or none. Those
    /// that are in the queue or were imported before are skipped, so that the same text may be imported again.
    ///
    /// - Parameter text: what ``export(_:)`` made, or someone else: it is believed nothing.
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a line that is no operation; `operationsPending` for a
    ///   record that has changes waiting here; `recordExists` for an insert of a record that is here;
    ///   `operationRefused` for a group that cannot be sent or is not whole: as many as each line says it has, none of
    ///   them in the queue or imported before.
    @discardableResult
    public func `import`(_ text: String) async throws -> QueueImport {
        let columns = context.dialect.pushColumns
        let environment = context.options.environment
        let groupLimit = try? context.groupLimit()
        var documents: [OperationDocument] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy(\.isWhitespace) { continue }
            documents.append(try OperationDocument(parsing: line, line: index + 1, system: columns.system))
        }
        let imported = documents
        return try await context.shared.write(at: .localChange, environment) { writer in
            let staying = try LocalOnly(writer).tables
            if let table = imported.map(\.operation.table).first(where: staying.contains) {
                throw SluiceError(
                    .operationRefused, "the table stays on this machine, and nothing of it is queued", table: table)
            }
            return try OperationImport(
                environment: environment, columns: columns, groupLimit: groupLimit, store: writer,
                queue: QueueWriter(writer)
            ).carryOut(imported)
        }
    }
}
