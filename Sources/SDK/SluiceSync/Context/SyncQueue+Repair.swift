public import SluiceBase
internal import SluiceWire

extension SyncQueue {
    /// Gives an operation up. The record becomes again the server's last one, or the result of the operation before.
    /// Later edits of the record stay, and their requests are recomputed. Only with an undelete its later edits go
    /// too, if it no longer restores the record. The whole group is given up with it. The audit keeps all of them.
    /// Waits for a push that is under way.
    ///
    /// - Parameters:
    ///   - revision: the operation's ``TableOperation/revision`` at the time of the decision; nil discards the
    ///     operation in any state.
    ///   - goesOnElsewhere: whether the operation was exported and is sent from another store. If not, a row that a
    ///     lost insert makes after all is deleted again when a pull brings it.
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

    /// Gives a pending, parked or dead insert or update a new body. The next push sends it, with all of its group.
    /// Later edits of the record stay on top.
    ///
    /// - Parameters:
    ///   - record: the whole record after the operation. Properties that only the server sets are ignored.
    ///   - revision: see ``discard(_:revision:goesOnElsewhere:)``.
    /// - Throws: as ``discard(_:revision:goesOnElsewhere:)``; of code `operationRefused` for an operation without a
    ///   body, one that is on its way, one whose group may have arrived, an insert that may have arrived at an OData service, and one that another user made (take it over
    ///   first); of code `invalidRecord` for another id.
    public func edit(_ id: String, to record: JSON, revision: Int? = nil) async throws {
        let namesKeys = context.dialect.namesKeys
        try await repair(id, revision, changesContent: true) { operation, tools in
            if namesKeys, operation.kind == .insert, operation.isUncertain, !operation.isHeld {
                throw operation.unknownOutcome("its service may have made the row, and knows it by this request alone")
            }
            try OperationEdit(
                columns: tools.columns, environment: tools.environment, store: tools.store, queue: tools.queue
            ).carryOut(operation, record)
        }
    }

    /// Changes the kind of an operation, because the server's record is in another state than expected. An update
    /// becomes an insert if the server's record is gone. An insert becomes an update or a delete if the record is
    /// there. A delete becomes an update that takes it back, and an update a delete.
    ///
    /// - Parameters:
    ///   - record: the whole record after the operation. Nil leaves it as the application sees it, or as the server
    ///     last had it for a delete that is taken back.
    ///   - revision: see ``discard(_:revision:goesOnElsewhere:)``.
    /// - Throws: as ``edit(_:to:revision:)``; of code `operationRefused` where the change does not fit the known state
    ///   of the server's record, or other changes of the record wait too.
    public func changeKind(
        _ id: String, to kind: TableOperation.Kind, record: JSON? = nil, revision: Int? = nil
    ) async throws {
        try await repair(id, revision, changesContent: true) { operation, tools in
            try KindChange(
                columns: tools.columns, environment: tools.environment, store: tools.store, queue: tools.queue
            ).carryOut(operation, to: kind, record: record)
        }
    }

    /// Decides a held conflict, in place of a handler.
    ///
    /// - Parameters:
    ///   - decision: `server`, `client`, `merge`, `delete` or `discard`. The next push sends the remaining change.
    ///   - revision: see ``discard(_:revision:goesOnElsewhere:)``.
    /// - Throws: as ``discard(_:revision:goesOnElsewhere:)``; of code `operationRefused` if the operation is no held
    ///   conflict, or the server's record has changed since it was held: retry it to see the new one; and for `merge`
    ///   and `delete` of another user's operation.
    public func resolve(_ id: String, _ decision: ConflictDecision, revision: Int? = nil) async throws {
        try await repair(id, revision, changesContent: decision.changesContent) { operation, tools in
            try HeldConflict(
                operation: operation, columns: tools.columns, environment: tools.environment, store: tools.store,
                queue: tools.queue
            ).settle(decision)
        }
    }

    /// Returns the properties that the record of an operation has in all known copies, here and on the server, except
    /// for the server's own. A replacing record that does not name them removes them.
    package func properties(of id: String) async throws -> [PropertyName] {
        let system = context.dialect.pushColumns.system
        guard let operation = try await context.shared.read({ try QueueReader($0).operation(id) }) else { return [] }
        let copies = try await copies(of: operation)
        let sides = [copies.local, copies.mirror].compactMap { $0 }
        return (sides.first?.names ?? []).filter { name in
            name != "id" && !system.contains(name) && sides.allSatisfy { !($0[name] ?? .null).isNull }
        }
    }

    /// Takes back all waiting changes of a record. It is again the server's last one, and a record that was made here
    /// is gone. Its groups are given up as a whole. The audit keeps the changes. Waits for a push that is under way.
    ///
    /// - Returns: the record after the undo; nil if there is none.
    /// - Throws: ``SluiceError`` of code `invalidArgument` if nothing waits for the record; of code `operationRefused`
    ///   while the outcome of a send is unknown.
    @discardableResult
    public func undo(_ id: some RecordIDConvertible, in table: String) async throws -> JSON? {
        try SyncTables.validate(table)
        return try await exclusively { tools in
            try Undo(
                columns: tools.columns, environment: tools.environment, store: tools.store, queue: tools.queue
            ).carryOut(id.recordID, in: table)
        }
    }

    /// The store, queue and settings of a repair, inside its transaction.
    struct Tools {
        let columns: PushColumns
        let environment: SyncEnvironment
        let store: any StoreWriter
        let queue: QueueWriter
    }

    /// - Parameter changesContent: whether the repair adds content that the operation's maker did not write.
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

    /// Runs after a push that is under way, because an operation in flight cannot be changed.
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

/// Takes back all operations of a record, inside one transaction. The record returns to the server's last known state;
/// one made here is removed.
struct Undo {
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter

    /// - Returns: the record afterwards.
    func carryOut(_ id: RecordID, in table: String) throws -> JSON? {
        let all = try queue.reader.all(on: id, in: table)
        guard let first = all.first else {
            throw SluiceError(.invalidArgument, "no change of this record waits", table: table, recordID: id)
        }
        let groups = Set(all.compactMap(\.group))
        let others = try groups.sorted().flatMap { try queue.reader.members(of: $0) }
        if let sent = (all + others).first(where: { $0.state == .inFlight }) {
            throw sent.unknownOutcome("a change is on its way")
        }
        let mirror = try queue.reader.state(of: id, in: table)?.mirror
        if first.mayHaveMadeRecord(mirror: mirror) {
            throw first.unknownOutcome("the server may have the record already")
        }
        let discard = Discard(columns: columns, environment: environment, store: store, queue: queue, reason: "undo")
        for group in groups.sorted() { try discard.check(group) }
        let local = try store.record(id, in: table)
        for operation in all {
            let made = operation.id == all.last?.id ? local : operation.resultingRecord(local: local, mirror: mirror)
            try queue.audit(operation, "undo", local: made, at: environment.now())
            try queue.remove(operation)
        }
        try queue.setLocal(mirror, id, in: table)
        try queue.removeState(of: id, in: table)
        try discard.carryOut(groups: groups)
        return mirror
    }
}
