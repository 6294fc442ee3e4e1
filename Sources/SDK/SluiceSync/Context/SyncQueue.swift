public import SluiceBase
internal import SluiceWire

/// The queue for an operator: the waiting operations, their reasons, and the means to repair them.
///
/// ```swift
/// for operation in try await context.queue.operations(TableOperation.Filter(states: [.parked, .dead])) {
///     print(operation.id, operation.failure?.message ?? "")
/// }
/// ```
///
/// Each call is one transaction. Calls that change an operation wait for a push under way, and are noted in the audit.
public struct SyncQueue: Sendable {
    let context: SyncContext

    /// Returns the operations that match the filter, all without one, in the order of sending.
    public func operations(_ filter: TableOperation.Filter = TableOperation.Filter()) async throws -> [TableOperation] {
        try await context.shared.read { try QueueReader($0).all(filter) }
    }

    /// Returns `top` operations that match the filter after the first `skip`, in the order of sending. For a queue
    /// that is too long to be in memory as a whole.
    public func operations(
        _ filter: TableOperation.Filter = TableOperation.Filter(), skip: Int, top: Int
    ) async throws -> [TableOperation] {
        guard skip >= 0, top >= 0 else {
            throw SluiceError(.invalidArgument, "skip and top cannot be negative")
        }
        return try await context.shared.read { try QueueReader($0).some(filter, skip: skip, top: top) }
    }

    /// Counts the operations that match the filter.
    public func count(_ filter: TableOperation.Filter = TableOperation.Filter()) async throws -> Int {
        try await context.shared.read { try QueueReader($0).count(filter) }
    }

    /// Returns the operation with that id, or nil.
    public func operation(_ id: String) async throws -> TableOperation? {
        try await context.shared.read { try QueueReader($0).operation(id) }
    }

    /// Three copies of a record: the application's, the base of its oldest waiting change, and the server's newest
    /// known one.
    public struct Copies: Sendable, Hashable {
        /// The record as the application sees it.
        public var local: JSON?
        /// The record on which the oldest waiting change was made.
        public var base: JSON?
        /// The newest record known from the server.
        public var mirror: JSON?
    }

    /// Returns the copies of the operation's record.
    public func copies(of operation: TableOperation) async throws -> Copies {
        try await context.shared.read { reader in
            let state = try QueueReader(reader).state(of: operation.recordID, in: operation.table)
            let local = try reader.record(operation.recordID, in: operation.table)
            return Copies(local: local, base: operation.base(on: state?.base), mirror: state?.mirror)
        }
    }

    /// Returns the record after the operation, without later changes; nil for a delete.
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

    /// Returns the operations that were given up or changed on purpose, the oldest first.
    public func audit() async throws -> [AuditEntry] {
        let query = TableQuery(SyncTables.audit.name, order: [.init("at")])
        return try await context.shared.read { try $0.records(matching: query).map { try AuditEntry(record: $0) } }
    }

    /// Makes the next push try a parked or dead operation again, and all of its group.
    ///
    /// A creation that is held as `maybeApplied` is sent once more, under the same request id. If its first send took
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

    /// Makes the next push try the parked and dead operations that match the filter again, with their groups.
    /// Creations that are held as `maybeApplied` stay: each of them is a decision of its own, ``retry(_:)``.
    ///
    /// - Returns: the number of held operations that match, other members of their groups not counted.
    @discardableResult
    public func retryAll(_ filter: TableOperation.Filter = TableOperation.Filter()) async throws -> Int {
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
    /// Takes over operations of other users, with their groups. From now on pushes of this context's user send them,
    /// for example after a user without a name has got one with new credentials. Each is noted in the audit. Waits for
    /// a push that is under way.
    ///
    /// - Parameter filter: the operations to take over; all without one.
    /// - Returns: the number of operations taken over.
    /// - Throws: ``SluiceError`` of code `invalidArgument` inside of a conflict handler or a filter, and of the store.
    @discardableResult
    public func takeOver(_ filter: TableOperation.Filter = TableOperation.Filter()) async throws -> Int {
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
                    // The server has refused the other user, not this one.
                    if operation.isHeld, [.unauthorized, .forbidden].contains(operation.failure?.reason) {
                        operation.revive()
                    }
                    try queue.put(operation)
                }
                return others.count
            }
        }
    }
}

extension SyncQueue {
    /// Exports the operations that match the filter as a text, one JSON document a line. It holds all that another
    /// store needs to send them: their records, the base of these, tags, groups, and the reason for waiting. It holds
    /// no credentials. The operations stay in the queue.
    ///
    /// A group, or a record's operations, of which only some match cannot be imported. Filter by table or by record to
    /// get them whole.
    public func export(_ filter: TableOperation.Filter = TableOperation.Filter()) async throws -> String {
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
            base: isFirst ? operation.base(on: state?.base) : nil, mirror: isFirst ? state?.mirror : nil,
            members: try operation.group.map { try queue.members(of: $0).count })
    }

    /// Adds exported operations to the end of this queue and their records to the store: all of them, or none.
    /// Operations that are in the queue or were imported before are skipped, so that the same text may be imported
    /// again.
    ///
    /// - Parameter text: the text of ``export(_:)``. Nothing in it is trusted, because anyone may have written it.
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a line that is no operation; `operationsPending` for a
    ///   record that has changes waiting here; `recordExists` for an insert of a record that is here;
    ///   `operationRefused` for a group that cannot be sent or is not whole: it has as many members as each line says,
    ///   none of them in the queue or imported before.
    @discardableResult
    public func `import`(_ text: String) async throws -> TableOperation.Import {
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
