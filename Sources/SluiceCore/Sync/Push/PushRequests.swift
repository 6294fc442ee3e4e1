/// Makes the request for an operation: what changed since its base, on top of the base's version.
struct PushRequests {
    let dialect: Dialect
    let endpoint: Endpoint

    func request(for item: PushItem) throws(SluiceError) -> Request {
        let operation = item.operation
        let (table, id) = (operation.table, operation.recordID)
        let columns = dialect.pushColumns
        let version = item.base?[columns.version]?.string
        var request: Request
        switch operation.kind {
        case .insert:
            guard let local = item.local else { throw missing(operation) }
            request = dialect.insert(
                RecordRules.withoutSystemColumns(local, columns.system), in: table, endpoint: endpoint)
        case .update:
            guard let local = item.local else { throw missing(operation) }
            if let base = item.base {
                let changes = Rebase.changes(from: base, to: local, system: columns.system)
                request = dialect.update(
                    id: id, changes: changes, whole: RecordRules.withoutSystemColumns(local, columns.system),
                    version: version, in: table, endpoint: endpoint)
            } else {
                let whole = RecordRules.withoutSystemColumns(local, columns.system)
                request = dialect.update(
                    id: id, changes: whole, whole: whole, version: nil, in: table, endpoint: endpoint)
            }
        case .delete: request = dialect.delete(id: id, version: version, in: table, endpoint: endpoint)
        case .undelete: request = dialect.undelete(id: id, version: version, in: table, endpoint: endpoint)
        }
        request.context.source = .push
        request.context.operationID = operation.requestID
        return request
    }

    private func missing(_ operation: TableOperation) -> SluiceError {
        SluiceError(
            .recordMissing, "the record of a queued operation is not in the store", table: operation.table,
            recordID: operation.recordID, operationID: operation.id)
    }
}
