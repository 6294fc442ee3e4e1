public import SluiceBase
internal import SluiceWire
internal import Synchronization

extension SyncContext {
    /// Brings the server's rows into the local store.
    ///
    /// With a name the pull is incremental: it brings the changes since the last pull under that name, tombstones
    /// included. It saves its position page by page, in the transaction that stores the page. The pulled rows belong
    /// to the query until it releases them. Without a name the pull brings all rows of the query and saves no
    /// position. It removes only rows that the server marks as deleted.
    ///
    /// If changes of the table wait in the queue, the whole queue is pushed first. Operations that failed since the
    /// last push, or since this query was pulled, are left out, so that pulling several tables in turn makes one
    /// attempt. A row with waiting changes is not overwritten.
    ///
    /// - Parameters:
    ///   - query: the rows to pull, as whole records: it has no `select` and asks for no count. With a name it may not
    ///     have an order, `top` or `skip` either.
    ///   - queryName: the name, 1 to 255 characters.
    ///   - allowsMassRemoval: whether the pull may remove more rows than ``PullOptions`` permits by default.
    ///   - progress: called after each page.
    /// - Throws: ``SluiceError``: the error that ended the push or the pull. Pages stored before it stay, and so does
    ///   their cursor; the next pull goes on from there. Of code `limitReached` at the limits of ``PullOptions``, of
    ///   code `removalsHeld` where too many rows would be removed.
    @discardableResult
    public func pull(
        _ query: TableQuery, named queryName: String? = nil, allowsMassRemoval: Bool = false,
        progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws -> PullResult {
        try SyncTables.validate(query.table)
        try validate(query, queryName)
        let client = try requireClient()
        let push = try await pushIfNeeded(before: SyncRun.Pull(query: query, name: queryName))
        let owner = queryName.map { self.owner(of: query.table, named: $0, client) }
        let meter = meter(SyncProgress(step: .pulling, table: query.table), progress)
        let stored: (@Sendable (Int, Int?) -> Void)? =
            if let meter { { rows, total in meter.stored(rows, of: total) } } else { nil }
        var result = try await exclusively { [options, board] store in
            try checkShared(query.table)
            let driver = PullDriver(
                client: client, store: store, options: options, query: query, owner: owner,
                allowsRemovals: allowsMassRemoval, progress: stored)
            return try await board.during(.pulling, { _ in .reached }) {
                var driver = driver
                return try await Metering.$meter.withValue(meter) { try await driver.run() }
            }
        }
        result.push = push
        return result
    }

    /// Compares the local rows of a named query with the server's rows, and repairs the differences. Rows that are
    /// gone on the server, or that left the query, are removed, unless another named query holds them. Missing or
    /// outdated rows are fetched. Rows with waiting changes are left alone.
    ///
    /// It uses the server's digests if there are any, so that a table in step costs one request. Otherwise it lists
    /// all ids and versions.
    ///
    /// - Parameters:
    ///   - query: the query as it was pulled.
    ///   - queryName: the name under which it was pulled.
    ///   - allowsMassRemoval: whether more rows may be removed than ``PullOptions`` permits by default.
    /// - Throws: ``SluiceError``: `invalidArgument` for a name that nothing was pulled under, or with another query;
    ///   `removalsHeld`; and the errors of a request or the store.
    @discardableResult
    public func reconcile(
        _ query: TableQuery, named queryName: String, allowsMassRemoval: Bool = false
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

    /// The origin of this context's rows; nil without a client.
    var source: RowSource? {
        client.map { RowSource(endpoint: $0.endpoint.identity, user: options.user) }
    }

    func owner(of table: String, named name: String, _ client: SluiceClient) -> Cursor.Owner {
        Cursor.Owner(
            endpoint: client.endpoint.identity, user: options.user, wire: client.dialect.name, table: table,
            name: name)
    }

    private func validate(_ query: TableQuery, _ name: String?) throws(SluiceError) {
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

    /// Pushes the operations that have not failed in this run, if changes of the table wait. Parked and dead
    /// operations do not count. A push that an operation of another table ended does not stop this table's pull.
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
