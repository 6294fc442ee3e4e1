public import SluiceBase
public import SluiceSync
internal import SluiceWire

extension OfflineStore {
    /// Creates a record here and queues the change. What is created or linked with it is one transaction here, and where
    /// the service takes batches (``SyncOptions/batchSize``) one group that arrives whole or not at all.
    ///
    /// A reference to a new record holds the id that the record has here; where the service assigns keys, the id stays the
    /// record's id on this device.
    @discardableResult
    public func create(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        let (schemas, makeID) = (schemas, context.options.environment.makeID)
        let deep = try DeepRecord(record, in: schemas.spelled(table), schemas: schemas, makeID: makeID)
        let (changes, root) = (deep.changes, deep.root["id"])
        let body: @Sendable (LocalTransaction) throws -> JSON = { transaction in
            var made = JSON.null
            for change in changes {
                switch change {
                case .insert(let new, let target):
                    let stored = try transaction.insert(new, in: target)
                    if new["id"] == root, target == schemas.spelled(table) { made = stored }
                case .update(let changed, let target): try transaction.update(changed, in: target)
                }
            }
            return made
        }
        let isGroup = !deep.isSingle && context.options.batchSize ?? 1 > 1
        return try await isGroup
            ? context.group(options: options, body) : context.write(options: options, body)
    }

    /// Changes properties of a record here and queues the change.
    @discardableResult
    public func patch(_ changes: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        return try await context.table(schemas.spelled(table)).update(own(changes), options: options)
    }

    /// Replaces a record here and queues the change: what the record does not name becomes null.
    @discardableResult
    public func replace(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        let table = schemas.spelled(table)
        let new = own(record)
        guard let id = new["id"]?.textID else {
            throw SluiceError(.invalidRecord, "a record to replace another names its id", table: table)
        }
        let system = context.dialect(isSystem:)
        return try await context.write(options: options) { transaction in
            var changes = new
            for name in try transaction.lookup(id: id, in: table)?.names ?? [] where changes[name] == nil {
                if !system(name) { changes[name] = .null }
            }
            return try transaction.update(changes, in: table)
        }
    }

    /// Deletes a record here and queues the change.
    public func delete(_ id: RecordID, in table: String, options: OperationOptions) async throws {
        try state.require()
        try await context.table(schemas.spelled(table)).delete(id: id, options: options)
    }

    /// Takes back all that waits for a record: see ``SyncQueue/undo(_:in:)``.
    ///
    /// - Returns: the record as the service last had it; nil for one that was made here, which is gone.
    @discardableResult
    public func undo(_ id: some RecordIDConvertible, in table: String) async throws -> JSON? {
        try state.require()
        return try await context.queue.undo(id, in: schemas.spelled(table))
    }

    /// The changes without what only a service writes.
    private func own(_ changes: JSON) -> JSON {
        var own = changes
        for name in changes.names where context.dialect(isSystem: name) { own[name] = nil }
        return own
    }
}

extension SyncContext {
    /// Whether only the server sets the property.
    fileprivate func dialect(isSystem name: PropertyName) -> Bool {
        (client?.dialect ?? options.dialect).isSystemProperty(name)
    }
}
