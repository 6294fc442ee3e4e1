internal import Logging
public import SluiceBase
internal import SluiceWire

extension SyncTable {
    /// Returns the record with that id, or nil.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a record that does not fit the type, or of the store.
    public func lookup(id: some RecordIDConvertible) async throws -> Record? {
        let name = name
        return try await context.store.read { try $0.record(named: id.recordID, in: name) }.map(value)
    }

    /// Returns the records that match, without those that do not fit the type. The query's table is replaced by this
    /// one; its `select` counts for JSON alone, because no other value can be made of a part of a record.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func records(matching query: TableQuery? = nil) async throws -> [Record] {
        let sorted = try await sorted(query)
        for misfit in sorted.misfits { context.options.logger.warning("\(misfit)") }
        return sorted.records
    }

    /// Returns an error of code `invalidRecord` for each record that matches and does not fit the type; each names the
    /// record.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func misfits(matching query: TableQuery? = nil) async throws -> [SluiceError] {
        try await sorted(query).misfits
    }

    /// Returns each record that matches, in the query's order, or an error of code `invalidRecord` with the record's id
    /// where one does not fit the type.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func results(matching query: TableQuery? = nil) async throws -> [Result<Record, SluiceError>] {
        let query = reading(query)
        return coder.results(try await context.store.read { try $0.records(matching: query) })
    }

    /// Counts the records that match the query's filter, including records that do not fit the type.
    public func count(matching query: TableQuery? = nil) async throws -> Int {
        let query = local(query)
        return try await context.store.read { try $0.count(matching: query) }
    }

    /// Brings the server's rows here: see ``SyncContext/pull(_:named:allowsMassRemoval:progress:)``.
    @discardableResult
    public func pull(
        _ query: TableQuery? = nil, named queryName: String? = nil, allowsMassRemoval: Bool = false
    ) async throws -> PullResult {
        try await context.pull(local(query), named: queryName, allowsMassRemoval: allowsMassRemoval)
    }

    /// Repairs differences from the server's rows: see ``SyncContext/reconcile(_:named:allowsMassRemoval:)``.
    @discardableResult
    public func reconcile(
        _ query: TableQuery? = nil, named queryName: String, allowsMassRemoval: Bool = false
    ) async throws -> ReconcileResult {
        try await context.reconcile(local(query), named: queryName, allowsMassRemoval: allowsMassRemoval)
    }

    /// Removes rows from the local store only: see ``SyncContext/purge(_:named:force:)``.
    @discardableResult
    public func purge(_ query: TableQuery? = nil, named queryName: String? = nil, force: Bool = false) async throws
        -> Int
    {
        try await context.purge(local(query), named: queryName, force: force)
    }

    /// Returns the query, for this table.
    func local(_ query: TableQuery?) -> TableQuery {
        var query = coder.query(query ?? TableQuery(name))
        query.table = name
        return query
    }

    /// Returns the query for this table's records: for whole ones, unless they are JSON.
    func reading(_ query: TableQuery?) -> TableQuery {
        var query = local(query)
        if !coder.isJSON { query.select = [] }
        return query
    }

    private func sorted(_ query: TableQuery?) async throws -> (
        fitting: [JSON], records: [Record], misfits: [SluiceError]
    ) {
        let query = reading(query)
        return coder.sorted(try await context.store.read { try $0.records(matching: query) })
    }
}
