internal import HTTPTypes
package import SluiceBase
package import SluiceWire

/// Builds the requests of a pull: for its session's pages, and for rows by their ids.
package struct PullRequests: Sendable {
    let dialect: Dialect
    let endpoint: Endpoint
    let query: TableQuery
    let isNamed: Bool
    /// Whether pages include deleted rows.
    var includesDeleted = true

    package init(dialect: Dialect, endpoint: Endpoint, query: TableQuery, isNamed: Bool, includesDeleted: Bool = true) {
        self.dialect = dialect
        self.endpoint = endpoint
        self.query = query
        self.isNamed = isNamed
        self.includesDeleted = includesDeleted
    }

    /// The largest number of ids in one request: servers limit the number of conditions and the length of an address.
    static let mostIDs = 40
    /// The largest length of a query with many ids, in bytes: by default IIS answers more than 2,048 with 404.15.
    static let mostBytes = 2000

    /// Returns the request for a page.
    ///
    /// - Parameter isNarrow: whether only the id, version and time of each row are requested.
    /// - Throws: ``SluiceError`` of code `storeCorrupt` for a saved time that is not valid, `invalidQuery`, `tooLarge`
    ///   if the ids of the known rows do not fit in one address.
    package func request(for page: PullRequest, isNarrow: Bool = false) throws(SluiceError) -> SyncRequest {
        let columns = dialect.columns
        var query = query
        if isNarrow { query.select = narrow }
        query.skip = page.skip
        query.top = page.top
        query.includesDeleted = includesDeleted
        if isNamed {
            query.order = [.init(columns.updatedAt), .init(columns.id)]
        } else if query.order.isEmpty {
            query.order = [.init(columns.id)]
        }
        let updatedAt = QueryExpression.column(columns.updatedAt)
        let id = QueryExpression.column(columns.id)
        switch page.position {
        case .start, .tracked, .token: break
        case .changedSince(let text):
            query.restrict(.binary(.ge, updatedAt, try time(text)))
        case .others(let text, let known):
            if let text { query.restrict(.binary(.ge, updatedAt, try time(text))) }
            for known in known { query.restrict(.binary(.ne, id, .literal(.id(known)))) }
        case .after(let text, let last), .from(let text, let last):
            let time = try time(text)
            var isAfter = false
            if case .after = page.position { isAfter = true }
            let tie = QueryExpression.binary(
                .and, .binary(.eq, updatedAt, time), .binary(isAfter ? .gt : .ge, id, .literal(.id(last))))
            query.restrict(.binary(.or, .binary(.gt, updatedAt, time), tie))
        case .row(let one):
            query.restrict(.binary(.eq, id, .literal(.id(one))))
        case .ties(let text, let last):
            query.restrict(.binary(.eq, updatedAt, try time(text)))
            query.restrict(.binary(.le, id, .literal(.id(last))))
            query.order = [.init(columns.updatedAt), .init(columns.id, descending: true)]
        case .newestFirst:
            query.order = [.init(columns.updatedAt, descending: true), .init(columns.id, descending: true)]
        case .withoutTime(let last):
            query.restrict(.binary(.eq, updatedAt, .literal(.null)))
            if let last { query.restrict(.binary(.gt, id, .literal(.id(last)))) }
            query.order = [.init(columns.id)]
        case .withoutTimeUpToID(let last):
            query.restrict(.binary(.eq, updatedAt, .literal(.null)))
            query.restrict(.binary(.le, id, .literal(.id(last))))
            query.order = [.init(columns.id, descending: true)]
        case .behindID(let last):
            if let last { query.restrict(.binary(.gt, id, .literal(.id(last)))) }
            query.order = [.init(columns.id)]
        case .upToID(let last):
            query.restrict(.binary(.le, id, .literal(.id(last))))
            query.order = [.init(columns.id, descending: true)]
        case .counted: query.includesCount = true
        }
        if page.isCounted { query.includesCount = true }
        var request = try list(query)
        if case .others = page.position, Self.queryLength(of: request) > Self.mostBytes {
            throw SluiceError(.tooLarge, "the ids of the known rows do not fit in one address", table: query.table)
        }
        switch page.position {
        case .tracked: ChangeTokens.begin(&request)
        case .token(let token): ChangeTokens.follow(token, &request)
        default: if page.tracks { ChangeTokens.begin(&request) }
        }
        return request
    }

    /// Returns the request for the first of the ids in the query, including deleted rows: as many as one address holds.
    ///
    /// - Returns: the request, and the number of its rows.
    func request(
        someOf ids: [RecordID], most: Int, isNarrow: Bool = false
    ) throws(SluiceError) -> (request: SyncRequest, count: Int) {
        var count = max(1, min(ids.count, most))
        while true {
            let request = try request(ids: ids.prefix(count), isNarrow: isNarrow)
            let length = Self.queryLength(of: request)
            if count <= 1 || length <= Self.mostBytes { return (request, count) }
            count = max(1, min(count - 1, count * Self.mostBytes / length))
        }
    }

    private static func queryLength(of request: SyncRequest) -> Int {
        let path = request.head.path ?? ""
        return path.firstIndex(of: "?").map { path[$0...].utf8.count } ?? 0
    }

    /// The properties that identify a row's state: id, version and time.
    private var narrow: [PropertyName] { [dialect.columns.id, dialect.columns.version, dialect.columns.updatedAt] }

    private func request(ids: ArraySlice<RecordID>, isNarrow: Bool) throws(SluiceError) -> SyncRequest {
        var query = query
        if isNarrow { query.select = narrow }
        let id = QueryExpression.column(dialect.columns.id)
        let terms = ids.map { QueryExpression.binary(.eq, id, .literal(.id($0))) }
        guard var condition = terms.first else {
            throw SluiceError(.invalidArgument, "no ids to ask for", table: query.table)
        }
        for term in terms.dropFirst() { condition = .binary(.or, condition, term) }
        query.restrict(condition)
        query.order = [.init(dialect.columns.id)]
        (query.skip, query.top, query.includesDeleted) = (0, ids.count, true)
        return try list(query)
    }

    private func list(_ query: TableQuery) throws(SluiceError) -> SyncRequest {
        var request = try dialect.list(table: query.table, query: query, endpoint: endpoint)
        request.context.source = .pull
        if isNamed { request.context.features.insert(.incremental) }
        return request
    }

    private func time(_ text: String) throws(SluiceError) -> QueryExpression {
        guard let time = Timestamp(text) else {
            throw SluiceError(.storeCorrupt, "the saved cursor is not a time", table: query.table)
        }
        return .literal(.date(time))
    }
}

extension TableQuery {
    /// Adds a condition that must hold as well.
    mutating func restrict(_ condition: QueryExpression) {
        filter = filter.map { .binary(.and, $0, condition) } ?? condition
    }
}

extension SluiceError {
    /// Whether a server may give this answer to a request that is not understood, or not implemented. 404 is none: a
    /// table may be away for a moment.
    var mayRefuseQuestion: Bool { [.rejected, .tooLarge].contains(code) || status == 501 }

    /// Whether a server may give this answer to a request with many ids: some say 404 to a long address.
    var mayRefuseIDs: Bool { mayRefuseQuestion || code == .notFound }
}
