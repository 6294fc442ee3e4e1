internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Makes the request for an operation: what changed since its base, on top of the base's version.
struct PushRequests {
    let dialect: Dialect
    let endpoint: Endpoint
    let localOnly: LocalOnly

    func request(for item: PushItem) throws(SluiceError) -> Request {
        let operation = item.operation
        let (table, id) = (operation.table, operation.recordID)
        let columns = dialect.pushColumns
        let version = item.base?[columns.version]?.string
        var request: Request
        switch operation.kind {
        case .insert:
            request = dialect.insert(table: table, record: try plain(item), endpoint: endpoint)
        case .update:
            var changes = try plain(item)
            if dialect.patchesUpdates, let base = item.base, let local = item.local {
                let names = localOnly.columns(of: table)
                changes = Rebase.changes(from: base.without(names), to: local.without(names), system: columns.system)
                changes[columns.id] = JSON(id)
            }
            request = dialect.update(table: table, id: id, changes: changes, version: version, endpoint: endpoint)
        case .delete: request = dialect.delete(table: table, id: id, version: version, endpoint: endpoint)
        case .undelete:
            let record = dialect.undelete == .put ? try plain(item) : nil
            request = dialect.undelete(table: table, id: id, record: record, version: version, endpoint: endpoint)
        }
        request.context.source = .push
        for field in operation.headers { request.head.headerFields.append(field) }
        request.context.tags = operation.tags
        request.context.operationID = operation.requestID
        request.context.mayBeRepeat = !operation.sent.isEmpty
        request.context.mayBeApplied = operation.isUncertain
        return request
    }

    /// The local record without what only the server sets.
    private func plain(_ item: PushItem) throws(SluiceError) -> JSON {
        guard let local = item.local else {
            throw SluiceError(
                .recordMissing, "the record of a queued operation is not in the store", table: item.operation.table,
                recordID: item.operation.recordID, operationID: item.operation.id)
        }
        let system = dialect.pushColumns.system
        return RecordRules.withoutSystemColumns(local, system.union(localOnly.columns(of: item.operation.table)))
    }
}
