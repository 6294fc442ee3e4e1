public import SluiceBase

extension SyncQueue {
    /// Gives an operation up and restores the record as the server last had it, or as the operation before it makes
    /// it. Edits that were made on top of it stay: what is to be sent for them is derived anew; only those of a record
    /// that is no longer restored go with the undelete. Of a group all is given up. The audit keeps what was given up.
    /// Waits for a push that is under way.
    ///
    /// - Parameters:
    ///   - revision: the operation's ``TableOperation/revision`` as it was when the decision was made; nil discards it
    ///     whatever it has become.
    ///   - goesOnElsewhere: whether the operation was exported and is sent from another store. Else a row that a lost
    ///     insert makes after all is deleted again when a pull brings it.
    /// - Throws: ``SluiceError`` of code `operationRefused` if the record was edited since that revision; of code
    ///   `invalidArgument` for an id that is not in the queue, and inside of a conflict handler or a filter, whose push
    ///   would wait for itself.
    public func discard(_ id: String, revision: Int? = nil, goesOnElsewhere: Bool = false) async throws {
        try await repair(id, revision) { operation, tools in
            try Discard(
                columns: tools.columns, environment: tools.environment, store: tools.store, queue: tools.queue,
                reason: goesOnElsewhere ? "moved elsewhere" : "discard", lateRowsStay: goesOnElsewhere
            ).carryOut(operation)
        }
    }

    /// Gives a pending, parked or dead insert or update a new body, and has the next push send it, with all of its
    /// group. Edits that were made on top of it stay on top.
    ///
    /// - Parameters:
    ///   - record: the whole record as the operation is to make it. What only the server sets is not taken from it.
    ///   - revision: see ``discard(_:revision:goesOnElsewhere:)``.
    /// - Throws: as ``discard(_:revision:goesOnElsewhere:)``; of code `operationRefused` for an operation without a
    ///   body, one that is on its way, one whose group may have arrived, and one that another user made (take it over
    ///   first); of code `invalidRecord` for another id.
    public func edit(_ id: String, to record: JSON, revision: Int? = nil) async throws {
        try await repair(id, revision, changesContent: true) { operation, tools in
            try OperationEdit(
                columns: tools.columns, environment: tools.environment, store: tools.store, queue: tools.queue
            ).carryOut(operation, record)
        }
    }

    /// Makes an operation one of another kind, for a server whose record is not what it was: an update becomes an
    /// insert where the server's record is gone, an insert an update or a delete where the record is there, a delete an
    /// update that takes it back, an update a delete.
    ///
    /// - Parameters:
    ///   - record: the whole record as the operation is to make it; nil leaves it as the application sees it, and for a
    ///     delete that is taken back as the server last had it.
    ///   - revision: see ``discard(_:revision:goesOnElsewhere:)``.
    /// - Throws: as ``edit(_:to:revision:)``; of code `operationRefused` where the change makes no sense with what is
    ///   known of the server's record, or other changes of the record wait too.
    public func changeKind(
        _ id: String, to kind: TableOperation.Kind, record: JSON? = nil, revision: Int? = nil
    ) async throws {
        try await repair(id, revision, changesContent: true) { operation, tools in
            try KindChange(
                columns: tools.columns, environment: tools.environment, store: tools.store, queue: tools.queue
            ).carryOut(operation, to: kind, record: record)
        }
    }

    /// Decides a conflict that is held, as a handler would have.
    ///
    /// - Parameters:
    ///   - decision: `server`, `client`, `merge`, `delete` or `discard`. What remains is sent by the next
    ///     push.
    ///   - revision: see ``discard(_:revision:goesOnElsewhere:)``.
    /// - Throws: as ``discard(_:revision:goesOnElsewhere:)``; of code `operationRefused` if the operation is no held
    ///   conflict, or the server's record has changed since it was held: retry it to see the new one; and for `merge`
    ///   and `delete` of what another user made.
    public func resolve(_ id: String, _ decision: ConflictDecision, revision: Int? = nil) async throws {
        try await repair(id, revision, changesContent: decision.changesContent) { operation, tools in
            try HeldConflict(
                operation: operation, columns: tools.columns, environment: tools.environment, store: tools.store,
                queue: tools.queue
            ).settle(decision)
        }
    }

    /// The properties, except for the server's own, that the record of an operation has wherever it is known, here and on
    /// the server. What takes its place and does not name them removes them.
    package func properties(of id: String) async throws -> [PropertyName] {
        let system = context.dialect.pushColumns.system
        guard let operation = try await context.shared.read({ try QueueReader($0).operation(id) }) else { return [] }
        let copies = try await copies(of: operation)
        let sides = [copies.local, copies.mirror].compactMap { $0 }
        return (sides.first?.names ?? []).filter { name in
            name != "id" && !system.contains(name) && sides.allSatisfy { !($0[name] ?? .null).isNull }
        }
    }

    /// Takes back all that waits for a record: it is again as the server last had it, and a record that was made here
    /// is gone. Of its groups all is given up. The audit keeps what was taken back. Waits for a push that is under way.
    ///
    /// - Returns: the record as it is now; nil if there is none.
    /// - Throws: ``SluiceError`` of code `invalidArgument` if nothing waits for the record; of code `operationRefused`
    ///   while it is not known what became of a send.
    @discardableResult
    public func undo(_ id: some RecordIDConvertible, in table: String) async throws -> JSON? {
        try SyncTables.validate(table)
        return try await exclusively { tools in
            try Undo(
                columns: tools.columns, environment: tools.environment, store: tools.store, queue: tools.queue
            ).carryOut(id.recordID, in: table)
        }
    }

    /// What a repair works with, inside its transaction.
    struct Tools {
        let columns: PushColumns
        let environment: SyncEnvironment
        let store: any StoreWriter
        let queue: QueueWriter
    }

    /// - Parameter changesContent: whether it puts content into the operation that its maker did not write.
    private func repair(
        _ id: String, _ revision: Int?, changesContent: Bool = false,
        _ body: @Sendable (TableOperation, Tools) throws -> Void
    ) async throws {
        let user = context.options.user
        try await exclusively { tools in
            let operation = try Self.find(id, tools.queue.reader)
            guard revision == nil || revision == operation.revision else {
                throw SluiceError(
                    .operationRefused, "the record was edited since; look at the operation again before deciding",
                    table: operation.table, recordID: operation.recordID, operationID: id)
            }
            guard !changesContent || operation.belongs(to: user) else {
                throw SluiceError(
                    .operationRefused,
                    "another user made the operation, and it goes out in that user's name; take it over first",
                    table: operation.table, recordID: operation.recordID, operationID: id)
            }
            try body(operation, tools)
        }
    }

    /// After a push that runs: what is being sent cannot be changed.
    private func exclusively<Result: Sendable>(_ body: @Sendable (Tools) throws -> Result) async throws -> Result {
        let environment = context.options.environment
        let columns = context.dialect.pushColumns
        return try await context.exclusively { store in
            try await store.write(at: .localChange, environment) { writer in
                try body(
                    Tools(columns: columns, environment: environment, store: writer, queue: QueueWriter(writer)))
            }
        }
    }
}
