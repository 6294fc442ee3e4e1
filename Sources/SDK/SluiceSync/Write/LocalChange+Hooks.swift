internal import SluiceBase

/// A local change before it is made: the record's queued operations and the resulting record. Hooks decide on it, and
/// it must be unchanged when their decision is carried out.
struct EnqueuePreview: Sendable, Hashable {
    /// The part of a queued operation that matters to the change.
    struct Queued: Sendable, Hashable {
        var id: String
        var revision: Int
        var kind: TableOperation.Kind
    }

    var change: EnqueuedChange
    var queue: [Queued]

    func shown(attempt: Int) -> EnqueuedChange {
        var change = change
        change.attempt = attempt
        return change
    }
}

extension LocalChange {
    /// Computes the queued operations and the resulting record of the change, without writing.
    ///
    /// - Throws: ``SluiceError``, as ``apply(to:environment:)`` would for an invalid change.
    package func look(at store: any StoreReader) throws -> EnqueuePreview {
        try spelled(in: store) { try $0.preview(in: store) }
    }

    private func preview(in store: any StoreReader) throws -> EnqueuePreview {
        try IDRules.validate(id: recordID, table: table, isNew: kind == .insert)
        try options.validate(table: table)
        let queue = QueueReader(store)
        let local = try store.record(recordID, in: table)
        let queued = try queue.all(on: recordID, in: table)
        if kind == .update, local == nil { throw missing }
        var taken: JSON?
        if let newest = queued.last {
            switch Collapse.decide(
                queued: newest, new: kind, isMergeable: options.isMergeable, group: group, user: user)
            {
            case .refuse(let reason): throw refusal(reason)
            case .takeBack: taken = newest.frozen
            default: break
            }
        } else {
            try checkSettled(local)
        }
        let mirror = try kind == .undelete ? queue.state(of: recordID, in: table)?.mirror : nil
        let result = taken ?? changed(local, mirror, after: queued.dropLast().last)
        if let result, kind != .undelete { try RecordRules.validate(depthOf: result, id: recordID, table: table) }
        let change = EnqueuedChange(
            table: table, recordID: recordID, kind: kind, record: result, before: local, tags: options.tags,
            group: group)
        return EnqueuePreview(
            change: change, queue: queued.map { .init(id: $0.id, revision: $0.revision, kind: $0.kind) })
    }

    /// Returns the change with the hooks' decision applied.
    func taking(_ verdict: EnqueueVerdict) -> LocalChange {
        var change = self
        change.isLocalOnly = verdict.isLocalOnly
        guard let record = verdict.record else { return change }
        let plain = RecordRules.withoutSystemColumns(record, systemColumns)
        if kind == .insert {
            change.content = plain
            change.content["id"] = JSON(recordID)
        } else {
            change.replacement = plain
        }
        return change
    }

    /// Writes the row without an operation.
    ///
    /// A record unknown to the server is marked by a state without base and mirror. So its first shared change is sent
    /// as an insert.
    func applyLocally(_ local: JSON?, _ queued: [TableOperation], _ queue: QueueWriter) throws -> JSON? {
        guard queued.isEmpty, group == nil else {
            throw notLocally(
                group == nil ? "other changes of the record wait in the queue" : "it is part of a group")
        }
        if kind == .undelete { throw notLocally("only the server can bring a record back") }
        try checkSettled(local)
        let result = changed(local, nil)
        if kind == .insert {
            try queue.put(RecordState(table: table, recordID: recordID, base: nil, mirror: nil), isNoted: false)
        } else if kind == .delete {
            try queue.removeState(of: recordID, in: table)
        }
        try queue.setLocal(result, recordID, in: table)
        return result
    }

    private func notLocally(_ reason: String) -> SluiceError {
        SluiceError(
            .operationRefused, "a hook keeps the change from the server, and that cannot be: \(reason)", table: table,
            recordID: recordID)
    }

    /// Whether the record was made here and is unknown to the server. A row stored by a pull under the same id has
    /// system columns.
    func isUnknownToServer(_ local: JSON?, _ queue: QueueWriter) throws -> Bool {
        guard let local, !systemColumns.contains(where: { local[$0] != nil }),
            let state = try queue.reader.state(of: recordID, in: table)
        else { return false }
        return state.base == nil && state.mirror == nil
    }
}

extension LocalChange {
    /// Carries out a change of a local-only table: it writes the row and queues nothing.
    func keep(in store: any StoreWriter) throws -> JSON? {
        try IDRules.validate(id: recordID, table: table, isNew: kind == .insert)
        let local = try store.record(recordID, in: table)
        if kind == .update, local == nil { throw missing }
        if kind == .undelete { throw refusal("the table stays here, and keeps no deleted records") }
        try checkSettled(local)
        let record = changed(local, nil)
        if let record { try RecordRules.validate(depthOf: record, id: recordID, table: table) }
        try QueueWriter(store).setLocal(record, recordID, in: table)
        return record
    }

    /// Carries out a change of a record with local-only columns: the others are queued, if the change has any.
    func enqueue(
        keeping names: Set<PropertyName>, in store: any StoreWriter, _ environment: SyncEnvironment,
        _ scope: ChangeScope
    ) throws -> JSON? {
        var (change, kept) = (self, JSON.object)
        for name in names {
            kept[name] = (replacement ?? content)[name]
            change.content[name] = nil
            change.replacement?[name] = nil
        }
        let isSilent = kind == .update && replacement == nil && kept.count > 0 && change.content.count == 1
        if isSilent {
            try IDRules.validate(id: recordID, table: table, isNew: kind == .insert)
            if try store.record(recordID, in: table) == nil { throw missing }
        } else {
            _ = try change.enqueue(
                in: SharedWriter(writer: store, columns: [table: names]), environment: environment, scope: scope)
        }
        guard var record = try store.record(recordID, in: table), kept.count > 0 else {
            return try store.record(recordID, in: table)
        }
        for (name, value) in kept.members ?? [] { record[name] = value }
        try RecordRules.validate(depthOf: record, id: recordID, table: table)
        try store.put(record, in: table)
        return record
    }
}

/// A local change that hooks see before it is stored. The hooks run outside of any transaction. The change is then
/// stored if the data that they saw is still the same.
struct HookedWrite: Sendable {
    let change: LocalChange
    let chain: AskedHooks
    let store: any LocalStore
    let environment: SyncEnvironment

    /// The number of times that hooks are asked about one change at most.
    static let mostAttempts = 3

    /// Thrown to roll a transaction back because the data differs from the data that the hooks saw.
    private struct Moved: Error {}

    /// Carries the change out and returns the local record after it.
    ///
    /// - Throws: ``SluiceError`` of code `refusedByHook` or `hookFailed`; `operationRefused` where the record has
    ///   changed after each look of the hooks; and the errors of the change itself.
    func carryOut() async throws -> JSON? {
        for attempt in 1...Self.mostAttempts {
            let seen = try await store.read { try change.look(at: $0) }
            let verdict = try await chain.verdict(on: seen.shown(attempt: attempt))
            do {
                return try await store.write(at: .localChange, environment) { writer in
                    guard try change.look(at: writer) == seen else { throw Moved() }
                    return try change.taking(verdict).apply(to: writer, environment: environment)
                }
            } catch is Moved {
                continue
            }
        }
        throw Self.moved(change.table, change.recordID)
    }

    static func moved(_ table: String? = nil, _ recordID: RecordID? = nil) -> SluiceError {
        SluiceError(
            .operationRefused, "the data changed as often as the hooks looked at it; try again", table: table,
            recordID: recordID)
    }
}
