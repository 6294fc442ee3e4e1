internal import HTTPTypes
public import SluiceBase

/// The requests of a table, and the reading of their answers.
extension OnlineTable {
    /// Sends a request as one of this table's.
    ///
    /// - Returns: the request as it entered the chain, and the answer.
    func send(_ request: SyncRequest, _ parameters: SyncRequest.Parameters = [:]) async throws -> (
        SyncRequest, SyncResponse
    ) {
        var request = request
        request.append(try parameters.validated(table: name))
        request.context.features.formUnion(Record.self == JSON.self ? .untypedTable : .typedTable)
        request.context.systemProperties = requested.map { dialect.selection(of: $0) }
        do {
            return (request, try await client.send(request))
        } catch var error as SluiceError {
            // A transport need not know the request's table and record.
            error.table = error.table ?? name
            error.recordID = error.recordID ?? request.context.recordID
            throw error
        }
    }

    /// Returns the record with that id, as the server has it.
    func document(
        _ id: RecordID, includeDeleted: Bool, _ parameters: SyncRequest.Parameters
    ) async throws -> JSON {
        let request = dialect.lookup(
            table: name, id: id, includeDeleted: includeDeleted, endpoint: client.endpoint)
        guard let record = try await document(request, parameters) else {
            throw SluiceError(
                .brokenProtocol, "the server's answer is empty where a record was due", table: name, recordID: id)
        }
        return record
    }

    /// Returns the record of the answer; nil for an answer that needs none.
    func document(_ request: SyncRequest, _ parameters: SyncRequest.Parameters) async throws -> JSON? {
        let (request, response) = try await send(request, parameters)
        do {
            return try dialect.record(in: response, for: request.context)
        } catch {
            throw error.with(exchange(request, response))
        }
    }

    /// Returns the server's record after a change. A server that answers without one (204) has accepted the sent
    /// record. Its version is then the entity tag's, or unknown.
    func changed(_ request: SyncRequest, _ parameters: SyncRequest.Parameters, sent: JSON) async throws -> Record {
        try coder.decode(await accepted(request, parameters, sent: sent))
    }

    private func accepted(_ request: SyncRequest, _ parameters: SyncRequest.Parameters, sent: JSON) async throws -> JSON
    {
        let (request, response) = try await send(request, parameters)
        do {
            if let record = try dialect.record(in: response, for: request.context) { return record }
        } catch {
            throw error.with(exchange(request, response))
        }
        var record = sent
        let version = response.head.headerFields[.eTag].flatMap { ETag($0).version }
        record[dialect.columns.version] = version.map { JSON($0) }
        return record
    }

    /// Returns the page of the answer to a list.
    func page(_ request: SyncRequest, _ parameters: SyncRequest.Parameters, after previous: PageCursor?) async throws
        -> TablePage<Record>
    {
        let (request, response) = try await send(request, parameters)
        let (rows, count, cursor): ([JSON], Int?, PageCursor?)
        do throws(SluiceError) {
            let page = try dialect.page(in: response, for: request.context, requiresIDs: false)
            let wanted = max(0, request.context.paging.remaining ?? page.rows.count)
            (rows, count) = (page.rows.indices.prefix(wanted).map { page.record(at: $0) }, page.count)
            cursor = try PageCursor.after(page, response, to: request, previous: previous, client: client)
        } catch {
            throw error.with(exchange(request, response))
        }
        return TablePage(rows: try coder.decode(rows), count: count, cursor: cursor)
    }

    private func exchange(_ request: SyncRequest, _ response: SyncResponse) -> Exchange {
        Exchange(request, response, dialect, requested ?? .all)
    }
}

extension OnlineTable {
    /// Brings a deleted record back, in a table that keeps deleted records.
    ///
    /// - Parameter version: the version that the deleted record must still have, if any.
    /// - Returns: the server's record.
    /// - Throws: see ``OnlineTable``; `invalidRecord` for an integer id, since such tables keep no deleted records.
    @discardableResult
    public func undelete(
        id: some RecordIDConvertible, version: String? = nil, parameters: SyncRequest.Parameters = [:]
    ) async throws -> Record {
        try await undelete(try validated(id), version, parameters)
    }

    /// Brings a deleted record back in the server's state, if it still has the version that `record` has.
    ///
    /// - Returns: the server's record.
    /// - Throws: as ``undelete(id:version:parameters:)``.
    @discardableResult
    public func undelete(_ record: Record, parameters: SyncRequest.Parameters = [:]) async throws -> Record {
        let (id, record) = try identified(record)
        return try await undelete(id, record[dialect.columns.version]?.string, parameters)
    }

    private func undelete(
        _ id: RecordID, _ version: String?, _ parameters: SyncRequest.Parameters
    ) async throws -> Record {
        guard case .string = id else {
            throw TableRules.refusal("only records with text ids can be brought back", name, id)
        }
        var whole: JSON?
        var version = version
        if dialect.undelete == .put {
            // The wire brings a record back by a PUT of the whole record, so it has to be read first. The version
            // ensures that it is unchanged since.
            let found = try await document(id, includeDeleted: true, parameters)
            whole = found
            version = version ?? found[dialect.columns.version]?.string
        }
        let request = dialect.undelete(
            table: name, id: id, record: whole, version: version, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: whole ?? JSON(members: [(dialect.columns.id, JSON(id))]))
    }
}
