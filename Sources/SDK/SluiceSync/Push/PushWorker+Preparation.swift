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

    /// Whether an undelete would replace the record by a part of it, as lists may show it.
    private func mayBePart(_ item: PushItem) -> Bool {
        item.operation.kind == .undelete && client.dialect.undelete == .put && item.operation.sent.isEmpty
            && partialLists.isPartial(item.operation.table) != false
    }

    /// Returns the deleted record from the by-id route, or the listed one where the server shows no such version there.
    private func whole(_ listed: JSON, of item: PushItem) async throws -> JSON {
        let (table, id) = (item.operation.table, item.operation.recordID)
        do {
            let found = try await lookup(table, id, includeDeleted: true).record
            let hidesVersion = listed[columns.version]?.string == nil
            guard let found, hidesVersion || found[columns.version] == listed[columns.version] else { return listed }
            partialLists.note(table, listed: listed, byID: found)
            return found.without(options.localOnly.columns[table])
        } catch let error as SluiceError where !error.isEndOfPush {
            if error.mayPass { throw error }
            return listed
        }
    }

    /// Whether the operation goes as it is, without a look at the server.
    func needsNothing(_ item: PushItem) -> Bool {
        let isKnown = item.base != nil && item.rewritten == nil && !mayHideVersion(item)
        return switch item.operation.kind {
        case .insert: naming == nil
        case .update: isKnown && (!columns.replaces || item.isSent)
        case .delete: isKnown
        case .undelete: false
        }
    }

    /// Reads the record first if the change has no known base, or one without a version: the record's version becomes the condition of the first send and
    /// of each repeat, so that a repeat never redoes a change that another user has undone.
    ///
    /// A change or a delete of a record never seen is judged by the current record. An undelete is made on the
    /// tombstone; if the wire restores by PUT, the tombstone is also the body. The record is also read before an update
    /// that sends it whole, if hooks may have stored another record than the server sent, or its lists leave something
    /// out.
    func prepare(_ item: PushItem) async throws -> Preparation {
        let operation = item.operation
        func version(_ record: JSON?) -> String? {
            record?[columns.version]?.string.flatMap { ETag.isVersion($0) ? $0 : nil }
        }
        if let rewritten = item.rewritten {
            if item.collides(with: rewritten) { return .answer(item, .madeOnAnother(rewritten)) }
            let prepared = try await grounded(item, on: rewritten)
            guard case .item(var onNewer) = prepared else { return prepared }
            onNewer.rewritten = nil
            return try await prepare(onNewer)
        }
        switch operation.kind {
        case .insert: return try await named(item)
        case .update, .delete:
            if mayHideVersion(item), let base = item.base, let version = try await hiddenVersion(of: item, base) {
                return version
            }
            if operation.kind == .update, item.base != nil { return try await whole(item) }
            if item.base != nil { return .item(item) }
        case .undelete: if version(item.base) != nil, !mayBePart(item) { return .item(item) }
        }
        let isPut = operation.kind == .undelete && client.dialect.undelete == .put
        // The list itself is compared with the record by its id.
        var found = try await readBack(item, isRaw: mayBePart(item))
        if mayBePart(item), let listed = found.record, columns.isDeleted(listed) || version(listed) == nil {
            found.record = try await whole(listed, of: item)
        }
        var item = item
        item.answeredBy += found.answeredBy
        guard let record = found.record else {
            // A server that hides deleted records has to decide itself whether there is one.
            if operation.kind == .undelete, !isPut { return .item(item) }
            return .answer(
                item, PushAnswer(status: 404, message: "the server has no such record, not even a deleted one"))
        }
        if version(record) != nil {
            // A tombstone read only after a send may be newer than the one at the time of the send, unless that was known.
            let isKnown = !operation.isUncertain || version(record) == version(item.base)
            guard operation.kind == .undelete, columns.isDeleted(record), isKnown else {
                return .answer(item, .madeOnAnother(record))
            }
        } else if !isPut {
            return .item(item)
        }
        item.local = record
        item.base = record
        return .item(item)
    }

    /// Rebases an update that replaces the record onto the server's own record, if the local one may be another: hooks
    /// changed it, the server's lists leave properties out (``PartialLists``), or it has changed without a new version.
    /// After its first send it is based on the server's own.
    private func whole(_ item: PushItem) async throws -> Preparation {
        let (table, id) = (item.operation.table, item.operation.recordID)
        guard columns.replaces, !item.isSent else { return .item(item) }
        if AskedHooks(options.hooks, .afterPull, table: table) != nil { return try await onServersRecord(item) }
        let isFormer = try await store.read { [client, options] in
            try RecordShape.isFormer(in: table, client, options, $0)
        }
        if isFormer { return try await onServersRecord(item) }
        guard let base = item.base else { return .item(item) }
        var known = partialLists.isPartial(table)
        if known == false {
            if partialLists.hasAll(base, of: table) { return .item(item) }
            // The other records that were compared had more properties than this one.
            known = nil
        }
        let found: JSON?
        do {
            found = try await lookup(table, id).record
        } catch let error as SluiceError where known == nil && !error.isEndOfPush {
            // Not every server answers by id, but a failure may pass.
            if error.mayPass { throw error }
            return .item(item)
        }
        guard let record = found?.without(options.localOnly.columns[table]) else {
            guard let listed = try await listed(item),
                known == true || item.operation.failure == nil || isYoung(listed)
            else { return .item(item) }
            if columns.isDeleted(listed) { return .answer(item, .madeOnAnother(listed)) }
            throw lag(of: item, Self.isHidden)
        }
        // What the server does not have, and an earlier wire had.
        let foreign = columns.foreign(in: base, local: item.local, beside: record)
        let item = PushItem(item, without: foreign)
        guard record[columns.version] == base[columns.version] else {
            // The update itself meets the conflict. It is not sent where it would remove something.
            return known == nil ? .item(item) : try await onServersRecord(item)
        }
        // The base may be whole by an answer of the server's, so the list itself is compared.
        if known == nil, let listed = try await listed(item),
            listed[columns.version]?.string == nil || listed[columns.version] == record[columns.version]
        {
            partialLists.note(table, listed: listed, byID: record)
        }
        if partialLists.isPartial(table) == true { return try await grounded(item, on: record) }
        // The record has changed without a new version, such as by a new column.
        guard item.lacks(record, columns) else { return .item(item) }
        return item.collides(with: record)
            ? .answer(item, .madeOnAnother(record)) : try await grounded(item, on: record)
    }

    static let isHidden = "the server lists the record and does not show it by its id"

    /// Whether the record changed so short a time ago that a copy of the data that lags may not have it.
    func isYoung(_ record: JSON?) -> Bool {
        let time = record?[client.dialect.columns.updatedAt]?.string.flatMap { Timestamp($0) }
        return time.map { ReplacedVersions.isWithinLag($0, of: options.environment.now()) } ?? false
    }

    /// Returns the record as it is listed; nil if the server lists none, or does not filter its lists. A failure that may
    /// pass is no such evidence, and is thrown.
    func listed(_ item: PushItem) async throws -> JSON? {
        do {
            return try await readBack(item, isRaw: true).record
        } catch let error as SluiceError where !error.isEndOfPush && !error.mayPass {
            return nil
        }
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
            return .answer(item, .madeOnAnother(record))
        }
        return try await grounded(item, on: record)
    }

    func grounded(_ item: PushItem, on record: JSON) async throws -> Preparation {
        let grounded = try await store.write(at: .applied, options.environment, from: .push) { [committer] in
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
        // The segment is no record's id, which would be encoded.
        let path = "\(client.endpoint.target(["tables", table]))/\(RecordName.path)"
        let head = HTTPRequest(
            method: .get, scheme: client.endpoint.scheme, authority: client.endpoint.authority, path: path)
        var request = SyncRequest(head)
        request.context = SyncRequest.Context(source: .push, action: .custom, table: table)
        _ = try await client.send(request)
    }
}

extension PushAnswer {
    /// Returns the refusal of a change that was not made on the server's record.
    static func madeOnAnother(_ record: JSON) -> PushAnswer {
        PushAnswer(status: 412, record: record, message: "the change was not made on the server's record")
    }
}
