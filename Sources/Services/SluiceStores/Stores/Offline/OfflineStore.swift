public import SluiceBase
public import SluiceSync
internal import SluiceWire

/// A store that answers only from the device, and holds the records of its defining requests.
///
/// ```swift
/// let offline = OfflineStore(context: context, tables: [agencies, bookings])
/// try await offline.open()
/// try await offline.add(DefiningRequest("us", of: "Agencies", try ODataOptions("$filter=Country eq 'US'")))
/// try await offline.download()
/// let result = try await offline.read("Agencies?$filter=Country eq 'US' and Rank gt 3")
/// ```
///
/// Nothing is synchronised by itself: ``download(_:allowsMassRemoval:progress:)`` brings the service's changes,
/// ``upload(tags:progress:)`` sends the local ones. A read reports whether its answer is complete
/// (``StoreResult/isComplete``): it is if defining requests provably hold every requested record.
public final class OfflineStore: DataStore {
    /// The store, its client and the queue.
    public let context: SyncContext
    /// The tables, with their references.
    public let tables: [TableSchema]
    /// The names of the service's functions and actions.
    public let operations: [String]
    /// The options of the store.
    public let options: OfflineOptions
    let schemas: StoreSchemas
    let state = OpenState("offline")

    /// Creates a store on a sync context, which is not open yet. Tables are those that the context was created with,
    /// and have references for navigation.
    ///
    /// - Parameters:
    ///   - context: the sync context.
    ///   - tables: the tables with references.
    ///   - operations: the names of the service's functions and actions (``EdmModel/operations``). An address that begins
    ///     with one is a call, and cannot be answered offline.
    ///   - options: the options of uploads and downloads.
    public init(
        context: SyncContext, tables: [TableSchema] = [], operations: [String] = [],
        options: OfflineOptions = OfflineOptions()
    ) {
        self.context = context
        self.tables = tables
        self.operations = operations
        self.options = options
        schemas = StoreSchemas(tables, operations: operations)
    }

    /// The service's root; nil if the context has no client.
    public var service: ServiceRoot? { context.client.map { ServiceRoot($0) } }
    /// Whether the store is open.
    public var isOpen: Bool { state.isOpen }

    /// Makes the store ready. Sends no request.
    ///
    /// - Throws: ``SluiceError`` of a store code.
    public func open() async throws {
        try await context.store.define([DefinedRequest.schema, DownloadedRecords.schema, DownloadedLinks.schema])
        _ = try await context.store.read { try DefinedRequest.all(in: $0) }
        state.set(true)
    }

    /// Ends the store's use. The context, and the local store in it, stay open.
    public func close() async { state.set(false) }

    /// The errors of uploads, each with its failed change.
    public var errors: ErrorArchive { ErrorArchive(context: context) }

    /// Reads from the device.
    public func read(_ request: StoreRequest, _ options: ReadOptions) async throws -> StoreResult {
        try await PathWalk(reader: self, request: request, readOptions: options).result()
    }

    /// Sends the queued changes: see ``SyncContext/push(tables:tags:progress:)``. A refused change holds up no other
    /// record's; it is in ``errors``.
    @discardableResult
    public func upload(
        tags: Set<String>? = nil, progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws -> PushResult {
        try state.require()
        return try await context.push(tags: tags, progress: progress)
    }

    /// Returns whether the store could answer a read completely, with the reasons, without reading.
    ///
    /// Only requests for a table or a record can be judged without reading others; a path along links cannot.
    public func coverage(of request: StoreRequest) async throws -> Coverage {
        try state.require()
        guard request.path.segments.count == 1, let segment = request.path.segments.first else {
            throw SluiceError(.unsupported, "the coverage of a path along links is known only when it is read")
        }
        var read = TableRead(table: schemas.spelled(segment.name), options: request.options, key: segment.recordID)
        read.options.expand = schemas.spelled(request.options.expand, of: read.table)
        return try await finding(for: read).coverage
    }

    func finding(for read: TableRead) async throws -> OfflineCoverage.Finding {
        let (schemas, endpoint, user) = (schemas, context.client?.endpoint.identity, context.options.user)
        let operations = try await read.key.mapAsync {
            try await context.queue.operations(TableOperation.Filter(table: read.table, recordID: $0))
        }
        let isMadeHere = operations?.contains { $0.kind == .insert } ?? false
        return try await context.store.read { store in
            let coverage = try OfflineCoverage(schemas: schemas, endpoint: endpoint, user: user, in: store)
            let local = try read.key.flatMap { try store.record($0, in: read.table) }
            let owner = try read.link.flatMap { try store.record($0.key, in: $0.table) }
            return coverage.finding(for: read, local: local, isMadeHere: isMadeHere, owner: owner)
        }
    }
}

extension Optional where Wrapped: Sendable {
    /// Returns the closure's result for the value; nil for none.
    fileprivate func mapAsync<Result: Sendable>(
        _ change: (Wrapped) async throws -> Result
    ) async rethrows -> Result? {
        if let self { try await change(self) } else { nil }
    }
}

/// Options of an offline store.
public struct OfflineOptions: Sendable, Hashable {
    /// The occasions on which a download compares local records with the service's ids and versions, to find records
    /// that left a defining request unreported.
    public enum Reconciling: String, Sendable, Hashable, CaseIterable {
        /// After each download of a filtered request by time of change: such a service does not report records that
        /// left the filter. Services with delta links or change tokens report them.
        case whereNeeded
        /// After each download.
        case always
        /// Never: records that left a filter stay until the application reconciles.
        case never
    }

    /// The occasions on which a download compares local records with the service's.
    public var reconciling: Reconciling
    /// The policy for a read that no defining request covers. Default: the local records are returned as partial.
    public var uncovered: UncoveredPolicy

    /// Creates options; each has a default.
    public init(reconciling: Reconciling = .whereNeeded, uncovered: UncoveredPolicy = .partial) {
        self.reconciling = reconciling
        self.uncovered = uncovered
    }
}

extension SyncContext {
    /// Returns the records with queued changes whose property holds an id.
    func waiting(in table: String, with id: RecordID, in column: PropertyName) async throws -> [RecordID] {
        let ids = Set(try await queue.operations(TableOperation.Filter(table: table)).map(\.recordID))
        return try await store.read { store in
            try ids.sorted().filter { try store.record($0, in: table)?[column] == JSON(id.text) }
        }
    }
}

extension OfflineStore {
    /// Whether a change refers to another by a key that the service has yet to assign: then they cannot be one request.
    func waitForKeys(_ changes: [DeepRecord.Change]) -> Bool {
        let references = context.options.assignedReferences
        guard !references.isEmpty else { return false }
        var made: Set<String> = []
        for case .insert(_, let table) in changes { made.insert(table) }
        return references.contains { reference in
            made.contains(reference.parent)
                && changes.contains { change in
                    switch change {
                    case .insert(_, let table), .update(_, let table): table == reference.child
                    }
                }
        }
    }

    /// Returns the record with assigned keys in the place of ids.
    static func resolved(
        _ record: JSON, in table: String, _ references: [AssignedReference], _ transaction: LocalTransaction
    ) throws -> JSON {
        var resolved = record
        for reference in references where reference.child == table {
            guard let id = record[reference.column]?.string,
                let parent = try transaction.lookup(id: id, in: reference.parent), let key = parent[reference.key],
                !key.isNull
            else { continue }
            resolved[reference.column] = key
        }
        return resolved
    }
}

extension OfflineStore {
    /// Returns the defining requests, by name, each with its state.
    public func requests() async throws -> [DefinedRequest] {
        try state.require()
        return try await context.store.read { try DefinedRequest.all(in: $0) }
    }

    /// Adds a defining request, or replaces the one of that name. The next download fills the store with it; until then
    /// reads ignore it. An identical request is left as it is.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a request that cannot fill a store: see
    ///   ``DefiningRequest``; `operationsPending` if it replaces one of another table while changes of that table are
    ///   queued.
    public func add(_ request: DefiningRequest) async throws {
        try state.require()
        var request = request
        request.table = schemas.spelled(request.table)
        request.options.expand = schemas.spelled(request.options.expand, of: request.table)
        try request.validate(Dictionary(tables.map { ($0.name, $0) }) { $1 })
        let known = try await requests().first { $0.request.name == request.name }
        var defined = DefinedRequest(request)
        if let known {
            if known.record["options"] == defined.record["options"], known.request.table == request.table { return }
            // The engine itself finds the records that a changed query no longer holds; a query of another table holds
            // none.
            if known.request.table != request.table {
                try await release(known.parts)
            } else {
                defined.parts += known.parts.dropFirst()
            }
        }
        try await save(defined)
    }

    /// Removes a defining request. Records that no other request holds are removed from the device; none is deleted at
    /// the service.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an unknown name; `operationsPending` while changes of
    ///   its tables are queued: upload them first.
    public func remove(_ name: String) async throws {
        try state.require()
        guard let known = try await requests().first(where: { $0.request.name == name }) else {
            throw SluiceError(.invalidArgument, "there is no defining request \"\(name)\"")
        }
        try await release(known.parts)
        try await context.store.write {
            try $0.delete([.string(name)], from: DefinedRequest.schema.name)
            try DownloadedLinks.forget(name, in: $0)
        }
    }

    func save(_ request: DefinedRequest) async throws {
        let record = request.record
        try await context.store.write { try $0.put(record, in: DefinedRequest.schema.name) }
    }

    /// Releases the records of named queries.
    func release(_ parts: [DefinedRequest.Part]) async throws {
        for part in parts {
            do {
                try await context.purge(TableQuery(part.table), named: part.name)
            } catch let error as SluiceError where error.code == .invalidArgument {
                // Nothing was ever pulled under the name.
            }
        }
    }
}
