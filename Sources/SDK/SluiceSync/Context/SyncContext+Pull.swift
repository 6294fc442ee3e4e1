public import SluiceBase
internal import SluiceWire
internal import Synchronization

extension SyncContext {
    /// Brings the server's rows into the local store.
    ///
    /// With a name the pull is incremental: it brings what has changed since the last pull under that name, tombstones
    /// included, and remembers how far it came, page by page, in the transaction that stores the page. The rows that
    /// come belong to the query, until it lets them go. Without a name it brings all rows of the query, removes none
    /// that the server does not mark as deleted, and remembers nothing.
    ///
    /// If changes of the table wait in the queue, everything waiting is pushed first, but not what did not go through
    /// since the last push, or since this query was pulled: one table after the other is pulled with one attempt. A row
    /// with changes that still wait is not overwritten.
    ///
    /// - Parameters:
    ///   - query: which rows, whole: it has no `select` and asks for no count. With a name it may not have an order,
    ///     `top` or `skip` either.
    ///   - queryName: the name, 1 to 255 characters.
    ///   - allowsMassRemoval: whether the pull may remove more rows than ``PullOptions`` lets it unasked.
    ///   - progress: told after each page.
    /// - Throws: ``SluiceError``: what ended the push or the pull. Pages stored before it stay, and so does their
    ///   cursor; the next pull goes on from there. Of code `limitReached` at the limits of ``PullOptions``, of code
    ///   `removalsHeld` where too many rows would be removed.
    @discardableResult
    public func pull(
        _ query: Query, named queryName: String? = nil, allowsMassRemoval: Bool = false,
        progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws -> PullResult {
        try SyncTables.validate(query.table)
        try validate(query, queryName)
        let client = try requireClient()
        let push = try await pushIfNeeded(before: SyncRun.Pull(query: query, name: queryName))
        let owner = queryName.map { self.owner(of: query.table, named: $0, client) }
        let meter = meter(SyncProgress(step: .pulling, table: query.table), progress)
        var result = try await exclusively { [options, board] store in
            try checkShared(query.table)
            let driver = PullDriver(
                client: client, store: store, options: options, query: query, owner: owner,
                allowsRemovals: allowsMassRemoval, progress: { meter?.stored($0) })
            return try await board.during(.pulling, { _ in .reached }) {
                var driver = driver
                return try await Metering.$meter.withValue(meter) { try await driver.run() }
            }
        }
        result.push = push
        return result
    }

    /// Compares the rows that a named query holds here with those that the server has of it, and mends what differs:
    /// rows that the server has no longer, or that left the query, go, unless another named query holds them; rows that
    /// are missing or old are brought. Rows with waiting changes are left alone.
    ///
    /// The server's digests are used where it offers them, so that a table in step costs one request; else all ids and
    /// versions are listed.
    ///
    /// - Parameters:
    ///   - query: the query as it was pulled.
    ///   - queryName: the name under which it was pulled.
    ///   - allowsMassRemoval: whether more rows may be removed than ``PullOptions`` lets it unasked.
    /// - Throws: ``SluiceError``: `invalidArgument` for a name that nothing was pulled under, or with another query;
    ///   `removalsHeld`; and what a request or the store throws.
    @discardableResult
    public func reconcile(
        _ query: Query, named queryName: String, allowsMassRemoval: Bool = false
    ) async throws -> ReconcileResult {
        try SyncTables.validate(query.table)
        try validate(query, queryName)
        let client = try requireClient()
        let owner = owner(of: query.table, named: queryName, client)
        return try await exclusively { [options, board] store in
            try checkShared(query.table)
            let saved = try await store.read { try $0.record(owner.id, in: Cursor.schema.name) }
            guard let cursor = saved.flatMap(Cursor.init(record:)),
                cursor.query == Cursor.text(of: query, client.dialect.odata)
            else {
                throw SluiceError(
                    .invalidArgument, "this query was not pulled under the name \(queryName)", table: query.table)
            }
            let requests = PullRequests(
                dialect: client.dialect, endpoint: client.endpoint, query: query, isNamed: true)
            let driver = ReconcileDriver(
                exchange: RowExchange(client: client, store: store, options: options, requests: requests),
                query: query, cursor: cursor,
                removals: RemovalGuard(options.pull, isAllowed: allowsMassRemoval))
            return try await board.during(.pulling, { _ in .reached }) {
                try await store.write { try Cursor.restartOthers(than: owner.source, of: query.table, in: $0) }
                var driver = driver
                return try await driver.run()
            }
        }
    }

    /// Where this context's rows come from; nil without a client.
    var source: RowSource? {
        client.map { RowSource(endpoint: $0.endpoint.identity, user: options.user) }
    }

    func owner(of table: String, named name: String, _ client: SluiceClient) -> Cursor.Owner {
        Cursor.Owner(
            endpoint: client.endpoint.identity, user: options.user, wire: client.dialect.name, table: table,
            name: name)
    }

    private func validate(_ query: Query, _ name: String?) throws(SluiceError) {
        func refuse(_ reason: String) throws(SluiceError) -> Never {
            throw SluiceError(.invalidQuery, reason, table: query.table)
        }
        guard query.select.isEmpty else {
            try refuse("a pull stores whole records, so its query cannot select properties")
        }
        guard !query.includesCount else {
            try refuse("a pull's result says how many rows it brought, so its query cannot ask for a count")
        }
        guard query.skip >= 0, query.top ?? 0 >= 0 else { try refuse("skip and top cannot be negative") }
        let hidden = query.parameters.first { $0.name.lowercased() == dialect.includeDeleted.name.lowercased() }
        guard hidden == nil else {
            try refuse("a pull always asks for deleted rows: \(hidden?.name ?? "") is not yours")
        }
        guard let name else { return }
        guard query.order.isEmpty, query.top == nil, query.skip == 0 else {
            try refuse("a named pull follows the time of change, so its query cannot have an order, top or skip")
        }
        guard !name.isEmpty, name.unicodeScalars.count <= 255 else {
            try refuse("a query's name is 1 to 255 characters")
        }
    }

    /// Pushes what has not failed in this run, if changes of the table wait. Parked and dead ones do not. A push that a change
    /// of another table ended does not keep this one's rows away.
    private func pushIfNeeded(before pull: SyncRun.Pull) async throws -> PushResult? {
        let tried = run.withLock { $0.take(pull) }
        let failed = try await store.read { [options] reader -> Set<String>? in
            let queue = QueueReader(reader)
            let failed = try queue.stillFailed(tried)
            return try queue.hasWaiting(in: pull.query.table, of: options.user, besides: failed) ? failed : nil
        }
        guard let failed else { return nil }
        let result = try await send(PushSelection(excluded: failed))
        run.withLock { $0.note(result) }
        if result.end != .completed, let error = result.error {
            let isOfOther = error.table.map { $0 != pull.query.table } ?? false
            guard isOfOther, !error.endsRun, error.code != .aborted else { throw error }
        }
        return result
    }
}
