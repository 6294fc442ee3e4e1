internal import HTTPTypes
internal import SluiceCore
internal import SluiceSQLite

/// The reading requests of a table.
struct RecordReads: Sendable {
    let request: TableRequest
    var wire: ServerWire { request.wire }

    init(_ request: TableRequest) { self.request = request }

    /// The result of a list, after the hooks.
    enum Found: Sendable {
        /// A page of the records that match, with the requested `count`. `more` is the number of read records if
        /// further ones follow.
        case records([JSON], count: Int?, more: Int?)
        /// A page of changes.
        case changes(FoundChanges)
    }

    /// A list within the table's rules, before its records are read.
    private enum Prepared {
        /// The query of the whole list, and the query of its page.
        case list(TableQuery, page: TableQuery, TableSession)
        case changes(FoundChanges)
    }

    /// Answers with a page of the records that match.
    func list() async throws -> Reply {
        let parameters = try ListParameters(request)
        switch try await prepare(parameters) {
        case .changes(let changes): return reply(changes, selected: parameters.query.select)
        case .list(let query, let onePage, let session):
            if session.hooks == nil, let members = wire.members(of: request.table, query, asked: request.asked) {
                return try await text(onePage, of: query, parameters, members)
            }
            let (records, count, more) = try await records(onePage, of: query, parameters, session)
            return page(
                shown(records, selected: parameters.query.select), count: count,
                next: more.map(parameters.next))
        }
    }

    /// Reads a page within the table's rules, with its hooks.
    func find(_ parameters: ListParameters) async throws -> Found {
        switch try await prepare(parameters) {
        case .changes(let changes): return .changes(changes)
        case .list(let query, let onePage, let session):
            let (records, count, more) = try await records(onePage, of: query, parameters, session)
            return .records(records, count: count, more: more)
        }
    }

    private func prepare(_ parameters: ListParameters) async throws -> Prepared {
        var session = try await request.session(.read)
        let scope = try await session.willRead(query: parameters.query)
        if scope.isNarrowedByHook { session.completes = false }
        if let run = try ChangeRun(request, parameters, session.scope, narrowed: scope) {
            return .changes(try await changes(run, session))
        }
        let query = query(parameters, scope)
        var onePage = query
        onePage.filter = .all(query.filter, parameters.later)
        return .list(query, page: onePage, session)
    }

    private func records(
        _ page: TableQuery, of query: TableQuery, _ parameters: ListParameters, _ session: TableSession
    ) async throws -> (records: [JSON], count: Int?, more: Int?) {
        let (records, count, more) = try await request.served.database.read(atLeast: ReadFloor(query, page)) {
            [table = request.table, completes = session.completes] connection in
            let found = try table.page(page, parameters.size, connection)
            let records =
                try completes
                ? table.completed(found.records, selected: query.select, connection) : found.records
            let more = found.hasMore ? records.count : nil
            return (records, query.includesCount ? try table.count(matching: query, connection) : nil, more)
        }
        return (try await session.answering(records), count, more)
    }

    /// Returns the query within the request's scope, with the columns that the wire needs.
    private func query(_ parameters: ListParameters, _ scope: RowScope) -> TableQuery {
        var query = parameters.query
        let hidesDeleted = request.table.rules.softDelete && !query.includesDeleted
        let living = QueryExpression.binary(.eq, .column(SystemColumn.deleted), .literal(.bool(false)))
        query.filter = scope.narrowed(to: hidesDeleted ? living : nil).applied(to: query.filter)
        // Requested system columns are read in addition to a selection.
        query.select = wire.selection(query.select, asked: request.asked)
        // One further row shows that there is a next page.
        query.top = parameters.page + (parameters.wantsMore ? 1 : 0)
        return query
    }

    /// Answers with a page without hooks or conversions: each record is written while it is read.
    private func text(
        _ page: TableQuery, of query: TableQuery, _ parameters: ListParameters, _ members: [RecordText.Member]
    ) async throws -> Reply {
        let (text, read, count) = try await request.served.database.read(atLeast: ReadFloor(query, page)) {
            [table = request.table, wire, asked = request.asked] connection in
            var text = Array("[".utf8)
            let read = try table.append(
                page, parameters.size, members, completes: wire.showsKnownProperties, to: &text, connection
            ) { wire.record($0, asked: asked) }
            text.append(UInt8(ascii: "]"))
            return (text, read, query.includesCount ? try table.count(matching: query, connection) : nil)
        }
        return self.page(text: text, count: count, next: read.hasMore ? parameters.next(after: read.count) : nil)
    }

    /// Answers with one record; with a tombstone only if the client asks for deleted records.
    func lookup(_ id: RecordID) async throws -> Reply {
        let session = try await request.session(.read)
        let scope = try await session.willRead(id: id)
        let completes = session.completes && !scope.isNarrowedByHook
        let found = try await request.served.database.read(atLeast: .latest) {
            [table = request.table] connection -> JSON? in
            let record = try table.record(id, in: scope, connection)
            guard completes, let record else { return record }
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

    /// Returns records in the form of a list.
    func shown(_ records: [JSON], selected: [PropertyName]) -> [JSON] {
        // Selecting a system column requests it.
        let asked = request.asked.union(selected)
        return records.map { wire.record($0, asked: asked) }
    }

    /// Returns the answer with a list of records in their shown form.
    func page(_ rows: [JSON], count: Int?, next: String?) -> Reply {
        page(text: JSON(rows).bytes(), count: count, next: next)
    }

    /// Returns the answer with a list from the text of a JSON array.
    private func page(text rows: [UInt8], count: Int?, next: String?) -> Reply {
        ListReply(wire: wire, target: request.target, options: request.options).page(
            text: rows, count: count, next: next)
    }
}

/// Writes a list in the wire's form.
struct ListReply: Sendable {
    let wire: ServerWire
    let target: RequestTarget
    /// See ``TableRequest/options``.
    let options: Set<String>

    /// - Parameter next: the parameters of the next page; nil if there is none.
    func page(_ rows: [JSON], count: Int?, next: String?) -> Reply {
        page(text: JSON(rows).bytes(), count: count, next: next)
    }

    /// - Parameter rows: the records as the text of a JSON array.
    func page(text rows: [UInt8], count: Int?, next: String?) -> Reply {
        var reply = Reply(.ok)
        switch wire.list {
        case .array:
            reply.text = count.map { Self.object("results", rows, ["count": JSON($0)]) } ?? rows
            if let next, let link = HTTPField.Name("Link") {
                reply.headers[link] = "\(address(next, origin: true)); rel=next"
            }
            return reply
        case .items(let writesNulls):
            var body = JSON.object
            if let count { body["count"] = JSON(count) } else if writesNulls { body["count"] = .null }
            if let next {
                body["nextLink"] = JSON(nextLink(next))
            } else if writesNulls {
                body["nextLink"] = .null
            }
            reply.text = Self.object("items", rows, body)
            return reply
        }
    }

    /// Returns the text of an object with one pre-encoded member, and further ones.
    private static func object(_ name: String, _ value: [UInt8], _ others: JSON) -> [UInt8] {
        let rest = others.bytes().dropFirst()
        return Array("{\"\(name)\":".utf8) + value + (others.count > 0 ? Array(",".utf8) : []) + rest
    }

    private func nextLink(_ query: String) -> String {
        wire.nextPage == .query ? query : address(query, origin: !options.contains("nextlink=path"))
    }

    private func address(_ query: String, origin: Bool) -> String {
        "\(origin ? target.origin : "")\(target.clientPath)?\(query)"
    }
}

extension Refusal {
    static let missingReason = "The item does not exist"

    /// The refusal for a record that is missing or outside of the caller's scope.
    static var missing: Refusal { Refusal(.notFound, missingReason) }
}
