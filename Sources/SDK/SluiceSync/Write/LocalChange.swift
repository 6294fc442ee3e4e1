internal import SluiceBase

/// A change by the application: row and operation in one transaction.
struct LocalChange: Sendable {
    package let table: String
    package private(set) var recordID: RecordID
    package let kind: TableOperation.Kind
    /// The whole record for an insert, the changed properties for an update.
    package var content: JSON
    /// The options that the application gave.
    package let options: OperationOptions
    /// The transaction group of the change.
    package let group: String?
    /// The user who made the change.
    package let user: String
    /// The names of the properties that only the server sets.
    let systemColumns: Set<PropertyName>
    /// The tables and columns that stay on this machine.
    let localOnly: LocalOnly
    /// The whole record after an update, if a hook has set it.
    var replacement: JSON?
    /// Whether records have key properties of their own beside the id (``Dialect/namesKeys``).
    private let namesKeys: Bool
    /// Whether the row is written without an operation.
    var isLocalOnly = false
    /// Whether the record's id was made for this change (``SyncEnvironment/makeID``).
    private let hasNewID: Bool

    package init(
        _ kind: TableOperation.Kind, _ recordID: RecordID, in table: String, content: JSON = .object,
        options: OperationOptions = OperationOptions(), group: String? = nil, user: String = "",
        systemColumns: Set<PropertyName>, localOnly: LocalOnly = LocalOnly(),
        namesKeys: Bool = false
    ) {
        self.namesKeys = namesKeys
        hasNewID = kind == .insert && content["id"]?.isNull ?? true
        self.kind = kind
        self.recordID = recordID
        self.table = table
        self.options = options
        self.group = group
        self.user = user
        self.systemColumns = systemColumns
        self.localOnly = localOnly
        let isShared = !localOnly.tables.contains(table)
        self.content = isShared ? RecordRules.withoutSystemColumns(content, systemColumns) : content
        self.content["id"] = JSON(recordID)
    }

    /// Carries out the change and returns the local record after it.
    ///
    /// - Parameter scope: the scope of the transaction, if it makes several changes.
    package func apply(
        to store: any StoreWriter, environment: SyncEnvironment, scope: ChangeScope = ChangeScope()
    ) throws -> JSON? {
        try spelled(in: store) { try $0.carryOut(in: store, environment, scope) }
    }

    private func carryOut(
        in store: any StoreWriter, _ environment: SyncEnvironment, _ scope: ChangeScope
    ) throws -> JSON? {
        // Another program may have declared the table local-only since this context was made.
        let remembered = try scope.localOnly(table, in: store)
        if localOnly.tables.contains(table) || remembered.tables.contains(table) { return try keep(in: store) }
        let names = localOnly.columns(of: table).union(remembered.columns(of: table))
        guard !names.isEmpty else { return try enqueue(in: store, environment: environment, scope: scope) }
        return try enqueue(keeping: names, in: store, environment, scope)
    }

    /// Carries out the change on the record with its id, or else on the one with the server's spelling of it.
    func spelled<Result>(in store: any StoreReader, _ carryOut: (LocalChange) throws -> Result) throws -> Result {
        if kind == .insert || kind == .undelete {
            let change = try respelled(in: store) ?? self
            return try carryOut(change.insertAgain(in: store) ?? change)
        }
        do {
            return try carryOut(self)
        } catch let error as SluiceError where error.code == .recordMissing {
            guard let change = try respelled(in: store) else { throw error }
            return try carryOut(change)
        }
    }

    /// Returns the insert that a delete took back before it was sent, in place of the undelete; nil where there was none.
    /// The server never had the record, since no operation on it was completed. The audit has the insert, which is made
    /// again in its own user's name only.
    private func insertAgain(in store: any StoreReader) throws -> LocalChange? {
        let queue = QueueReader(store)
        guard kind == .undelete, try store.record(recordID, in: table) == nil,
            try queue.all(on: recordID, in: table).isEmpty,
            try queue.state(of: recordID, in: table) == nil,
            try store.record(ChangeStamps.id(of: recordID, in: table), in: ChangeStamps.schema.name) == nil,
            let newest = try queue.folded(recordID, in: table),
            newest.operation.kind == .insert, newest.operation.belongs(to: user), let record = newest.local
        else { return nil }
        return LocalChange(
            .insert, recordID, in: table, content: record, options: options, group: group, user: user,
            systemColumns: systemColumns, localOnly: localOnly, namesKeys: namesKeys)
    }

    /// Returns the change with another spelling of its id, if only that spelling has a record or an operation; else
    /// nil.
    private func respelled(in store: any StoreReader) throws -> LocalChange? {
        if hasNewID { return nil }
        let others = recordID.spellings.dropFirst()
        if others.isEmpty { return nil }
        let queue = QueueReader(store)
        func isHere(_ id: RecordID) throws -> Bool {
            try store.record(id, in: table) != nil || !queue.all(on: id, in: table).isEmpty
        }
        guard try !isHere(recordID), let id = try others.first(where: isHere) else { return nil }
        var change = self
        change.recordID = id
        change.content["id"] = JSON(id)
        return change
    }

    /// Writes the row with its operation, and returns the local record after it.
    func enqueue(in store: any StoreWriter, environment: SyncEnvironment, scope: ChangeScope) throws -> JSON? {
        try IDRules.validate(id: recordID, table: table, isNew: kind == .insert)
        try options.validate(table: table)
        let queue = QueueWriter(store, scope)
        let local = try store.record(recordID, in: table)
        // A newly made id has no operations yet. The record is still looked up, because an existing one would be lost.
        let queued = try hasNewID ? [] : queue.absorbEdits(of: recordID, in: table)
        if kind == .update, local == nil { throw missing }
        if isLocalOnly { return try applyLocally(local, queued, queue) }
        if kind != .undelete, let record = changed(local, nil) {
            try RecordRules.validate(
                namesOf: record, besides: [local], namesKeys: namesKeys, id: recordID, table: table)
        }
        guard let newest = queued.last else {
            try checkSettled(local)
            if kind != .insert, try isUnknownToServer(local, queue) {
                return try makeKnown(local, to: queue, environment: environment)
            }
            if kind != .insert {
                let state = RecordState(table: table, recordID: recordID, base: local, mirror: local)
                try queue.put(state, isNoted: false)
            }
            try append(kind, to: queue, environment: environment)
            return try write(changed(local, nil), to: queue)
        }
        // A service that assigns keys knows such an insert by its request alone, which is repeated as it was.
        let isRepeated = namesKeys && newest.kind == .insert && newest.isUncertain && !newest.isHeld
        let collapse = Collapse.decide(
            queued: newest, new: kind, isMergeable: options.isMergeable && !isRepeated, group: group, user: user)
        let folded = collapse.folds(newest) ? local : nil
        if let folded { try queue.noteFolded(newest, making: folded, at: environment.now()) }
        switch collapse {
        case .refuse(let reason): throw refusal(reason)
        case .append:
            guard group == nil || newest.group != group else {
                throw refusal("a group holds one operation on a record, and these two cannot be one")
            }
            try queue.freeze(newest, as: local)
            try append(kind, to: queue, environment: environment)
        case .absorb:
            try queue.put(revived(newest, as: newest.kind))
        case .become(let kind):
            var operation = revived(newest, as: kind)
            // To the end: deletes of child records may have been queued since, and must be sent first.
            if kind == .delete { operation.sequence = try queue.nextSequence() }
            operation.frozen = folded
            try queue.put(operation)
        case .moveToEnd(let kind):
            try queue.remove(newest)
            try append(kind, to: queue, environment: environment, after: newest, folding: folded)
        case .takeBack:
            let isNew = try queued.count == 1 && queue.reader.state(of: recordID, in: table)?.base == nil
            try queue.put(revived(newest, as: isNew ? .insert : .update))
            return try write(newest.frozen, to: queue)
        case .vanish:
            let state = try queue.reader.state(of: recordID, in: table)
            if newest.kind == .delete, queued.count == 1, state?.mirror == nil {
                // Another user has deleted the record since: an undelete has to be sent.
                try queue.put(RecordState(table: table, recordID: recordID, base: nil, mirror: nil))
                try queue.put(revived(newest, as: .undelete))
                break
            }
            if newest.kind == .delete, queued.count == 1, newest.isUncertain {
                // The change that the delete replaced may have been applied. So its reversal is sent, as an update to
                // the record shown from now on.
                let mirror = state?.mirror
                try queue.put(RecordState(table: table, recordID: recordID, base: mirror, mirror: mirror))
                try queue.put(revived(newest, as: .update))
                break
            }
            if let mirror = state?.mirror, newest.kind == .undelete, queued.count == 1 {
                // Another user has restored the record since: the delete has to be sent.
                try queue.put(RecordState(table: table, recordID: recordID, base: mirror, mirror: mirror))
                try queue.put(revived(newest, as: .delete))
                break
            }
            // A record that never left this machine is in no page, and an undelete makes it again.
            let isUnknown = newest.kind == .insert && !newest.wasSent && state == nil
            try queue.remove(newest, isNoted: !isUnknown)
            let ahead = queued.dropLast().last
            if ahead == nil { try queue.removeState(of: recordID, in: table) }
            return try write(
                ahead.map { $0.resultingRecord(local: local, mirror: state?.mirror) } ?? state?.mirror, to: queue)
        }
        let mirror = try kind == .undelete ? queue.reader.state(of: recordID, in: table)?.mirror : nil
        return try write(changed(local, mirror, after: queued.dropLast().last), to: queue)
    }

    /// Carries out a change of a record unknown to the server: queues an insert, or removes the record here.
    private func makeKnown(_ local: JSON?, to queue: QueueWriter, environment: SyncEnvironment) throws -> JSON? {
        // Like any insert, it then has no state of the record.
        try queue.removeState(of: recordID, in: table)
        if kind != .delete { try append(.insert, to: queue, environment: environment) }
        return try write(changed(local, nil), to: queue)
    }

    /// Checks the change of a record without operations against the record's presence.
    func checkSettled(_ local: JSON?) throws(SluiceError) {
        switch kind {
        case .insert where local != nil:
            throw SluiceError(
                .recordExists, "a record with this id exists; update it, or insert under another id", table: table,
                recordID: recordID)
        case .delete where local == nil: throw missing
        case .undelete where recordID.text.isEmpty: throw refusal("there is no id, so no record to bring back")
        case .undelete where local != nil: throw refusal("the record is not deleted")
        default: return
        }
    }

    var missing: SluiceError {
        SluiceError(
            .recordMissing, "there is no such record in the local store; pull it first", table: table,
            recordID: recordID)
    }

    func refusal(_ reason: String) -> SluiceError {
        SluiceError(
            kind == .insert ? .recordExists : .operationRefused, "cannot \(kind.rawValue): \(reason)", table: table,
            recordID: recordID)
    }

    private func append(
        _ kind: TableOperation.Kind, to queue: QueueWriter, environment: SyncEnvironment,
        after moved: TableOperation? = nil, folding edit: JSON? = nil
    ) throws {
        var operation = TableOperation(
            id: environment.makeID(), sequence: try queue.nextSequence(), table: table, recordID: recordID,
            kind: kind, createdAt: environment.now())
        operation.tags = options.tags
        operation.headers = options.headers
        operation.isMergeable = options.isMergeable
        operation.group = group
        operation.user = user
        operation.frozen = edit
        if let moved {
            operation.tags.formUnion(moved.tags)
            operation.headers = moved.headers.replacing(options.headers)
            // The new operation keeps the record of earlier sends, because they may have been applied.
            operation.sent = moved.sent
            operation.revision = moved.revision + 1
            operation.isUncertain = moved.isUncertain
            // The restore may have been applied, so the delete after it cannot be dropped without a request.
            if moved.kind == .undelete { operation.attempts = moved.attempts }
        }
        try queue.put(operation)
    }

    private func revived(_ operation: TableOperation, as kind: TableOperation.Kind) -> TableOperation {
        var operation = operation
        operation.kind = kind
        operation.revise()
        if !user.isEmpty { operation.user = user }
        operation.tags.formUnion(options.tags)
        operation.headers = operation.headers.replacing(options.headers)
        return operation
    }

    /// Returns the record after the change.
    ///
    /// - Parameters:
    ///   - mirror: the server's last known record; for an undelete.
    ///   - ahead: the operation before the newest one; a waiting delete was made on its result.
    func changed(_ local: JSON?, _ mirror: JSON?, after ahead: TableOperation? = nil) -> JSON? {
        switch kind {
        case .insert: return content
        case .delete: return nil
        case .undelete: return local ?? ahead.map { $0.resultingRecord(local: local, mirror: mirror) } ?? mirror
        case .update:
            if let replacement {
                return RecordRules.record(
                    replacement, withSystemColumns: systemColumns, of: local, id: recordID)
            }
            guard var record = local else { return nil }
            for (name, value) in content.members ?? [] { record[name] = value }
            return record
        }
    }

    private func write(_ record: JSON?, to queue: QueueWriter) throws -> JSON? {
        if let record, kind != .undelete { try RecordRules.validate(depthOf: record, id: recordID, table: table) }
        try queue.setLocal(record, recordID, in: table)
        return record
    }
}
