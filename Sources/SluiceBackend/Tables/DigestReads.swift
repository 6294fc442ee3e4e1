internal import HTTPTypes
internal import SluiceCore
internal import SluiceSQLite

/// Digests of a table's living records, for a client that looks for what it has and the server has not, and the other
/// way round, without reading all of it.
struct DigestReads: Sendable {
    /// The name that stands in the place of an id. A record with this id is asked for as `%24digest`.
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

    /// The digest of the records that match `$filter`, and of ranges of them in the order of their ids; with `from` and
    /// `to`, both among them, of that part.
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
            let count = try table.count(matching: Query(table.name, filter: filter), connection)
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

    private func filter(_ query: Query, _ scope: RowScope) throws -> QueryExpression? {
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
