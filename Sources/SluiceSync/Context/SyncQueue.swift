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
