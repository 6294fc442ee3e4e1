internal import SluiceBase
internal import SluiceWire

extension PushWorker {
    /// Reads the operation's record by its id, from the list: the by-id route may hide a deleted one.
    ///
    /// - Parameter isRaw: whether the record is wanted as listed. Otherwise properties that the list leaves out are read by
    ///   the id, and so is a record that it leaves out, because an index may lag.
    /// - Returns: the record, nil if there is none, and the plugins that made or rewrote an answer.
    func readBack(_ item: PushItem, isRaw: Bool = false) async throws -> (record: JSON?, answeredBy: [String]) {
        let (table, id) = (item.operation.table, item.operation.recordID)
        let version = columns.version
        let query = TableQuery(
            table, filter: .binary(.eq, .column(columns.id), .literal(.id(id))), top: 1,
            includesDeleted: true)
        let requestedAt = options.environment.now()
        var (page, answeredBy) = try await list(query)
        func isInOtherCase(_ row: RowPage.Row) -> Bool { row.id.text.lowercased() == id.text.lowercased() }
        // A server that answers with another case compares ids without it: a delete means that record.
        let isDelete = item.operation.kind == .delete
        if let index = page.rows.firstIndex(where: { $0.id.isSame(as: id) || isDelete && isInOtherCase($0) }) {
            var record = page.record(at: index)
            let isReplaced = try await isReplaced(page.rows[index].version, of: item, requestedAt)
            if isReplaced || isOlder(record, than: item.base, requestedAt) { throw lag(of: item) }
            // Some lists omit the records' versions, or properties.
            let lacksVersion =
                record[version]?.string == nil
                && (item.base?[version]?.string != nil || partialLists.hasVersions(table) == true
                    || item.operation.kind == .undelete && partialLists.hasVersions(table) == nil)
            if !isRaw, lacksVersion || !columns.isDeleted(record) && item.isPart(record, columns) {
                do {
                    let found = try await lookup(table, id, includeDeleted: item.operation.kind == .undelete)
                    if let whole = found.record, lacksVersion || whole[version] == record[version] { record = whole }
                    answeredBy += found.answeredBy
                } catch let error as SluiceError where !lacksVersion && !error.isEndOfPush && !error.mayPass {
                    // Not every server answers by id.
                }
            }
            return (try keepable(record, of: item), answeredBy)
        }
        guard page.rows.isEmpty else {
            if let other = page.rows.first(where: isInOtherCase) {
                throw SluiceError(
                    .brokenProtocol,
                    "the server writes the record's id in another case, as \(other.id), and ids have to come back as "
                        + "they were sent", table: table, recordID: id)
            }
            throw SluiceError(
                .brokenProtocol, "the server ignores the filter on the id, so the record cannot be read back",
                table: table, recordID: id)
        }
        let unlisted = isRaw ? nil : try await unlisted(item)
        return (try unlisted.map { try keepable($0.record, of: item) }, answeredBy + (unlisted?.answeredBy ?? []))
    }

    /// Returns the record that the list leaves out and the by-id route shows; nil if that has none either.
    private func unlisted(_ item: PushItem) async throws -> (record: JSON, answeredBy: [String])? {
        let (table, id, requestedAt) = (item.operation.table, item.operation.recordID, options.environment.now())
        do {
            let found = try await lookup(table, id)
            guard let record = found.record, columns.id(record)?.isSame(as: id) ?? false else { return nil }
            if try await isReplaced(record[columns.version]?.string, of: item, requestedAt) { throw lag(of: item) }
            return (record, found.answeredBy)
        } catch let error as SluiceError where !error.isEndOfPush && !error.mayPass {
            // Not every server answers by id.
            return nil
        }
    }

    /// Returns the server's record without local-only columns.
    private func keepable(_ record: JSON, of item: PushItem) throws(SluiceError) -> JSON {
        let record = record.without(options.localOnly.columns[item.operation.table])
        guard StoreRules.isShallow(record, RecordRules.maximumDepth) else {
            throw SluiceError(
                .brokenProtocol,
                "the server's record nests deeper than \(RecordRules.maximumDepth) levels, and no operation could "
                    + "keep it", table: item.operation.table, recordID: item.operation.recordID)
        }
        return record
    }

    /// Whether the version is known to be replaced. Then it comes from a copy that lags, which proves nothing about the
    /// current record.
    func isReplaced(_ version: String?, of item: PushItem, _ requestedAt: Timestamp) async throws -> Bool {
        guard let version else { return false }
        let (table, id, server) = (item.operation.table, item.operation.recordID, client.endpoint.identity)
        return try await store.read {
            try ReplacedVersions(of: id, in: table, on: server, at: requestedAt, in: $0).contains(version, of: id)
        }
    }

    /// Whether the record is older than the known one, which was written so recently that a copy may not have it.
    private func isOlder(_ record: JSON, than known: JSON?, _ requestedAt: Timestamp) -> Bool {
        func time(_ record: JSON?) -> Timestamp? { record?[columns.updatedAt]?.string.flatMap { Timestamp($0) } }
        guard let known = time(known), let time = time(record) else { return false }
        return time < known && ReplacedVersions.isWithinLag(known, of: requestedAt)
    }

    /// Returns the failure of a read by whose answer the change waits.
    func lag(
        of item: PushItem, _ reason: String = "the server shows a version of the record that was replaced"
    ) -> SluiceError {
        SluiceError(
            .serverFailure, "\(reason); a copy of its data may lag", table: item.operation.table,
            recordID: item.operation.recordID)
    }

    private func list(_ query: TableQuery) async throws -> (page: RowPage, answeredBy: [String]) {
        var request = try client.dialect.list(table: query.table, query: query, endpoint: client.endpoint)
        request.context.source = .push
        let response = try await client.send(request)
        return (try client.dialect.page(in: response, for: request.context), response.madeBy)
    }

    /// Returns the record from the by-id route; nil if not found there.
    func lookup(
        _ table: String, _ id: RecordID, includeDeleted: Bool = false
    ) async throws -> (record: JSON?, answeredBy: [String]) {
        var request = client.dialect.lookup(
            table: table, id: id, includeDeleted: includeDeleted, endpoint: client.endpoint)
        request.context.source = .push
        do {
            let response = try await client.send(request)
            return (try client.dialect.record(in: response, for: request.context), response.madeBy)
        } catch let error as SluiceError where error.code == .notFound {
            return (nil, error.exchange?.response.madeBy ?? [])
        }
    }
}

extension SluiceError {
    /// Whether the failure of a read may pass, unlike the answer of a server that does not have the route.
    var mayPass: Bool { code == .serverFailure && status != 501 }
}
