internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

extension PushWorker {
    /// What sending an operation begins with.
    enum Preparation {
        /// The operation, with all that its request needs.
        case item(PushItem)
        /// Nothing has to be sent: this is as good as an answer.
        case answer(PushItem, PushAnswer)
        /// The operation was changed since it was read.
        case changed
    }

    /// Reads the record first where nothing is known that the change could be made on: its version becomes the
    /// condition of the first send and of each repeat, so that a repeat never does again what another has undone.
    ///
    /// A change or a delete of a record that was never seen is judged by the record as it is. An undelete is made on
    /// the tombstone; where the wire restores by PUT, that is also what to put. So is the record where an update puts it
    /// whole and hooks may have stored another than the server sent.
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
            // A server that shows no deleted records has to answer itself whether there is one.
            if operation.kind == .undelete, !isPut { return .item(item) }
            return .answer(
                item, PushAnswer(status: 404, message: "the server has no such record, not even a deleted one"))
        }
        if version(record) != nil {
            // A tombstone that is seen only after a send may be a newer one than that send found.
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

    /// Whether an update would send what hooks have made of the server's record. Once it was sent it stands on the
    /// server's own.
    private func isRevised(_ item: PushItem) -> Bool {
        columns.replaces && item.operation.sent.isEmpty
            && AskedHooks(options.hooks, .afterPull, table: item.operation.table) != nil
    }

    /// Puts an update on the server's own record.
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

    /// The operation of a new record under the id by which the server will know it, where that is another: that of the key
    /// which the application gave under the server's own names. What was sent once keeps the id with which it was sent.
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

    /// Has the wire's adapter read the server's description of a table, with a request that passes the filters. Where that
    /// fails, so does the change itself, and says why.
    private func describe(_ table: String) async throws {
        let path = client.endpoint.target(["tables", table, RecordName.path])
        let head = HTTPRequest(
            method: .get, scheme: client.endpoint.scheme, authority: client.endpoint.authority, path: path)
        var request = Request(head)
        request.context = RequestContext(source: .push, action: .custom, table: table)
        _ = try await client.send(request)
    }
}
