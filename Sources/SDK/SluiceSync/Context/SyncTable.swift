public import SluiceBase
internal import SluiceWire

/// One table of the local store, with its changes queued for the server. Its records are JSON objects or values of a
/// type.
///
/// ```swift
/// let todos = try context.table(Todo.self)        // SyncTable<Todo>
/// let milk = try await todos.insert(Todo(text: "buy milk"))
/// try await todos.update(id: milk.id, set: \.done, to: true)
///
/// let rows = try context.table("todos")           // SyncTable<JSON>
/// try await rows.insert(["text": "buy bread"])
/// ```
///
/// Every change is stored with its operation in one transaction: when the call returns, neither can be lost. Only
/// ``pull(_:named:allowsMassRemoval:)`` and ``reconcile(_:named:allowsMassRemoval:)`` use the network.
///
/// **A type codes itself**, by the rules of ``SyncRecord``; it needs a coding key `id`. Properties that the type does
/// not declare stay unchanged in the record, here and on the server. For a record that does not fit the type there is
/// the error `invalidRecord`. After it an insert has happened nevertheless, any other change has not. Reads of several
/// records return the fitting ones; ``misfits(matching:)`` and ``LiveQuery/Update/misfits`` report the others. JSON
/// always fits, and is stored as it is.
///
/// An id is a `String`, a `UUID` or any other type that is written as a text. A UUID is written in small letters. A
/// UUID that the store has in capitals is found too.
public struct SyncTable<Record: Codable & Sendable>: Sendable {
    /// The table's name.
    public let name: String
    let context: SyncContext
    let coder: RecordCoder<Record>

    init(_ name: String, _ context: SyncContext) {
        (self.name, self.context) = (name, context)
        coder = RecordCoder(name, dialect: context.dialect)
    }

    /// The same table with its records as JSON.
    public var untyped: SyncTable<JSON> { SyncTable<JSON>(name, context) }

    /// Adds a record. A record without an `id`, or with a nil one, gets a new UUID; other nil properties are left out.
    ///
    /// - Returns: the record as it is stored, with its id, without the properties that only the server sets.
    /// - Throws: ``SluiceError`` of code `recordExists`, `invalidRecord`, or of the store; of code `refusedByHook` and
    ///   `hookFailed` where ``SyncOptions/hooks`` refuse or fail, as for every change.
    @discardableResult
    public func insert(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        let document = try coder.encode(record, withNulls: false)
        let id = try RecordRules.id(ofNew: document, table: name, context.options.environment)
        return try value(await context.enqueue(.insert, id, in: name, document, options) ?? document)
    }

    /// Changes a record: all its properties that differ from the stored ones. Properties that it does not name, or that
    /// the type does not declare, stay.
    ///
    /// A nil property of a type is written as null, if the record has the property; a null of JSON is a value. The
    /// call overwrites changes that were made here or by a pull since `record` was read. ``update(id:options:_:)``
    /// writes only its own changes.
    ///
    /// - Parameter record: the new values and the record's `id`.
    /// - Returns: the record as it is stored.
    /// - Throws: ``SluiceError`` of code `recordMissing`, `operationRefused`, `invalidRecord`, or of the store.
    @discardableResult
    public func update(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        guard let changes = record as? JSON else {
            return try await context.write(options: options) { try TransactionTable(self, in: $0).update(record) }
        }
        let id = try RecordRules.id(ofChanges: changes, table: name)
        return try value(await context.enqueue(.update, id, in: name, changes, options) ?? changes)
    }

    /// Changes a record in its current state, in one transaction. Only the properties whose value `change` changes are
    /// written and sent.
    ///
    /// - Parameter change: changes the value that it gets; its id stays. If ``SyncOptions/hooks`` look at the change,
    ///   it runs up to four times, and only the last run counts.
    /// - Returns: the record as it is stored.
    /// - Throws: as ``update(_:options:)``; the errors of `change`.
    @discardableResult
    public func update(
        id: some RecordIDConvertible, options: OperationOptions = OperationOptions(),
        _ change: @Sendable (inout Record) throws -> Void
    ) async throws -> Record {
        let id = id.recordID
        return try await context.write(options: options) { try TransactionTable(self, in: $0).update(id: id, change) }
    }

    /// Changes one property of a record.
    ///
    /// - Returns: the record as it is stored.
    /// - Throws: as ``update(id:options:_:)``.
    @discardableResult
    public func update<Value: Sendable>(
        id: some RecordIDConvertible, set path: any WritableKeyPath<Record, Value> & Sendable, to value: Value,
        options: OperationOptions = OperationOptions()
    ) async throws -> Record {
        try await update(id: id, options: options) { $0[keyPath: path] = value }
    }

    /// Deletes a record.
    ///
    /// - Throws: ``SluiceError`` of code `recordMissing`, `operationRefused`, or of the store.
    public func delete(id: some RecordIDConvertible, options: OperationOptions = OperationOptions()) async throws {
        _ = try await context.enqueue(.delete, id.recordID, in: name, .object, options)
    }

    /// Brings a deleted record back. A delete that was never sent is taken back at once. Otherwise the next push asks
    /// the server, and a record that is not known here appears with the answer.
    ///
    /// - Throws: ``SluiceError`` of code `operationRefused`, or of the store.
    public func undelete(id: some RecordIDConvertible, options: OperationOptions = OperationOptions()) async throws {
        _ = try await context.enqueue(.undelete, id.recordID, in: name, .object, options)
    }

    func value(_ document: JSON) throws(SluiceError) -> Record { try coder.decode(document, isServers: false) }
}

extension SyncContext {
    /// Stores a change of one record, with its operation in the queue.
    ///
    /// - Returns: the record as it is stored; nil for a change without a record.
    func enqueue(
        _ kind: TableOperation.Kind, _ id: RecordID, in table: String, _ content: JSON, _ options: OperationOptions
    ) async throws -> JSON? {
        let environment = self.options.environment
        let change = LocalChange(
            kind, id, in: table, content: content, options: options, user: self.options.user,
            systemColumns: dialect.pushColumns.system, localOnly: localOnly, namesKeys: dialect.namesKeys)
        if !localOnly.tables.contains(table),
            let chain = AskedHooks(self.options.hooks, .beforeEnqueue, table: table)
        {
            return try await HookedWrite(change: change, chain: chain, store: store, environment: environment)
                .carryOut()
        }
        return try await store.write(at: .localChange, environment) {
            try change.apply(to: $0, environment: environment)
        }
    }
}

extension SyncTable {
    /// Adds records, all of them in one transaction or none.
    ///
    /// - Returns: the records as they are stored, in their order.
    /// - Throws: as ``insert(_:options:)``.
    @discardableResult
    public func insert(_ records: [Record], options: OperationOptions = OperationOptions()) async throws -> [Record] {
        try await context.write(options: options) { transaction in
            let table = TransactionTable(self, in: transaction)
            return try records.map { try table.insert($0) }
        }
    }

    /// Adds a record, or writes it over the stored one of its id, as ``update(_:options:)`` does. A record that only the
    /// server has is added here, and the push meets it as a conflict: see ``ConflictHandler``.
    ///
    /// - Returns: the record as it is stored.
    /// - Throws: as ``insert(_:options:)->Record`` and ``update(_:options:)``.
    @discardableResult
    public func upsert(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        try await context.write(options: options) { try TransactionTable(self, in: $0).upsert(record) }
    }
}
