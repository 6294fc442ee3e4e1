internal import HTTPTypes
internal import SluiceCore

/// The reading requests of a table.
struct RecordReads: Sendable {
    let request: TableRequest
    var wire: ServerWire { request.wire }

    init(_ request: TableRequest) { self.request = request }

    /// What a list has found, as it is stored and as hooks show it.
    enum Found: Sendable {
        /// A page of the records that match; `count` where it was asked for.
        case records([JSON], count: Int?, hasMore: Bool)
        /// A page of changes.
        case changes(FoundChanges)
    }

    /// A page of the records that match.
    func list() async throws -> Reply {
        let parameters = try ListParameters(request)
        switch try await find(parameters) {
        case .records(let records, let count, let hasMore):
            return page(
                shown(records, selected: parameters.query.select), count: count,
                next: hasMore ? parameters.next : nil)
        case .changes(let changes): return reply(changes, selected: parameters.query.select)
        }
    }

    /// Reads a page, by the rules for the table and with its hooks.
    func find(_ parameters: ListParameters) async throws -> Found {
        let session = try await request.session(.read)
        let scope = try await session.willRead(query: parameters.query)
        if let run = try ChangeRun(request, parameters, session.scope, narrowed: scope) {
            return .changes(try await changes(run, session))
        }
        let (rows, count) = try await request.backend.database.read {
            [table = request.table, wire, asked = request.asked] connection in
            var query = parameters.query
            let hidesDeleted = table.rules.softDelete && !query.includesDeleted
            let living = QueryExpression.binary(.eq, .column(SystemColumn.deleted), .literal(.bool(false)))
            query.filter = scope.narrowed(to: hidesDeleted ? living : nil).applied(to: query.filter)
            // What is asked for beside a selection comes beside it.
            query.select = wire.selection(query.select, asked: asked)
            // One row more than the page tells whether there is a next one.
            query.top = parameters.page + (parameters.wantsMore ? 1 : 0)
            var page = query
            page.filter = .all(query.filter, parameters.later)
            var rows = try table.records(matching: page, connection)
            if wire.showsKnownProperties {
                rows = try table.completed(rows, selected: query.select, connection)
            }
            return (rows, query.includesCount ? try table.count(matching: query, connection) : nil)
        }
        let records = try await session.answering(Array(rows.prefix(parameters.page)))
        return .records(records, count: count, hasMore: rows.count > parameters.page)
    }

    /// One record; a tombstone only where the client asks for such.
    func lookup(_ id: RecordID) async throws -> Reply {
        let session = try await request.session(.read)
        let scope = try await session.willRead(id: id)
        let found = try await request.backend.database.read { [table = request.table, wire] connection -> JSON? in
            let record = try table.record(id, in: scope, connection)
            guard wire.showsKnownProperties, let record else { return record }
            return try table.completed([record], selected: [], connection).first
        }
        guard let record = found else { throw Refusal.missing }
        if !request.includesDeleted, record[SystemColumn.deleted]?.bool == true {
            throw Refusal(wire.tombstone, Refusal.missingReason)
        }
        switch EntityConditions(request.head.headerFields, isLenient: wire.isLenient).check(record, reading: true) {
        case .met: return request.reply(.ok, try await session.answering([record]).first ?? record)
        case .failed:
            throw Refusal(.preconditionFailed, .record(try await session.answering([record]).first ?? record))
        case .known:
            var reply = Reply(.notModified)
            reply.tag(record)
            return reply
        }
    }

    /// Records as a list shows them.
    func shown(_ records: [JSON], selected: [PropertyName]) -> [JSON] {
        // Who selects a column of the server's asks for it.
        let asked = request.asked.union(selected)
        return records.map { wire.record($0, asked: asked) }
    }

    /// A list of what is shown.
    func page(_ rows: [JSON], count: Int?, next: String?) -> Reply {
        let records = JSON(rows)
        switch wire.list {
        case .array:
            var reply = Reply(.ok, body: count.map { ["results": records, "count": JSON($0)] } ?? records)
            if let next, let link = HTTPField.Name("Link") {
                reply.headers[link] = "\(address(next, origin: true)); rel=next"
            }
            return reply
        case .items(let writesNulls):
            var body: JSON = ["items": records]
            if let count { body["count"] = JSON(count) } else if writesNulls { body["count"] = .null }
            if let next {
                body["nextLink"] = JSON(nextLink(next))
            } else if writesNulls {
                body["nextLink"] = .null
            }
            return Reply(.ok, body: body)
        }
    }

    private func nextLink(_ query: String) -> String {
        wire.nextPage == .query ? query : address(query, origin: !request.options.contains("nextlink=path"))
    }

    private func address(_ query: String, origin: Bool) -> String {
        "\(origin ? request.target.origin : "")\(request.target.path)?\(query)"
    }
}

extension Refusal {
    static let missingReason = "The item does not exist"

    /// There is no such record, or none that the caller may see.
    static var missing: Refusal { Refusal(.notFound, missingReason) }
}
