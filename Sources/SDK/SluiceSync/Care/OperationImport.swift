internal import SluiceBase

/// Adds exported operations to the end of a queue, inside one transaction: all of them, or none.
struct OperationImport {
    let environment: SyncEnvironment
    let columns: PushColumns
    /// The number of operations that a group may have; nil where there can be no groups.
    let groupLimit: Int?
    let store: any StoreWriter
    let queue: QueueWriter

    func carryOut(_ documents: [OperationDocument]) throws -> TableOperation.Import {
        var result = TableOperation.Import()
        var new: [OperationDocument] = []
        var ids: Set<String> = []
        var knownGroups: Set<String> = []
        var next = try queue.reader.nextSequence()
        for var document in documents {
            let id = document.operation.id
            let isKnown = try queue.reader.operation(id) != nil || isImported(id)
            if isKnown || !ids.insert(id).inserted {
                result.skipped += 1
                if isKnown, let group = document.operation.group { knownGroups.insert(group) }
                continue
            }
            document.operation.sequence = next
            next += 1
            new.append(document)
        }
        try checkGroups(new, knownGroups)
        for chain in chains(of: new) { try write(chain) }
        result.imported = new.count
        return result
    }

    /// Groups the operations by record, in order.
    private func chains(of documents: [OperationDocument]) -> [[OperationDocument]] {
        var places: [RecordID: Int] = [:]
        var chains: [[OperationDocument]] = []
        for document in documents {
            let key = RecordState.id(document.operation.table, document.operation.recordID)
            if let place = places[key] {
                chains[place].append(document)
            } else {
                places[key] = chains.count
                chains.append([document])
            }
        }
        return chains
    }

    /// - Parameter known: the groups with operations in the queue or imported before.
    private func checkGroups(_ documents: [OperationDocument], _ known: Set<String>) throws {
        var groups: [String: [OperationDocument]] = [:]
        for document in documents {
            if let group = document.operation.group { groups[group, default: []].append(document) }
        }
        for (group, members) in groups.sorted(by: { $0.key < $1.key }) {
            let operations = members.map(\.operation)
            let records = Set(operations.map { RecordState.id($0.table, $0.recordID) })
            guard let groupLimit else {
                throw refusal(operations.first, "it is part of a group, and this context's server takes no batches")
            }
            // A part of a group would be sent as if it were the whole group.
            guard !known.contains(group), members.allSatisfy({ $0.members ?? members.count == members.count }) else {
                throw refusal(operations.first, "other operations of its group are missing")
            }
            guard operations.count <= groupLimit, records.count == operations.count,
                try queue.reader.members(of: group).isEmpty
            else {
                throw refusal(
                    operations.first, "its group is too large, changes a record twice, or is in the queue already")
            }
        }
    }

    private func write(_ chain: [OperationDocument]) throws {
        guard let first = chain.first else { return }
        let (table, id) = (first.operation.table, first.operation.recordID)
        guard try queue.reader.waiting(in: table, among: [id]).isEmpty else {
            throw refusal(first.operation, "other changes of its record wait here", .operationsPending)
        }
        let settled = try store.record(id, in: table)
        if settled == nil, let other = try store.record(named: id, in: table)?["id"]?.string {
            throw refusal(first.operation, "its record has the id \(other) here", .recordExists)
        }
        try check(chain, settled)
        let mirror = settled ?? first.mirror
        if first.operation.kind != .insert || mirror != nil {
            try queue.put(RecordState(table: table, recordID: id, base: first.base, mirror: mirror))
        }
        var local: JSON?
        for (index, document) in chain.enumerated() {
            var operation = document.operation
            // The bodies that the other store sent are not known here, so this store's sends get a new revision.
            // The next revision is left out: a discard in the other store may use it for a delete.
            if operation.wasSent { operation.revision += 2 }
            operation = operation.landed
            if operation.state == .inFlight { operation.state = .pending }
            local = document.operation.kind == .undelete ? mirror : document.after
            if document.operation.kind != .undelete, let record = local {
                local = RecordRules.record(record, withSystemColumns: columns.system, of: mirror, id: id)
            }
            if index < chain.count - 1, operation.kind == .insert || operation.kind == .update {
                operation.frozen = local
            }
            try queue.put(operation)
            try mark(operation)
        }
        try queue.setLocal(local, id, in: table)
    }

    /// Checks that the operations can follow the local record, and each other.
    private func check(_ chain: [OperationDocument], _ settled: JSON?) throws {
        guard let first = chain.first else { return }
        switch first.operation.kind {
        case .insert where settled != nil:
            throw refusal(first.operation, "a record of that id exists here", .recordExists)
        case .update where first.base == nil, .delete where first.base == nil && first.operation.attempts == 0:
            throw refusal(first.operation, "it says nothing of the record that it was made on", .invalidRecord)
        case .undelete where settled != nil: throw refusal(first.operation, "the record is not deleted here")
        default: break
        }
        for (ahead, after) in zip(chain, chain.dropFirst()) {
            var queued = ahead.operation
            queued.state = .inFlight
            guard Collapse.decide(queued: queued, new: after.operation.kind) == .append else {
                throw refusal(
                    after.operation, "\(after.operation.kind.rawValue) cannot follow \(queued.kind.rawValue)",
                    .invalidRecord)
            }
        }
    }

    private func refusal(
        _ operation: TableOperation?, _ reason: String, _ code: SluiceError.Code = .operationRefused
    ) -> SluiceError {
        SluiceError(
            code, "nothing was imported: \(reason)", table: operation?.table, recordID: operation?.recordID,
            operationID: operation?.id)
    }

    /// Notes the import in the audit, so that the same document does nothing the second time.
    private func mark(_ operation: TableOperation) throws {
        try store.put(
            [
                "id": JSON(Self.mark(operation.id)), "at": JSON(environment.now().description), "what": "import",
                "operation": operation.record,
            ], in: SyncTables.audit.name)
    }

    private func isImported(_ id: String) throws -> Bool {
        try store.record(Self.mark(id), in: SyncTables.audit.name) != nil
    }

    private static func mark(_ id: String) -> RecordID { "import-\(id)" }
}

extension TableOperation {
    /// The outcome of an import.
    public struct Import: Sendable, Hashable {
        /// The number of operations added to the queue.
        public var imported = 0
        /// The number of operations that were imported before, or are in the queue already.
        public var skipped = 0
    }
}
