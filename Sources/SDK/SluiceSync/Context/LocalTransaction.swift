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

    /// Adds a record; see ``SyncTable/insert(_:options:)->Record``.
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

    /// Returns the record with the changes made so far, or nil.
    public func lookup(id: some RecordIDConvertible, in table: String) throws -> JSON? {
        try SyncTables.validate(table)
        return try store.record(named: id.recordID, in: table)
    }

    /// Returns the records that match, with the changes made so far.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func records(matching query: TableQuery) throws -> [JSON] {
        try SyncTables.validate(query.table)
        return try store.records(matching: query)
    }

    /// Counts the records that match the query's filter, with the changes made so far.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func count(matching query: TableQuery) throws -> Int {
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
    ///     let open = try transaction.records(matching: TableQuery("todos").where(column("done") == false))
    ///     for todo in open { try transaction.update(["id": todo["id"] ?? .null, "done": true], in: "todos") }
    ///     try transaction.insert(["closed": JSON(open.count)], in: "log")
    /// }
    /// ```
    ///
    /// Each change is queued and sent as if it had been made alone. Use ``group(options:_:)`` for changes that must
    /// reach the server together. While the body runs, other writes to the store wait.
    ///
    /// - Parameters:
    ///   - options: the options of each operation.
    ///   - body: reads and changes the store in its current state. If it throws, nothing has happened. If
    ///     ``SyncOptions/hooks`` look at the changes, it runs up to four times, and only the last run counts. It may
    ///     also run again if the store shares one commit among several writes and that commit fails.
    /// - Returns: the value that `body` returns.
    /// - Throws: the errors of a change and of `body`; ``SluiceError`` of code `refusedByHook` and `hookFailed` where
    ///   a hook refuses or fails; of the store.
    @discardableResult
    public func write<Result: Sendable>(
        options: OperationOptions = OperationOptions(), _ body: @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        try await transact(group: nil, options, body)
    }

    /// Runs `body` in a transaction, and again where hooks have seen changes other than its own.
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

/// The decisions of hooks about the changes of a transaction.
///
/// A transaction's changes are known only once its body has run, inside a transaction. So the body runs, the changes
/// for the hooks are noted, and the transaction is rolled back. Then the hooks are asked, and the body runs again. The
/// run counts if the hooks have seen each of its changes unaltered.
struct ChangePlan: Sendable {
    /// Thrown to roll a run back because hooks have not seen all of its changes.
    struct Undecided: Error {
        /// The number of decisions that still stand.
        var valid: Int
        /// The changes of the run after the valid decisions.
        var looks: [EnqueuePreview]
        /// The ids that the run made for new records.
        var ids: [RecordID]
    }

    struct Decision: Sendable {
        var look: EnqueuePreview
        var verdict: EnqueueVerdict
    }

    var decisions: [Decision] = []
    /// The ids of new records, which are the same in each run.
    var ids: [RecordID] = []
    private var attempts = 0

    init() {}

    /// Returns the plan with the hooks' verdicts on the changes that they had not seen.
    func asking(_ hooks: [any SyncHook], about undecided: Undecided) async throws(SluiceError) -> ChangePlan {
        var plan = self
        plan.attempts += 1
        guard plan.attempts <= HookedWrite.mostAttempts else { throw HookedWrite.moved() }
        plan.decisions = Array(decisions.prefix(undecided.valid))
        plan.ids = undecided.ids
        for look in undecided.looks {
            let chain = AskedHooks(hooks, .beforeEnqueue, table: look.change.table)
            let seen = look.shown(attempt: plan.attempts)
            plan.decisions.append(Decision(look: look, verdict: try await chain?.verdict(on: seen) ?? EnqueueVerdict()))
        }
        return plan
    }
}

/// One run of the body, by the plan so far. It lives as long as the transaction.
final class PlannedRun {
    private let plan: ChangePlan
    private var ids: [RecordID]
    /// The number of changes for hooks so far; below it the number of ids made.
    private var changes = 0
    private var made = 0
    /// The number of decisions that stood; nil while all do.
    private var valid: Int?
    private var looks: [EnqueuePreview] = []

    init(_ plan: ChangePlan) {
        self.plan = plan
        ids = plan.ids
    }

    /// Returns the id of a new record: its own, or one that is the same in each run.
    func id(ofNew record: JSON, table: String, _ environment: SyncEnvironment) throws -> RecordID {
        guard record["id"]?.isNull ?? true else { return try RecordRules.id(ofNew: record, table: table, environment) }
        if made == ids.count { ids.append(try RecordRules.id(ofNew: record, table: table, environment)) }
        made += 1
        return ids[made - 1]
    }

    /// Returns the change with the hooks' verdict, or unchanged where they have still to see it.
    func decide(_ change: LocalChange, _ hooks: [any SyncHook], _ store: any StoreReader) throws -> LocalChange {
        guard AskedHooks(hooks, .beforeEnqueue, table: change.table) != nil else { return change }
        let look = try change.look(at: store)
        defer { changes += 1 }
        if valid == nil, changes < plan.decisions.count, plan.decisions[changes].look == look {
            return change.taking(plan.decisions[changes].verdict)
        }
        valid = valid ?? changes
        looks.append(look)
        return change
    }

    /// - Throws: ``ChangePlan/Undecided`` where hooks have to be asked about something.
    func confirm() throws {
        if let valid { throw ChangePlan.Undecided(valid: valid, looks: looks, ids: ids) }
    }
}
