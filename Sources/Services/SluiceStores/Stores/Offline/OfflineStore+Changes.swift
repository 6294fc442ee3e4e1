public import SluiceBase
public import SluiceSync
internal import SluiceWire

extension OfflineStore {
    /// Creates a record locally and queues the change. The records created or linked with it are in the same local
    /// transaction. With ``SyncOptions/batchSize`` above 1 they are also one group, which is applied as a whole or not
    /// at all. Otherwise a record that refers to another is sent after it, and not while that is refused.
    ///
    /// A reference to a new record holds its local id. If the service assigns keys, the id stays the record's id on
    /// this device, and references marked as assigned (``TableSchema/Reference/isAssigned``) get the key once it is
    /// known; such records are never one group.
    @discardableResult
    public func create(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        let (schemas, makeID) = (schemas, context.options.environment.makeID)
        let deep = try DeepRecord(record, in: schemas.spelled(table), schemas: schemas, makeID: makeID)
        let (changes, root) = (deep.changes, deep.root["id"])
        let references = context.options.assignedReferences
        let body: @Sendable (LocalTransaction) throws -> JSON = { transaction in
            var made = JSON.null
            for change in changes {
                switch change {
                case .insert(let given, let target):
                    let new = try Self.resolved(given, in: target, references, transaction)
                    let stored = try transaction.insert(new, in: target)
                    if new["id"] == root, target == schemas.spelled(table) { made = stored }
                case .update(let given, let target):
                    try transaction.update(Self.resolved(given, in: target, references, transaction), in: target)
                }
            }
            return made
        }
        let isGroup = !deep.isSingle && context.options.batchSize ?? 1 > 1 && !waitForKeys(changes)
        return try await isGroup
            ? context.group(options: options, body) : context.write(options: options, body)
    }

    /// Changes properties of a record locally and queues the change.
    @discardableResult
    public func patch(_ changes: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        let (table, changes) = (schemas.spelled(table), own(changes))
        let references = context.options.assignedReferences.filter { $0.child == table }
        guard !references.isEmpty else { return try await context.table(table).update(changes, options: options) }
        return try await context.write(options: options) { transaction in
            try transaction.update(Self.resolved(changes, in: table, references, transaction), in: table)
        }
    }

    /// Replaces a record locally and queues the change: properties missing in the record become null.
    @discardableResult
    public func replace(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        let table = schemas.spelled(table)
        let new = own(record)
        guard let id = new["id"]?.textID else {
            throw SluiceError(.invalidRecord, "a record to replace another names its id", table: table)
        }
        let system = context.dialect(isSystem:)
        let references = context.options.assignedReferences
        return try await context.write(options: options) { transaction in
            var changes = new
            for name in try transaction.lookup(id: id, in: table)?.names ?? [] where changes[name] == nil {
                if !system(name) { changes[name] = .null }
            }
            return try transaction.update(Self.resolved(changes, in: table, references, transaction), in: table)
        }
    }

    /// Deletes a record locally and queues the change. The upload sends the version on which the change was based,
    /// whatever version is given.
    public func delete(
        _ id: RecordID, version: String?, in table: String, options: OperationOptions
    ) async throws {
        try state.require()
        try await context.table(schemas.spelled(table)).delete(id: id, options: options)
    }

    /// Undoes all queued changes of a record: see ``SyncQueue/undo(_:in:)``.
    ///
    /// - Returns: the service's last known record; nil for one that was created locally, which is removed.
    @discardableResult
    public func undo(_ id: some RecordIDConvertible, in table: String) async throws -> JSON? {
        try state.require()
        return try await context.queue.undo(id, in: schemas.spelled(table))
    }

    /// Returns the changes without the properties that only a service writes.
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
