public import SluiceBase
internal import SluiceWire

/// Reads and changes of several records and tables, all of them stored or none: see ``SyncContext/write(options:_:)``
/// and ``SyncContext/group(options:_:)``. It is valid until the closure that got it returns.
public struct LocalTransaction {
    /// The id that the operations of a group have; nil outside of one.
    public let group: String?
    let context: SyncContext
    let options: OperationOptions
    package let store: any StoreWriter
    /// The hooks' verdicts on the changes; nil where there are none.
    let run: PlannedRun?
    private let scope = ChangeScope()

    /// Adds a record; see ``SyncTable/insert(_:options:)``.
    @discardableResult
    public func insert(_ record: JSON, in table: String) throws -> JSON {
        let environment = context.options.environment
        let id =
            try run?.id(ofNew: record, table: table, environment)
            ?? RecordRules.id(ofNew: record, table: table, environment)
        return try change(.insert, id, in: table, record) ?? record
    }

    /// Changes properties of a record; see ``SyncTable/update(_:options:)``.
    @discardableResult
    public func update(_ changes: JSON, in table: String) throws -> JSON {
        try change(.update, try RecordRules.id(ofChanges: changes, table: table), in: table, changes) ?? changes
    }

    /// Deletes a record; see ``SyncTable/delete(id:options:)``.
    public func delete(id: some RecordIDConvertible, in table: String) throws {
        _ = try change(.delete, id.recordID, in: table)
    }

    /// Brings a deleted record back; see ``SyncTable/undelete(id:options:)``.
    public func undelete(id: some RecordIDConvertible, in table: String) throws {
        _ = try change(.undelete, id.recordID, in: table)
    }

    /// The record as it is, with what was changed so far; or nil.
    public func lookup(id: some RecordIDConvertible, in table: String) throws -> JSON? {
        try SyncTables.validate(table)
        return try store.record(named: id.recordID, in: table)
    }

    /// The records that match, with what was changed so far.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func records(matching query: Query) throws -> [JSON] {
        try SyncTables.validate(query.table)
        return try store.records(matching: query)
    }

    /// How many records match the query's filter, with what was changed so far.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func count(matching query: Query) throws -> Int {
        try SyncTables.validate(query.table)
        return try store.count(matching: query)
    }

    private func change(
        _ kind: TableOperation.Kind, _ recordID: RecordID, in table: String, _ content: JSON = .object
    ) throws -> JSON? {
        try SyncTables.validate(table)
        let change = LocalChange(
            kind, recordID, in: table, content: content, options: options, group: group, user: context.options.user,
            systemColumns: context.dialect.pushColumns.system, localOnly: context.localOnly,
            namesKeys: context.dialect.namesKeys)
        let stays = context.localOnly.tables.contains(table)
        let decided = try stays ? change : run?.decide(change, context.options.hooks, store) ?? change
        return try decided.apply(to: store, environment: context.options.environment, scope: scope)
    }
}

extension SyncContext {
    /// Reads and changes records of any tables in one transaction: all changes are stored and queued, or none.
    ///
    /// ```swift
    /// try await context.write { transaction in
    ///     let open = try transaction.records(matching: Query("todos").where(column("done") == false))
    ///     for todo in open { try transaction.update(["id": todo["id"] ?? .null, "done": true], in: "todos") }
    ///     try transaction.insert(["closed": JSON(open.count)], in: "log")
    /// }
    /// ```
    ///
    /// Each change is queued as if it had been made alone, and is sent alone: what has to reach the server together is
    /// a ``group(options:_:)``. While the body runs, other writes to the store wait.
    ///
    /// - Parameters:
    ///   - options: what is said of each operation.
    ///   - body: reads and changes the store as it is in that moment. Where it throws, nothing has happened. Where
    ///     ``SyncOptions/hooks`` look at the changes it runs up to four times, and only the last time counts. It may run
    ///     again, too, where the store shares one commit among several writes and that fails.
    /// - Returns: what `body` returns.
    /// - Throws: what a change throws; what `body` throws; ``SluiceError`` of code `refusedByHook` and `hookFailed`
    ///   where a hook says so; of the store.
    @discardableResult
    public func write<Result: Sendable>(
        options: OperationOptions = OperationOptions(), _ body: @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        try await transact(group: nil, options, body)
    }

    /// Runs `body` in a transaction, again where hooks have seen other changes than it makes.
    func transact<Result: Sendable>(
        group: String?, _ options: OperationOptions, _ body: @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        let environment = self.options.environment
        var plan = self.options.hooks.isEmpty ? nil : ChangePlan()
        while true {
            let decided = plan
            do {
                return try await store.write(at: .localChange, environment) { writer in
                    let run = decided.map { PlannedRun($0) }
                    let result = try body(
                        LocalTransaction(group: group, context: self, options: options, store: writer, run: run))
                    try run?.confirm()
                    return result
                }
            } catch let undecided as ChangePlan.Undecided {
                plan = try await plan?.asking(self.options.hooks, about: undecided)
            }
        }
    }
}
