internal import Logging
public import SluiceBase
public import SluiceWire
internal import Synchronization

/// Keeps a local store and a server's tables in step.
///
/// The application reads and writes through `table(_:)` at any time; ``push(tables:tags:progress:)`` and
/// ``pull(_:named:allowsMassRemoval:progress:)`` carry the changes when the network allows. Push, pull and purge run
/// one at a time; reads and writes wait for none of them.
///
/// ```swift
/// let context = try await SyncContext(client: client, store: store)
/// let todos = try context.table("todos")
/// try await todos.insert(["text": "buy milk"])
/// let result = try await context.push()
/// ```
public final class SyncContext: Sendable {
    /// The client for all requests; nil for a context that only works locally.
    public let client: SluiceClient?
    /// The local store.
    public let store: any LocalStore
    /// The options of the context.
    public let options: SyncOptions
    let activity = SerialActivity()
    let batches = BatchSupport()
    let forms = WrittenForms()
    let partialLists = PartialLists()
    let run = Mutex(SyncRun())
    let hub = ChangeHub()
    let board = StatusBoard()
    let watchers = Broadcast<SyncProgress>()
    /// The local-only tables and columns known to this context: see ``localOnly``.
    let staying = Mutex(LocalOnly())

    /// Opens a context over `store` and creates the tables that it needs there.
    ///
    /// - Parameters:
    ///   - tables: the application's tables whose columns are to be typed; others need no declaration. Their
    ///     references are dependencies too, except to their own table and in a circle: a record is sent after the
    ///     records that it refers to.
    ///   - migrations: the changes to the shape of records since the application's first version, in order. New ones
    ///     are carried out, each whole or not at all, before the tables are declared.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for options that are out of bounds, dependencies that form
    ///   a circle, and migrations that mean nothing; `operationsPending` or `recordExists` for migrations that the
    ///   store cannot follow; `storeBusy` where one is to be done while another process synchronises; of the store.
    public init(
        client: SluiceClient? = nil, store: any LocalStore, tables: [TableSchema] = [],
        migrations: [StoreMigration] = [], options: SyncOptions = SyncOptions()
    ) async throws {
        for table in tables { try SyncTables.validate(table.name) }
        guard options.pageSize > 0 else {
            throw SluiceError(.invalidArgument, "the page size must be 1 or more, not \(options.pageSize)")
        }
        guard options.maximumAttempts > 0, (1...64).contains(options.concurrency),
            (1...100).contains(options.batchSize ?? 1)
        else {
            throw SluiceError(
                .invalidArgument,
                "an operation has 1 attempt or more, a push 1 to 64 requests under way, a batch 1 to 100 operations")
        }
        try TableDependency.validate(options.dependencies)
        self.client = client
        self.store = store
        var options = options
        options.environment.changes = hub
        options.assignedReferences = AssignedReference.all(in: tables)
        options.idReferences = AssignedReference.byID(in: tables)
        options.dependencies += TableDependency.along(tables, declared: options.dependencies)
        self.options = options
        if !migrations.isEmpty {
            try await store.define(SyncTables.all)
            try await migrate(migrations)
        }
        try await store.define(SyncTables.all + tables)
        try await settleLocalOnly()
    }

    /// The queue of waiting operations, with the means to repair it.
    public var queue: SyncQueue { SyncQueue(context: self) }

    var dialect: Dialect { client?.dialect ?? options.dialect }

    func requireClient() throws -> SluiceClient {
        guard let client else {
            throw SluiceError(.invalidArgument, "this context has no client, so it cannot reach a server")
        }
        return client
    }
}

extension SyncContext {
    /// Returns the server's rows that could not be stored, of one table or of all.
    public func quarantine(table: String? = nil) async throws -> [QuarantinedRow] {
        let filter = table.map { QueryExpression.binary(.eq, .column("table"), .literal(.string($0))) }
        return try await store.read {
            try $0.records(matching: TableQuery(QuarantinedRow.schema.name, filter: filter))
                .compactMap(QuarantinedRow.init(record:))
        }
    }

    /// Removes entries of the quarantine, once they have been looked at.
    public func removeFromQuarantine(_ ids: [QuarantinedRow.ID]) async throws {
        try await store.write { try $0.delete(ids, from: QuarantinedRow.schema.name) }
    }
}

extension SyncContext {
    /// Carries out the migrations that the store has not had, one transaction each, while nobody else synchronises it.
    func migrate(_ migrations: [StoreMigration]) async throws {
        let columns = dialect.pushColumns
        try StoreMigration.validate(migrations, columns)
        guard try await !store.read({ try MigrationNote.outstanding(among: migrations, in: $0) }).isEmpty else {
            return
        }
        let environment = options.environment
        try await exclusively(seesAll: true) { store in
            // Another process may have done some of them in the meantime.
            for migration in try await store.read({ try MigrationNote.outstanding(among: migrations, in: $0) }) {
                try await store.write(at: .schema, environment) { writer in
                    let migrator = StoreMigrator(store: writer, columns: columns, now: environment.now())
                    try migrator.carryOut(migration)
                    try MigrationNote.put(migration.name, at: environment.now(), in: writer)
                }
                options.logger.info("the store has followed a migration", metadata: ["migration": "\(migration.name)"])
            }
        }
    }
}

extension SyncContext {
    /// Compares the store's rows of a query with the server's. It uses digests of ranges of ids if the server has
    /// them, else a list of all ids and versions. Nothing is changed.
    ///
    /// - Throws: ``SluiceError``: the errors of a request or the store; `limitReached` for a server that never ends
    ///   its list.
    package func comparison(of query: TableQuery) async throws -> RowComparison {
        let client = try requireClient()
        let version = client.dialect.columns.version
        var local = TableQuery(query.table, filter: query.filter)
        local.select = ["id", version]
        let (rows, pending) = try await shared.read { [local] reader in
            let rows = try reader.records(matching: local).compactMap { record in
                record["id"]?.textID.map { ($0, record[version]?.string) }
            }
            return (rows, try QueueReader(reader).recordIDs(in: local.table))
        }
        let held = LocalQueryRows(Dictionary(rows) { $1 })
        let requests = PullRequests(
            dialect: client.dialect, endpoint: client.endpoint, query: query, isNamed: false)
        var reader = DifferenceReader(
            exchange: RowExchange(client: client, store: store, options: options, requests: requests), query: query,
            sorts: nil)
        let difference = try await reader.difference(held, pending: pending)
        return RowComparison(
            compared: held.ids.count, missing: difference.wanted.filter { held.versions[$0] == nil },
            old: difference.wanted.filter { held.versions[$0] != nil }, extra: difference.missing,
            waiting: difference.pending, usedDigest: difference.usedDigest)
    }
}

extension SyncContext {
    /// Takes the right to synchronise the store away from its holder, for a process that stands still and cannot be
    /// ended. When that process wakes, its work writes nothing more and ends with `storeLeaseLost`.
    ///
    /// A process that has ended in any way holds nothing. A process that stands still inside of a transaction holds
    /// SQLite's own lock too, so that it must be ended.
    ///
    /// - Throws: ``SluiceError`` of the store.
    public func breakLease() async throws {
        try await store.write { writer in try LeaseRecord(writer).pass(to: "", in: writer) }
        try await store.breakLease()
    }

    /// Runs `body` alone in this context, and under the lease among all processes that have the store open. The store
    /// passed to it writes only while the lease is held.
    ///
    /// - Parameter seesAll: whether the store also shows the columns that stay on this machine.
    /// - Throws: ``SluiceError`` of code `storeBusy` if another holds the lease for longer than
    ///   ``SyncOptions/leaseTimeout``, `invalidArgument` inside of another run.
    func exclusively<Result: Sendable>(
        seesAll: Bool = false, _ body: @Sendable (any LocalStore) async throws -> Result
    ) async throws -> Result {
        try await activity.run {
            let lease = try await takeLease()
            defer { lease.release() }
            try await refreshLocalOnly()
            let shared = shared
            let leased = try await LeasedStore(seesAll ? store : shared, holder: options.environment.makeID())
            return try await SynchronisedStore.$records.withValue(StoredRecords(store: shared)) {
                try await body(leased)
            }
        }
    }

    private func takeLease() async throws -> StoreLease {
        var pause = Duration.milliseconds(5)
        var waited = Duration.zero
        while true {
            if let lease = try await store.takeLease() { return lease }
            guard waited < options.leaseTimeout else {
                throw SluiceError(.storeBusy, "another process synchronises the store; try again when it is done")
            }
            pause = min(pause, options.leaseTimeout - waited)
            do {
                try await options.environment.sleep(pause)
            } catch {
                throw SluiceError(wrapping: error)
            }
            waited += pause
            pause = min(pause * 2, .milliseconds(250))
        }
    }
}

/// The records that came from the server, by what the store has of them.
private struct StoredRecords: KnownRecords {
    let store: any LocalStore

    func record(_ id: RecordID, in table: String) async throws -> JSON? {
        try await store.read { reader in
            let state = try QueueReader(reader).state(of: id, in: table)
            return try state?.mirror ?? state?.base ?? reader.record(id, in: table)
        }
    }
}

extension SyncContext {
    /// Makes changes that reach the server all together or not at all. They are stored here in one transaction, as by
    /// ``write(options:_:)``.
    ///
    /// ```swift
    /// try await context.group { group in
    ///     try group.insert(["id": "o-1", "item": "i-7"], in: "orders")
    ///     try group.update(["id": "i-7", "stock": 41], in: "items")
    /// }
    /// ```
    ///
    /// A group needs a server that takes batches: ``SyncOptions/batchSize`` above 1. It holds up to that many
    /// operations, and one on each record. Later edits of its records are sent after it. Retry, discard and undo act
    /// on the whole group.
    ///
    /// - Parameters:
    ///   - options: the options of each operation of the group.
    ///   - body: makes the changes, on the store in its current state. If it throws, nothing has happened. The group
    ///     is valid until it returns. If ``SyncOptions/hooks`` look at the changes, it runs up to four times, and only
    ///     the last run counts.
    /// - Returns: the value that `body` returns.
    /// - Throws: ``SluiceError`` of code `operationRefused` where a group cannot be sent or would be too large; the
    ///   errors of a change and of `body`; of code `refusedByHook` and `hookFailed` where a hook refuses or fails.
    @discardableResult
    public func group<Result: Sendable>(
        options: OperationOptions = OperationOptions(), _ body: @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        let limit = try groupLimit()
        let id = self.options.environment.makeID()
        return try await transact(group: id, options) { transaction in
            let result = try body(transaction)
            let count = try QueueReader(transaction.store).members(of: id).count
            guard count <= limit else {
                throw SluiceError(
                    .operationRefused,
                    "a group holds up to \(limit) operations, as one batch does; this has \(count)")
            }
            return result
        }
    }

    /// Returns the number of operations that a group may have.
    func groupLimit() throws(SluiceError) -> Int {
        guard let size = options.batchSize, size > 1 else {
            throw SluiceError(
                .operationRefused,
                "a group needs a server that takes batches; set the batch size to more than 1 if it does")
        }
        return size
    }
}
