internal import HTTPTypes
internal import Logging

/// Carries a pull session's effects out: the only part of a pull that does I/O.
struct PullDriver: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let query: Query
    let owner: Cursor.Owner?
    let progress: (@Sendable (PullProgress) -> Void)?

    private var dialect: Dialect { client.dialect }
    private var queryText: String { query.filter?.odata(dialect.odata) ?? "" }

    func run() async throws -> PullResult {
        if let owner {
            var session = IncrementalPullSession(
                cursor: try await savedCursor(owner), pageSize: options.pageSize,
                commitLag: options.commitLag.ticks, untimedMayComeLast: dialect.maySortNullLast)
            return try await run { session.handle($0) }
        }
        var session = FullPullSession(query: query, pageSize: options.pageSize)
        return try await run { session.handle($0) }
    }

    private func run(_ handle: (PullEvent) -> PullEffect) async throws -> PullResult {
        var result = PullResult()
        var page: RowPage?
        var effect = handle(.began)
        while true {
            do {
                switch effect {
                case .request(let request):
                    try Task.checkCancellation()
                    let (received, date) = try await receive(request)
                    page = received
                    effect = handle(.page(PullPage(rows: received.rows, serverDate: date)))
                case .commit(let rows, let position):
                    guard let stored = page else { throw SluiceError(.brokenProtocol, "there is no page to store") }
                    try await commit(stored, rows, position, &result)
                    page = nil
                    effect = handle(.committed)
                case .finish(nil): return result
                case .finish(let error?): throw error
                }
            } catch let error as SluiceError {
                if case .finish = effect { throw error }
                effect = handle(.failed(error))
            } catch {
                effect = handle(.failed(SluiceError(wrapping: error)))
            }
        }
    }

    private func commit(
        _ page: RowPage, _ rows: [Int], _ position: CursorPosition?, _ result: inout PullResult
    ) async throws {
        let cursor = owner.flatMap { owner in
            position.map { Cursor(owner: owner, query: queryText, position: $0) }
        }
        let commit = PageCommit(table: query.table, page: page, rows: rows, cursor: cursor)
        let outcome = try await store.write(at: .page, options.environment) { try commit.write(to: $0) }
        result.stored += outcome.stored
        result.deleted += outcome.deleted
        result.pending += outcome.pending
        result.pages += 1
        options.logger.debug(
            "page stored",
            metadata: ["table": "\(query.table)", "stored": "\(outcome.stored)", "deleted": "\(outcome.deleted)"])
        progress?(PullProgress(table: query.table, rows: result.stored + result.deleted + result.pending))
    }

    private func savedCursor(_ owner: Cursor.Owner) async throws -> CursorPosition? {
        let saved = try await store.read { try $0.record(owner.id, in: Cursor.schema.name) }
        guard let cursor = saved.flatMap(Cursor.init(record:)), cursor.query == queryText else { return nil }
        return cursor.position
    }

    private func receive(_ request: PullRequest) async throws -> (RowPage, Timestamp?) {
        let columns = dialect.columns
        var query = query
        query.skip = request.skip
        query.top = request.top
        query.includesDeleted = true
        switch request.position {
        case .start: break
        case .changedSince(let text):
            guard let time = Timestamp(text) else {
                throw SluiceError(.storeCorrupt, "the saved cursor is not a time", table: query.table)
            }
            query.restrict(.binary(.ge, .column(columns.updatedAt), .literal(.date(time))))
        case .withoutTime(let id):
            query.restrict(.binary(.eq, .column(columns.updatedAt), .literal(.null)))
            if let id { query.restrict(.binary(.gt, .column(columns.id), .literal(.string(id)))) }
        case .behindID(let id): query.restrict(.binary(.gt, .column(columns.id), .literal(.string(id))))
        }
        if owner != nil {
            query.order = [.init(columns.updatedAt), .init(columns.id)]
        } else if query.order.isEmpty {
            query.order = [.init(columns.id)]
        }
        var listRequest = try dialect.list(table: query.table, query: query, endpoint: client.endpoint)
        listRequest.context.source = .pull
        if owner != nil { listRequest.context.features.insert(.incremental) }
        let response = try await client.send(listRequest)
        let page = try dialect.page(in: response, for: listRequest.context)
        return (page, response.head.headerFields[.date].flatMap { HTTPDate.timestamp($0) })
    }
}

extension Query {
    /// Adds a condition that must hold as well.
    fileprivate mutating func restrict(_ condition: QueryExpression) {
        filter = filter.map { .binary(.and, $0, condition) } ?? condition
    }
}

extension Duration {
    /// The duration in steps of 100 ns.
    fileprivate var ticks: Int64 {
        let parts = components
        return parts.seconds * Timestamp.ticksPerSecond + parts.attoseconds / 100_000_000_000
    }
}
