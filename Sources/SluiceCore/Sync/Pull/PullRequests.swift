internal import HTTPTypes

/// What a pull sends: the requests of its session, and those for rows by their ids.
struct PullRequests: Sendable {
    let dialect: Dialect
    let endpoint: Endpoint
    let query: Query
    let isNamed: Bool
    /// Whether pages hold deleted rows, too.
    var includesDeleted = true

    /// How many rows are asked for by their ids at once: a request's address has to stay short.
    static let mostIDs = 40

    /// The request for a page.
    ///
    /// - Throws: ``SluiceError`` of code `storeCorrupt` for a saved time that is none, `invalidQuery`.
    func request(for page: PullRequest) throws(SluiceError) -> Request {
        let columns = dialect.columns
        var query = query
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
            query.restrict(.binary(planted(.cursorGreater) ? .gt : .ge, updatedAt, try time(text)))
        case .others(let text, let known):
            if let text { query.restrict(.binary(.ge, updatedAt, try time(text))) }
            for known in known { query.restrict(.binary(.ne, id, .literal(.string(known)))) }
        case .behind(let text, let last):
            let time = try time(text)
            let tie = QueryExpression.binary(
                .and, .binary(.eq, updatedAt, time), .binary(.gt, id, .literal(.string(last))))
            query.restrict(.binary(.or, .binary(.gt, updatedAt, time), tie))
        case .ties(let text, let last):
            query.restrict(.binary(.eq, updatedAt, try time(text)))
            query.restrict(.binary(.le, id, .literal(.string(last))))
            query.order = [.init(columns.updatedAt), .init(columns.id, descending: true)]
        case .newestFirst:
            query.order = [.init(columns.updatedAt, descending: true), .init(columns.id, descending: true)]
        case .withoutTime(let last):
            query.restrict(.binary(.eq, updatedAt, .literal(.null)))
            if let last { query.restrict(.binary(.gt, id, .literal(.string(last)))) }
        case .behindID(let last):
            query.restrict(.binary(.gt, id, .literal(.string(last))))
            query.order = [.init(columns.id)]
        }
        var request = try list(query)
        switch page.position {
        case .tracked: ChangeTokens.begin(&request)
        case .token(let token): ChangeTokens.follow(token, &request)
        default: if page.tracks { ChangeTokens.begin(&request) }
        }
        return request
    }

    /// The request for those rows of the query, deleted ones too.
    func request(ids: [String]) throws(SluiceError) -> Request {
        var query = query
        let id = QueryExpression.column(dialect.columns.id)
        let terms = ids.map { QueryExpression.binary(.eq, id, .literal(.string($0))) }
        guard var condition = terms.first else {
            throw SluiceError(.invalidArgument, "no ids to ask for", table: query.table)
        }
        for term in terms.dropFirst() { condition = .binary(.or, condition, term) }
        query.restrict(condition)
        query.order = [.init(dialect.columns.id)]
        (query.skip, query.top, query.includesDeleted) = (0, ids.count, true)
        return try list(query)
    }

    private func list(_ query: Query) throws(SluiceError) -> Request {
        var request = try dialect.list(table: query.table, query: query, endpoint: endpoint)
        request.context.source = .pull
        if isNamed { request.context.features.insert(.incremental) }
        return request
    }

    private func time(_ text: String) throws(SluiceError) -> QueryExpression {
        guard let time = Timestamp(text) else {
            throw SluiceError(.storeCorrupt, "the saved cursor is not a time", table: query.table)
        }
        if planted(.cursorRoundedUp) {
            let second = Timestamp.ticksPerSecond
            return .literal(.date(Timestamp(ticks: (time.ticks + second - 1) / second * second)))
        }
        return .literal(.date(time))
    }
}

extension Query {
    /// Adds a condition that must hold as well.
    mutating func restrict(_ condition: QueryExpression) {
        filter = filter.map { .binary(.and, $0, condition) } ?? condition
    }
}
