internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

extension PushWorker {
    /// The result of preparing an operation for sending.
    enum Preparation {
        /// The operation, with all data for its request.
        case item(PushItem)
        /// Nothing has to be sent: this counts as the answer.
        case answer(PushItem, PushAnswer)
        /// The operation was changed since it was read.
        case changed
    }

    /// Reads the record first if the change has no known base: its version becomes the condition of the first send and
    /// of each repeat, so that a repeat never redoes a change that another user has undone.
    ///
    /// A change or a delete of a record never seen is judged by the current record. An undelete is made on the
    /// tombstone; if the wire restores by PUT, the tombstone is also the body. The record is also read before an update
    /// that sends it whole, if hooks may have stored another record than the server sent.
    func prepare(_ item: PushItem) async throws -> Preparation {
        let operation = item.operation
        func version(_ record: JSON?) -> String? {
            record?[columns.version]?.string.flatMap { ETag.isVersion($0) ? $0 : nil }
        }
        switch operation.kind {
        case .insert: return try await named(item)
        case .update where item.base != nil: return isRevised(item) ? try await onServersRecord(item) : .item(item)
        case .update, .delete: if item.base != nil { return .item(item) }
        case .undelete: if version(item.base) != nil { return .item(item) }
        }
        let isPut = operation.kind == .undelete && client.dialect.undelete == .put
        let found = try await readBack(item)
        var item = item
        item.answeredBy += found.answeredBy
        guard let record = found.record else {
            // A server that hides deleted records has to decide itself whether there is one.
            if operation.kind == .undelete, !isPut { return .item(item) }
            return .answer(
                item, PushAnswer(status: 404, message: "the server has no such record, not even a deleted one"))
        }
        if version(record) != nil {
            // A tombstone read only after a send may be newer than the one at the time of the send.
            guard operation.kind == .undelete, columns.isDeleted(record), !operation.isUncertain else {
                return .answer(
                    item,
                    PushAnswer(
                        status: 412, record: record, message: "the change was not made on the server's record"))
            }
        } else if !isPut {
            return .item(item)
        }
        item.local = record
        item.base = record
        return .item(item)
    }

    /// Whether an update would send the hooks' changes of the server's record. After its first send it is based on the
    /// server's own.
    private func isRevised(_ item: PushItem) -> Bool {
        columns.replaces && item.operation.sent.isEmpty
            && AskedHooks(options.hooks, .afterPull, table: item.operation.table) != nil
    }

    /// Rebases an update onto the server's own record.
    private func onServersRecord(_ item: PushItem) async throws -> Preparation {
        let found = try await readBack(item)
        var item = item
        item.answeredBy += found.answeredBy
        guard let record = found.record else {
            return .answer(item, PushAnswer(status: 404, message: "the server has no such record any more"))
        }
        let version = record[columns.version]?.string
        guard !columns.isDeleted(record), version == nil || version == item.base?[columns.version]?.string else {
            return .answer(
                item,
                PushAnswer(status: 412, record: record, message: "the change was not made on the server's record"))
        }
        let grounded = try await store.write(at: .applied, options.environment, from: .push) { [committer, item] in
            try committer.ground(item, on: record, in: $0)
        }
        return grounded.map { .item($0) } ?? .changed
    }

    /// Gives an insert the record's future id on the server, if that differs: the id of the key that the application
    /// set under the server's own names. An operation once sent keeps its id.
    private func named(_ item: PushItem) async throws -> Preparation {
        guard let naming, item.operation.sent.isEmpty, let local = item.local else { return .item(item) }
        let (table, id) = (item.operation.table, item.operation.recordID)
        var name = naming.name(ofNew: local, called: id, in: table)
        if name == nil {
            try await describe(table)
            name = naming.name(ofNew: local, called: id, in: table)
        }
        guard let name, name.id != id else { return .item(item) }
        let renamed = try await store.write(at: .sealed, options.environment) {
            try committer.rename(item, as: name, in: $0)
        }
        if let renamed { return .item(renamed) }
        let refusal = "the record's key makes its id \(name.id), and another record with that id is here already"
        return .answer(item, PushAnswer(status: 422, message: refusal))
    }

    /// Makes the wire's adapter read the server's description of a table, with a request that passes the filters. If it
    /// fails, the change fails too and reports the reason.
    private func describe(_ table: String) async throws {
        let path = client.endpoint.target(["tables", table, RecordName.path])
        let head = HTTPRequest(
            method: .get, scheme: client.endpoint.scheme, authority: client.endpoint.authority, path: path)
        var request = Request(head)
        request.context = RequestContext(source: .push, action: .custom, table: table)
        _ = try await client.send(request)
    }
}
