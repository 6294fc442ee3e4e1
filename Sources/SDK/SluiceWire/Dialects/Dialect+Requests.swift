internal import HTTPTypes
package import SluiceBase

/// The requests of a table: pure functions from arguments to a request, before any filter.
extension Dialect {
    /// Returns the request for the records that match.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a negative `skip` or `top`, or a parameter of the user's
    ///   whose name begins with `$`.
    package func list(table: String, query: TableQuery, endpoint: Endpoint) throws(SluiceError) -> SyncRequest {
        func refusal(_ reason: String) -> SluiceError { SluiceError(.invalidQuery, reason, table: table) }
        guard query.skip >= 0, query.top ?? 0 >= 0 else { throw refusal("skip and top cannot be negative") }
        if let parameter = query.parameters.first(where: { $0.name.hasPrefix("$") || $0.name.isEmpty }) {
            throw refusal("'\(parameter.name)' cannot be a parameter's name: a name is not empty and no $ begins it")
        }
        var parameters: [(name: String, value: String)] = []
        if let filter = query.filter { parameters.append(("$filter", filter.odata(odata))) }
        if !query.order.isEmpty { parameters.append(("$orderby", query.odataOrder)) }
        if query.skip > 0 { parameters.append(("$skip", String(query.skip))) }
        if let top = query.top { parameters.append(("$top", String(top))) }
        if !query.select.isEmpty { parameters.append(("$select", query.odataSelect)) }
        if query.includesCount { parameters.append(includeCount) }
        parameters += query.parameters.map { ($0.name, $0.value) }
        if query.includesDeleted { parameters.append(includeDeleted) }
        var context = SyncRequest.Context(action: .read, table: table)
        context.paging.remaining = query.top
        return request(.get, endpoint, [table], parameters, context: context)
    }

    /// Returns the request for one record; deleted ones too, where the server shows them by id. A version makes the
    /// lookup conditional: the answer is 304 if the record still has it.
    package func lookup(
        table: String, id: RecordID, includeDeleted: Bool = false, version: String? = nil, endpoint: Endpoint
    ) -> SyncRequest {
        request(
            .get, endpoint, [table, id.text], includeDeleted ? [self.includeDeleted] : [],
            context: SyncRequest.Context(action: .lookup, table: table, recordID: id, version: version))
    }

    /// Returns the request that creates a record.
    package func insert(table: String, record: JSON, endpoint: Endpoint) -> SyncRequest {
        request(
            .post, endpoint, [table], body: record,
            context: SyncRequest.Context(action: .insert, table: table, recordID: record[columns.id]?.textID))
    }

    /// Returns the request that changes a record: by PATCH of the changes, or on a wire without PATCH by PUT, where
    /// `changes` must be the whole record. The version is the one that the change was made on; filters see it in the
    /// body, and it leaves in `If-Match`. Without it a version in `changes` counts.
    package func update(
        table: String, id: RecordID, changes: JSON, version: String?, endpoint: Endpoint
    ) -> SyncRequest {
        change(patchesUpdates ? .patch : .put, table, id, changes, version, endpoint)
    }

    /// Returns the request that replaces the server's record.
    package func replace(table: String, id: RecordID, record: JSON, version: String?, endpoint: Endpoint) -> SyncRequest
    {
        change(.put, table, id, record, version, endpoint)
    }

    /// Returns the request that deletes a record.
    package func delete(table: String, id: RecordID, version: String?, endpoint: Endpoint) -> SyncRequest {
        request(
            .delete, endpoint, [table, id.text],
            context: SyncRequest.Context(action: .delete, table: table, recordID: id, version: version))
    }

    /// Returns the request that brings a deleted record back: by POST without a body, by PATCH with `deleted` alone,
    /// or by PUT. For PUT `record` must be the whole record, because missing properties are lost.
    package func undelete(
        table: String, id: RecordID, record: JSON? = nil, version: String?, endpoint: Endpoint
    ) -> SyncRequest {
        let context = SyncRequest.Context(action: .undelete, table: table, recordID: id, version: version)
        switch undelete {
        case .post: return request(.post, endpoint, [table, id.text], context: context)
        case .patch:
            let body = JSON(members: [(columns.deleted, JSON(false))])
            return request(.patch, endpoint, [table, id.text], body: body, context: context)
        case .put:
            var body = record ?? .object
            body[columns.id] = JSON(id)
            body[columns.deleted] = JSON(false)
            if let version { body[columns.version] = JSON(version) }
            return request(.put, endpoint, [table, id.text], [includeDeleted], body: body, context: context)
        }
    }

    private func change(
        _ method: HTTPRequest.Method, _ table: String, _ id: RecordID, _ body: JSON, _ version: String?,
        _ endpoint: Endpoint
    ) -> SyncRequest {
        var body = body
        if let version { body[columns.version] = JSON(version) }
        return request(
            method, endpoint, [table, id.text], body: body,
            context: SyncRequest.Context(action: .update, table: table, recordID: id, version: version))
    }

    private func request(
        _ method: HTTPRequest.Method, _ endpoint: Endpoint, _ segments: [String],
        _ parameters: [(name: String, value: String)] = [], body: JSON? = nil, context: SyncRequest.Context
    ) -> SyncRequest {
        var head = HTTPRequest(
            method: method, scheme: endpoint.scheme, authority: endpoint.authority,
            path: endpoint.target(["tables"] + segments, parameters, keeping: keptInQueries))
        head.headerFields[.accept] = "application/json"
        if body != nil { head.headerFields[.contentType] = "application/json" }
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { head.headerFields[name] = value }
        }
        return SyncRequest(head, body: body.map { MessageBody(json: $0) } ?? .empty, context: context)
    }
}
