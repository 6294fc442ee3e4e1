public import SluiceBase
internal import SluiceWire

/// One table of the local store, with its changes queued for the server.
///
/// Every change is stored with its operation in one transaction: when the call returns, neither can be lost. Only
/// ``pull(_:named:allowsMassRemoval:)`` and ``reconcile(_:named:allowsMassRemoval:)`` use the network.
public struct SyncTable: Sendable {
    /// The table's name.
    public let name: String
    let context: SyncContext

    /// Adds a record. A record without an `id` gets a new UUID.
    ///
    /// - Returns: the record as it is stored, with its id, without the properties that only the server sets.
    /// - Throws: ``SluiceError`` of code `recordExists`, `invalidRecord`, or of the store; of code `refusedByHook` and
    ///   `hookFailed` where ``SyncOptions/hooks`` refuse or fail, as for every change.
    @discardableResult
    public func insert(_ record: JSON, options: OperationOptions = OperationOptions()) async throws -> JSON {
        let id = try RecordRules.id(ofNew: record, table: name, context.options.environment)
        return try await change(.insert, id, content: record, options) ?? record
    }

    /// Changes properties of a record; properties that `changes` does not name stay.
    ///
    /// - Parameter changes: the new values and the record's `id`. A null is a value.
    /// - Returns: the record as it is stored.
    /// - Throws: ``SluiceError`` of code `recordMissing`, `operationRefused`, `invalidRecord`, or of the store.
    @discardableResult
    public func update(_ changes: JSON, options: OperationOptions = OperationOptions()) async throws -> JSON {
        let id = try RecordRules.id(ofChanges: changes, table: name)
        return try await change(.update, id, content: changes, options) ?? changes
    }

    /// Deletes a record.
    ///
    /// - Throws: ``SluiceError`` of code `recordMissing`, `operationRefused`, or of the store.
    public func delete(id: some RecordIDConvertible, options: OperationOptions = OperationOptions()) async throws {
        _ = try await change(.delete, id.recordID, content: .object, options)
    }

    /// Brings a deleted record back. A delete that was never sent is taken back at once. Otherwise the next push asks
    /// the server, and a record that is not known here appears with the answer.
    ///
    /// - Throws: ``SluiceError`` of code `operationRefused`, or of the store.
    public func undelete(id: some RecordIDConvertible, options: OperationOptions = OperationOptions()) async throws {
        _ = try await change(.undelete, id.recordID, content: .object, options)
    }

    /// Returns the record with that id, or nil.
    public func lookup(id: some RecordIDConvertible) async throws -> JSON? {
        let name = name
        return try await context.store.read { try $0.record(named: id.recordID, in: name) }
    }

    /// Returns the records that match. The query's table is replaced by this one.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func records(matching query: Query? = nil) async throws -> [JSON] {
        let query = local(query)
        return try await context.store.read { try $0.records(matching: query) }
    }

    /// Counts the records that match the query's filter.
    public func count(matching query: Query? = nil) async throws -> Int {
        let query = local(query)
        return try await context.store.read { try $0.count(matching: query) }
    }

    /// Brings the server's rows here: see ``SyncContext/pull(_:named:allowsMassRemoval:progress:)``.
    @discardableResult
    public func pull(
        _ query: Query? = nil, named queryName: String? = nil, allowsMassRemoval: Bool = false
    ) async throws -> PullResult {
        try await context.pull(local(query), named: queryName, allowsMassRemoval: allowsMassRemoval)
    }

    /// Repairs differences from the server's rows: see ``SyncContext/reconcile(_:named:allowsMassRemoval:)``.
    @discardableResult
    public func reconcile(
        _ query: Query? = nil, named queryName: String, allowsMassRemoval: Bool = false
    ) async throws -> ReconcileResult {
        try await context.reconcile(local(query), named: queryName, allowsMassRemoval: allowsMassRemoval)
    }

    /// Removes rows from the local store only: see ``SyncContext/purge(_:named:force:)``.
    @discardableResult
    public func purge(_ query: Query? = nil, named queryName: String? = nil, force: Bool = false) async throws -> Int {
        try await context.purge(local(query), named: queryName, force: force)
    }

    func local(_ query: Query?) -> Query {
        var query = query ?? Query(name)
        query.table = name
        return query
    }

    private func change(_ kind: TableOperation.Kind, _ id: RecordID, content: JSON, _ options: OperationOptions)
        async throws -> JSON?
    {
        let environment = context.options.environment
        let change = LocalChange(
            kind, id, in: name, content: content, options: options, user: context.options.user,
            systemColumns: context.dialect.pushColumns.system,
            localOnly: context.localOnly, namesKeys: context.dialect.namesKeys)
        if !context.localOnly.tables.contains(name),
            let chain = AskedHooks(context.options.hooks, .beforeEnqueue, table: name)
        {
            return try await HookedWrite(change: change, chain: chain, context: context).carryOut()
        }
        return try await context.store.write(at: .localChange, environment) {
            try change.apply(to: $0, environment: environment)
        }
    }
}
