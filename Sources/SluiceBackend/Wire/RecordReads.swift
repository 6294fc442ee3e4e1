internal import HTTPTypes
internal import SluiceCore

/// The reading requests of a table.
struct RecordReads: Sendable {
    private let backend: Backend
    private let table: BackendTable

    init(_ backend: Backend, _ table: BackendTable) {
        self.backend = backend
        self.table = table
    }

    /// A page of the records that match.
    func list(_ target: RequestTarget) async throws -> Reply {
        let parameters = try ListParameters(target, table.rules)
        let (rows, count) = try await backend.database.read { [table] connection in
            var query = parameters.query
            // One row more than the page tells whether there is a next one.
            query.top = parameters.page + (parameters.wantsMore ? 1 : 0)
            let rows = try table.records(matching: query, connection)
            return (rows, query.includesCount ? try table.count(matching: query, connection) : nil)
        }
        let page = JSON(rows.prefix(parameters.page).map(WireRecord.json))
        var reply = Reply(.ok, body: count.map { ["results": page, "count": JSON($0)] } ?? page)
        if rows.count > parameters.page, let link = HTTPField.Name("Link") {
            // Without angle brackets: so this protocol's servers write it, and so its clients read it.
            reply.headers[link] = "\(target.origin)\(target.path)?\(parameters.next); rel=next"
        }
        return reply
    }

    /// One record; a tombstone only where the client asks for such.
    func lookup(_ id: String, _ target: RequestTarget, _ headers: HTTPFields) async throws -> Reply {
        let includesDeleted = target.values("__includeDeleted").contains { $0.lowercased() == "true" }
        let found = try await backend.database.read { [table] in try table.record(id, $0) }
        guard let record = found, includesDeleted || record[SystemColumn.deleted]?.bool != true else {
            throw Refusal(.notFound, "The item does not exist")
        }
        let version = record[SystemColumn.version]?.string ?? ""
        if EntityConditions(headers).isKnown(version) {
            var reply = Reply(.notModified)
            reply.headers[.eTag] = ETag.quoted(version)
            return reply
        }
        return WireRecord.reply(.ok, record)
    }
}
