internal import SluiceBase

/// The queue's writes, in the writer's transaction.
struct QueueWriter {
    private let store: any StoreWriter
    package let reader: QueueReader
    private let scope: ChangeScope

    package init(_ store: any StoreWriter, _ scope: ChangeScope = ChangeScope()) {
        self.store = store
        self.scope = scope
        reader = QueueReader(store)
    }

    /// Returns the sequence of a new operation, which has to be put next.
    func nextSequence() throws -> Int64 { try scope.nextSequence(reader) }

    package func put(_ operation: TableOperation) throws {
        try store.put(operation.row)
    }

    /// - Parameter isNoted: as for ``put(_:isNoted:)``.
    package func remove(_ operation: TableOperation, isNoted: Bool = true) throws {
        try store.delete([RecordID(operation.id)], from: TableOperation.schema.name)
        scope.removed()
        if isNoted { try ChangeStamps.note(operation.recordID, in: operation.table, store) }
    }

    /// Merges later edits into the record's first operation if that is held, and returns the record's operations. None
    /// of them is in flight then, so that the edits can repair it.
    func absorbEdits(of recordID: RecordID, in table: String) throws -> [TableOperation] {
        let all = try reader.all(on: recordID, in: table)
        guard var held = all.first, held.isHeld, held.kind == .insert || held.kind == .update, all.count > 1,
            held.group == nil, all.allSatisfy(held.mayTake),
            all.dropFirst().allSatisfy({ $0.kind == .update && $0.state == .pending })
        else { return all }
        for edit in all.dropFirst() {
            try remove(edit)
            held.tags.formUnion(edit.tags)
            held.headers = held.headers.replacing(edit.headers)
        }
        held.revision += 1
        held.frozen = nil
        try put(held)
        return [held]
    }

    /// Keeps the operation's record before a successor changes it. A sealed body is kept already.
    func freeze(_ operation: TableOperation, as local: JSON?) throws {
        guard operation.kind != .delete, operation.kind == .undelete || operation.sentAsIs == nil else { return }
        var operation = operation
        operation.frozen = local
        try put(operation)
    }

    /// Rebases the frozen records of successors onto the server's answer to the operation before them.
    func rebase(
        _ successors: [TableOperation], onto server: JSON, sent: SentBody, system: Set<PropertyName>
    ) throws {
        for var successor in successors {
            guard let frozen = successor.frozen else { continue }
            successor.frozen = Rebase.record(server: server, local: frozen, sent: sent, system: system)
            try put(successor)
        }
    }

    /// - Parameter isNoted: whether the record is noted as changed, so that a page requested earlier does not
    ///   overwrite it.
    package func put(_ state: RecordState, isNoted: Bool = true) throws {
        try store.put(state.record, in: RecordState.schema.name)
        if isNoted { try ChangeStamps.note(state.recordID, in: state.table, store) }
    }

    func removeState(of recordID: RecordID, in table: String) throws {
        try store.delete([RecordState.id(table, recordID)], from: RecordState.schema.name)
    }

    /// Writes the local record, or removes it for nil.
    func setLocal(_ record: JSON?, _ recordID: RecordID, in table: String) throws {
        if let record {
            try store.put(record, in: table)
        } else {
            try store.delete([recordID], from: table)
        }
    }

    /// Makes the next push try the members of the group that are held or wait for a time.
    func revive(_ group: String) throws {
        for var member in try reader.members(of: group) where member.isHeld || member.notBefore != nil {
            member.revive()
            try put(member)
        }
    }

    /// Notes in the audit an edit that a delete replaces before the server is known to have it.
    func noteFolded(_ edit: TableOperation, making record: JSON?, at time: Timestamp) throws {
        try audit(edit, AuditEntry.folded, local: record, at: time)
    }

    /// Notes an action on an operation in the audit: see ``AuditEntry/what``.
    package func audit(_ operation: TableOperation, _ what: String, local: JSON?, at time: Timestamp) throws {
        var entry: JSON = [
            "id": JSON("\(operation.requestID)-\(time.ticks)"), "at": JSON(time.description), "what": JSON(what),
            "operation": operation.record,
        ]
        if let local { entry["local"] = local }
        try store.put(entry, in: SyncTables.audit.name)
    }
}
