public import SluiceBase
public import SluiceSync
internal import SluiceWire

extension OfflineStore {
    /// Creates a record here and queues the change. What is created or linked with it is one transaction here, and with
    /// ``SyncOptions/batchSize`` above 1 one group that arrives whole or not at all. Without, what refers to another record is
    /// sent after it, and not while that is refused.
    ///
    /// A reference to a new record holds the id that the record has here. Where the service assigns keys, the id stays the
    /// record's id on this device, and references that are marked so (``TableSchema/Reference/isAssigned``) get the key
    /// once it is known; such records are never one group.
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

    /// Changes properties of a record here and queues the change.
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
        let references = context.options.assignedReferences
        return try await context.write(options: options) { transaction in
            var changes = new
            for name in try transaction.lookup(id: id, in: table)?.names ?? [] where changes[name] == nil {
                if !system(name) { changes[name] = .null }
            }
            return try transaction.update(Self.resolved(changes, in: table, references, transaction), in: table)
        }
    }

    /// Deletes a record here and queues the change. The upload sends the version on which the change was made, whichever
    /// is given here.
    public func delete(
        _ id: RecordID, version: String?, in table: String, options: OperationOptions
    ) async throws {
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
