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
