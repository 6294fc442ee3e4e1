internal import Logging
public import SluiceBase
public import SluiceWire
internal import Synchronization

/// Keeps a local store and a server's tables in step.
///
/// The application reads and writes through ``table(_:)`` at any time; ``push()`` and ``pull(_:named:allowsMassRemoval:progress:)`` carry the
/// changes when the network allows. Push, pull and purge run one at a time; reads and writes wait for none of them.
///
/// ```swift
/// let context = try await SyncContext(client: client, store: store)
/// let todos = try context.table("todos")
/// try await todos.insert(["text": "buy milk"])
/// let result = try await context.push()
/// ```
public final class SyncContext: Sendable {
    /// The client that requests go through; nil for a context that only works locally.
    public let client: SluiceClient?
    /// The store.
    public let store: any LocalStore
    /// How the context works.
    public let options: SyncOptions
    let activity = SerialActivity()
    let batches = BatchSupport()
    let forms = WrittenForms()
    let run = Mutex(SyncRun())
    let hub = ChangeHub()
    let board = StatusBoard()
    let watchers = Broadcast<SyncProgress>()
    /// What stays on this machine, as far as this context knows: see ``localOnly``.
    let staying = Mutex(LocalOnly())

    /// A context over `store`, in which it makes the tables it needs.
    ///
    /// - Parameters:
    ///   - tables: the application's tables whose columns are to be typed; others need no declaration. Their references
    ///     are dependencies too, except to their own table and in a circle: a record goes after those that it refers to.
    ///   - migrations: what changed the shape of records since the application's first version, in this order. Those
    ///     that the store has not seen are carried out, each whole or not at all, before the tables are declared.
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

    /// The table of that name, for local reads and writes.
    public func table(_ name: String) throws -> SyncTable {
        try SyncTables.validate(name)
        return SyncTable(name: name, context: self)
    }

    /// What waits in the queue, and the means to repair it.
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
    /// The rows that the server has sent and that could not be stored; of one table, or of all.
    public func quarantine(table: String? = nil) async throws -> [QuarantinedRow] {
        let filter = table.map { QueryExpression.binary(.eq, .column("table"), .literal(.string($0))) }
        return try await store.read {
            try $0.records(matching: Query(QuarantinedRow.schema.name, filter: filter))
                .compactMap(QuarantinedRow.init(record:))
        }
    }

    /// Forgets entries of the quarantine, once they have been looked at.
    public func removeFromQuarantine(_ ids: [QuarantinedRow.ID]) async throws {
        try await store.write { try $0.delete(ids, from: QuarantinedRow.schema.name) }
    }
}

extension SyncContext {
    /// Carries out those of the migrations that the store has not seen, one transaction each, while nobody else
    /// synchronises it.
    func migrate(_ migrations: [StoreMigration]) async throws {
        let columns = dialect.pushColumns
        try StoreMigration.validate(migrations, columns)
        guard try await !store.read({ try MigrationNote.outstanding(among: migrations, in: $0) }).isEmpty else {
            return
        }
        let environment = options.environment
        try await exclusively(seesAll: true) { store in
            // Another process may have done some meanwhile.
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
