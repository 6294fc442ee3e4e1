/// The queue as an operator sees it: what waits, why, and what to do about it.
public struct SyncQueue: Sendable {
    let context: SyncContext

    /// All operations in the order in which they will be sent.
    public func operations() async throws -> [TableOperation] {
        try await context.store.read { try QueueReader($0).all() }
    }

    /// The operation with that id, or nil.
    public func operation(_ id: String) async throws -> TableOperation? {
        try await context.store.read { try QueueReader($0).operation(id) }
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
        try await context.store.read { reader in
            let state = try QueueReader(reader).state(of: operation.recordID, in: operation.table)
            let local = try reader.record(operation.recordID, in: operation.table)
            return Copies(local: local, base: state?.base, mirror: state?.mirror)
        }
    }

    /// Has the next push try a parked or dead operation again.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an id that is not in the queue.
    public func retry(_ id: String) async throws {
        try await context.store.write { writer in
            let queue = QueueWriter(writer)
            var operation = try find(id, queue.reader)
            guard operation.state != .inFlight else { return }
            operation.state = .pending
            operation.failure = nil
            try queue.put(operation)
        }
    }

    /// Gives an operation up and restores the record as the server last had it. Edits that were made on top of it while
    /// it was under way stay: what is to be sent for them is derived anew; only those of a record that is no longer
    /// restored go with the undelete. The audit keeps what was given up. Waits for a push that is under way.
    ///
    /// - Parameter revision: the operation's ``TableOperation/revision`` as it was when the decision was made; nil
    ///   discards it whatever it has become.
    /// - Throws: ``SluiceError`` of code `operationRefused` if the record was edited since that revision; of code
    ///   `invalidArgument` for an id that is not in the queue, and inside of a conflict handler or a filter, whose push
    ///   would wait for itself.
    public func discard(_ id: String, revision: Int? = nil) async throws {
        let environment = context.options.environment
        let columns = context.dialect.pushColumns
        // Behind a push that runs: what is being sent cannot be given up.
        try await context.exclusively { store in
            try await store.write { writer in
                let queue = QueueWriter(writer)
                let operation = try find(id, queue.reader)
                guard revision == nil || revision == operation.revision else {
                    throw SluiceError(
                        .operationRefused,
                        "the record was edited since; look at the operation again before discarding it",
                        table: operation.table, recordID: operation.recordID, operationID: id)
                }
                try Discard(
                    operation: operation, columns: columns, environment: environment, store: writer,
                    queue: queue
                ).carryOut()
            }
        }
    }

    private func find(_ id: String, _ queue: QueueReader) throws -> TableOperation {
        guard let operation = try queue.operation(id) else {
            throw SluiceError(.invalidArgument, "there is no such operation in the queue", operationID: id)
        }
        return operation
    }
}
