internal import SluiceBase

extension PushCommitter {
    /// Rebases the waiting changes of a record onto the server's own record, of the version on which they were made.
    ///
    /// If hooks have stored another record than the server sent, the local one differs from the server's. Sent whole,
    /// it would write the hooks' local changes to the server.
    ///
    /// - Returns: the rebased operation, or nil if it was changed since it was read.
    func ground(_ item: PushItem, on server: JSON, in store: any StoreWriter) throws -> PushItem? {
        let (table, id) = (item.operation.table, item.operation.recordID)
        let queue = QueueWriter(store)
        guard try isCurrent(item, queue), var state = try queue.reader.state(of: id, in: table), let base = state.base
        else { return nil }
        func grounded(_ record: JSON) -> JSON {
            Rebase.reapply(from: base, to: record, onto: server, system: columns.system)
        }
        for var waiting in try queue.reader.all(on: id, in: table) where waiting.frozen != nil {
            waiting.frozen = waiting.frozen.map(grounded)
            try queue.put(waiting)
        }
        if let local = try store.record(id, in: table) { try queue.setLocal(grounded(local), id, in: table) }
        if state.mirror?[columns.version] == base[columns.version] { state.mirror = server }
        state.base = server
        try queue.put(state, isNoted: false)
        var item = item
        item.operation.frozen = item.operation.frozen.map(grounded)
        (item.base, item.local) = (server, item.local.map(grounded))
        return item
    }
}
