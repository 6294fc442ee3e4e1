extension SyncContext {
    /// Brings the server's rows into the local store.
    ///
    /// With a name the pull is incremental: it brings what has changed since the last pull under that name, tombstones
    /// included, and remembers how far it came, page by page, in the transaction that stores the page. Without a name
    /// it brings all rows of the query and removes none.
    ///
    /// If changes of the table wait in the queue, everything waiting is pushed first. A row with changes that still
    /// wait is not overwritten.
    ///
    /// - Parameters:
    ///   - query: which rows, whole: it has no `select` and asks for no count. With a name it may not have an order,
    ///     `top` or `skip` either.
    ///   - queryName: the name, 1 to 255 characters.
    ///   - progress: told after each page.
    /// - Throws: ``SluiceError``: what ended the push or the pull. Pages stored before it stay, and so does their
    ///   cursor; the next pull goes on from there.
    @discardableResult
    public func pull(
        _ query: Query, named queryName: String? = nil,
        progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws -> PullResult {
        try SyncTables.validate(query.table)
        try validate(query, queryName)
        let client = try requireClient()
        let push = try await pushIfNeeded(before: query.table)
        let owner = queryName.map { self.owner(of: query.table, named: $0, client) }
        let meter = meter(SyncProgress(step: .pulling, table: query.table), progress)
        var result = try await exclusively { [options, board] store in
            let driver = PullDriver(
                client: client, store: store, options: options, query: query, owner: owner,
                progress: { meter?.stored($0.rows) })
            return try await board.during(.pulling, { _ in .reached }) {
                try await ProgressMeter.$current.withValue(meter) { try await driver.run() }
            }
        }
        result.push = push
        return result
    }

    func owner(of table: String, named name: String, _ client: SluiceClient) -> Cursor.Owner {
        Cursor.Owner(
            endpoint: client.endpoint.description, user: options.user, wire: client.dialect.name, table: table,
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

    /// Pushes everything if changes of the table wait. Parked and dead ones do not.
    private func pushIfNeeded(before table: String) async throws -> PushResult? {
        let waits = try await store.read { try QueueReader($0).hasWaiting(in: table) }
        guard waits else { return nil }
        let result = try await push()
        if result.end != .completed, let error = result.error { throw error }
        return result
    }
}
