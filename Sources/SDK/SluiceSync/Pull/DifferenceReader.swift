package import SluiceBase
internal import SluiceWire

/// A comparison of a query's rows in the store with the server's.
package struct RowComparison: Sendable, Hashable {
    /// The number of the query's rows in the store.
    package var compared = 0
    /// Rows that the server has and the store lacks.
    package var missing: [RecordID] = []
    /// Rows with another version here than on the server.
    package var old: [RecordID] = []
    /// Rows that are not on the server, or not in this query there.
    package var extra: [RecordID] = []
    /// The number of different rows with unsent changes.
    package var waiting = 0
    /// Whether digests sufficed to find the differing ranges.
    package var usedDigest = false

    package var isEqual: Bool { missing.isEmpty && old.isEmpty && extra.isEmpty }
}

/// Finds the differences between a query's local rows and the server's: it requests the digests and lists for
/// ``ReconcileSession``. It changes nothing.
struct DifferenceReader: Sendable {
    let exchange: RowExchange
    let query: TableQuery
    /// Whether the server sorts lists; nil if unknown. A server with digests in the order of ids does.
    let sorts: Bool?
    /// The numbers of requested digests and lists, and of received rows.
    private var (asked, came) = (0, 0)
    private var size: PageSize
    /// Whether the server has listed a row, or answered with a digest.
    private(set) var hasListed = false

    init(exchange: RowExchange, query: TableQuery, sorts: Bool?) {
        self.exchange = exchange
        self.query = query
        self.sorts = sorts
        size = PageSize(wanted: exchange.options.pageSize)
    }

    /// Returns the difference between those rows and the server's.
    ///
    /// - Parameter pending: the rows with waiting changes.
    /// - Throws: ``SluiceError`` of a request, and of code `limitReached` for a server that never ends.
    mutating func difference(
        _ held: LocalQueryRows, pending: Set<RecordID>
    ) async throws -> ReconcileSession.Difference {
        // A server sends more rows at once without their content.
        let list = query.table + "/id"
        let known = try await exchange.pageSize(of: list)
        size = known
        let found: Result<ReconcileSession.Difference, any Error>
        do { found = .success(try await follow(held, pending)) } catch { found = .failure(error) }
        await exchange.keep(size, of: list, knowing: known)
        return try found.get()
    }

    private mutating func follow(
        _ held: LocalQueryRows, _ pending: Set<RecordID>
    ) async throws -> ReconcileSession.Difference {
        var session = ReconcileSession(held: held, pending: pending)
        var effect = session.handle(.began)
        while true {
            switch effect {
            case .digest(let range):
                let digest = try await digest(of: range)
                if digest != nil { hasListed = true }
                effect = session.handle(.digest(digest))
            case .list(let range): effect = session.handle(.listed(try await list(range)))
            case .finish(let difference): return difference
            }
        }
    }

    /// Returns the server's digest; nil where it offers no usable one.
    private mutating func digest(of range: TableDigest.Range?) async throws -> TableDigest? {
        try checkLimits()
        var request = try exchange.client.dialect.digest(
            table: query.table, query: query, range: range, endpoint: exchange.client.endpoint)
        request.context.source = .pull
        let response = try await exchange.client.send(request)
        if [400, 404, 405, 501].contains(response.status) { return nil }
        if let failure = exchange.client.dialect.failure(response, for: request.context) { throw failure }
        let digest = (try? response.body.json).flatMap { TableDigest($0) }
        return digest.flatMap { $0.isOrdered(within: range) ? $0 : nil }
    }

    /// Throws at the limits: a server could split ranges and list rows without end.
    private mutating func checkLimits() throws(SluiceError) {
        let limits = exchange.options.pull
        guard asked < limits.maximumPages, came < limits.maximumRows else {
            throw SluiceError(
                .limitReached,
                "the server has listed \(came.counted("row")) in \(asked.counted("answer")), as many as its limits allow",
                table: query.table)
        }
        asked += 1
    }

    /// Returns the ids and versions of the query's rows, or of those in a range.
    private mutating func list(_ range: TableDigest.Range?) async throws -> [RecordID: String?] {
        let columns = exchange.client.dialect.columns
        var query = query
        query.select = [columns.id, columns.version]
        if let range {
            query.restrict(.binary(.ge, .column(columns.id), .literal(.id(range.from))))
            query.restrict(.binary(.le, .column(columns.id), .literal(.id(range.to))))
        }
        let requests = PullRequests(
            dialect: exchange.client.dialect, endpoint: exchange.client.endpoint, query: query, isNamed: false,
            includesDeleted: false)
        var listed: [RecordID: String?] = [:]
        var session = FullPullSession(
            query: query, pageSize: exchange.options.pageSize, sorts: range == nil ? sorts : true)
        let lister = RowExchange(
            client: exchange.client, store: exchange.store, options: exchange.options, requests: requests)
        var page: RowPage?
        var effect = session.handle(.began)
        while true {
            switch effect {
            case .request(let wanted), .ask(let wanted):
                try Task.checkCancellation()
                try checkLimits()
                do {
                    let answer = try await lister.page(wanted, &size)
                    page = answer.page
                    came += answer.page.rows.count
                    if came > 0 { hasListed = true }
                    effect = session.handle(
                        .page(PullPage(rows: answer.page.rows, asked: answer.asked, linksOn: answer.linksOn)))
                } catch let error as SluiceError {
                    effect = session.handle(.failed(error))
                }
            case .commit(let rows, _):
                for row in rows.compactMap({ page?.rows[$0] }) where !row.isDeleted && !row.isUnfit {
                    listed[row.id] = .some(row.version)
                }
                effect = session.handle(.committed)
            case .finish(nil): return listed
            case .finish(let error?): throw error
            }
        }
    }
}
