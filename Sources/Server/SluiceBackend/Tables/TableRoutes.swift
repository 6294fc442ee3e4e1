internal import HTTPTypes
internal import SluiceCore
internal import SluiceSQLite

/// Routes requests to tables, and turns every failure into an answer in the request's wire.
struct TableRoutes: Sendable {
    let served: ServedTables
    /// The allowance by which a batch pays for its parts; nil without a limit, and for a part itself.
    var allowance: Allowance?
    /// The atomic group of the request's change, with its index in it.
    var group: (writes: WriteGroup, part: Int)?

    func respond(to request: SyncRequest) async -> SyncResponse {
        let target = RequestTarget(request.head)
        // An unknown version is refused in the form of the oldest clients.
        var wire = ServerWire.azureV2
        do {
            wire = try ServerWire.of(request.head, target)
            return try await reply(to: request, target, wire).response
        } catch {
            return wire.response(
                to: served.refusal(of: error, request.head), asked: error is Refusal ? wire.asked(by: target) : [])
        }
    }

    private func reply(to request: SyncRequest, _ target: RequestTarget, _ wire: ServerWire) async throws -> Reply {
        guard target.segments.first == "tables", (2...3).contains(target.segments.count) else {
            throw Refusal(.notFound, "there is nothing at this path; tables are at /tables/NAME")
        }
        if target.segments == ["tables", BatchDocument.name] {
            guard request.head.method == .post else { throw Refusal.method(allowed: "POST") }
            return try await BatchRun(served, request, target, wire, allowance).reply()
        }
        guard let table = served.table(target.segments[1]) else {
            throw Refusal(.notFound, "the table does not exist")
        }
        var request = TableRequest(
            served: served, table: table, wire: wire, target: target, request: request, group: group)
        guard request.head.method != .get else { return try await read(request) }
        guard let repeatable = try RepeatableRequest(request) else { return try await change(request) }
        request.repeatable = repeatable
        do {
            var reply = try await change(request)
            RepeatableRequest.accept(&reply.headers)
            return reply
        } catch var refusal as Refusal {
            RepeatableRequest.accept(&refusal.headers)
            throw refusal
        }
    }

    private func read(_ request: TableRequest) async throws -> Reply {
        guard let id = try id(request) else { return try await RecordReads(request).list() }
        // The id in the path is percent-encoded.
        if request.target.path.hasSuffix("/\(DigestReads.name)") { return try await DigestReads(request).digest() }
        return try await RecordReads(request).lookup(id)
    }

    private func change(_ request: TableRequest) async throws -> Reply {
        let wire = request.wire
        guard let id = try id(request) else {
            if request.head.method == .post { return try await RecordChanges(request).insert() }
            guard wire.isLenient, request.head.method == .patch else {
                throw Refusal.method(allowed: wire.tableMethods)
            }
            return try await RecordChanges(request).update(try idInBody(request), replacing: false)
        }
        switch request.head.method {
        case .patch where wire.patches: return try await RecordChanges(request).update(id, replacing: false)
        case .put: return try await RecordChanges(request).update(id, replacing: true)
        case .delete: return try await RecordChanges(request).delete(id)
        case .post where wire.undelete == .post: return try await RecordChanges(request).undelete(id)
        default: throw Refusal.method(allowed: wire.recordMethods)
        }
    }

    /// Returns the id in the body.
    private func idInBody(_ request: TableRequest) throws -> RecordID {
        let given = try RequestBody.object(of: request.request, request.wire)["id"]
        guard let id = given?.textID ?? given?.int.map({ RecordID.string(String($0)) }), !id.isEmpty else {
            throw Refusal(.badRequest, "a PATCH of a table needs the record's id in its body")
        }
        try RequestBody.check(id: id, table: request.table.name)
        return id
    }

    /// Returns the id at the path's end; nil for the table's own path.
    private func id(_ request: TableRequest) throws -> RecordID? {
        guard request.target.segments.count == 3 else { return nil }
        let id = RecordID(request.target.segments[2])
        try RequestBody.check(id: id, table: request.table.name)
        return id
    }
}

/// Digests of a table's living records, for a client that searches for differences without reading all of it.
struct DigestReads: Sendable {
    /// The path segment instead of an id. A record with this id is requested as `%24digest`.
    static let name = "$digest"
    /// The most ranges of one answer.
    static let mostRanges = 64

    private struct Range {
        var from: RecordID
        var to: RecordID
        var digest = RowDigest()
    }

    private let request: TableRequest

    init(_ request: TableRequest) { self.request = request }

    /// Answers with the digest of the records that match `$filter`, and of their ranges in the order of ids; with
    /// `from` and `to`, only of the part between them, both included.
    func digest() async throws -> Reply {
        let session = try await request.session(.read)
        let parameters = try ListParameters(request)
        let query = parameters.query
        guard query.skip == 0, query.top == nil, parameters.deltaToken == nil else {
            throw Refusal(.badRequest, "a digest is of all that matches, without $skip, $top and $deltatoken")
        }
        let scope = try await session.willRead(query: query)
        let filter = try filter(query, scope)
        let (total, ranges) = try await request.served.database.read(atLeast: .latest) {
            [table = request.table] connection in
            let count = try table.count(matching: TableQuery(table.name, filter: filter), connection)
            let size = max(1, (count + Self.mostRanges - 1) / Self.mostRanges)
            var total = RowDigest()
            var ranges: [Range] = []
            try table.scan(matching: filter, connection) { id, version in
                total.add(id: id, version: version)
                if ranges.last.map({ $0.digest.count >= size }) ?? true { ranges.append(Range(from: id, to: id)) }
                ranges[ranges.count - 1].to = id
                ranges[ranges.count - 1].digest.add(id: id, version: version)
            }
            return (total, ranges)
        }
        let shown = ranges.map { range in
            JSON(members: [("from", JSON(range.from)), ("to", JSON(range.to))] + Self.members(range.digest))
        }
        return Reply(.ok, body: JSON(members: Self.members(total) + [("ranges", JSON(shown))]))
    }

    private func filter(_ query: TableQuery, _ scope: RowScope) throws -> QueryExpression? {
        var bounds: [QueryExpression?] = []
        for (name, operation) in [("from", QueryExpression.BinaryOperator.ge), ("to", .le)] {
            let values = request.target.values(name)
            guard values.count < 2 else { throw Refusal(.badRequest, "the parameter \(name) is given twice") }
            bounds.append(values.first.map { .binary(operation, .column("id"), .literal(.string($0))) })
        }
        let living = QueryExpression.binary(.eq, .column(SystemColumn.deleted), .literal(.bool(false)))
        return .all(bounds[0], bounds[1], living, scope.applied(to: query.filter))
    }

    private static func members(_ digest: RowDigest) -> [(name: String, value: JSON)] {
        [("count", JSON(digest.count)), ("digest", JSON(digest.text))]
    }
}
