internal import Logging
public import SluiceBase
public import SluiceWire

/// One table of the local store whose records are values of a type.
///
/// ```swift
/// let todos = try context.table(Todo.self)
/// let milk = try await todos.insert(Todo(text: "buy milk"))
/// try await todos.update(id: milk.id, set: \.done, to: true)
/// ```
///
/// It does the same as ``SyncTable``: of its calls only ``pull(_:named:allowsMassRemoval:)`` and
/// ``reconcile(_:named:allowsMassRemoval:)`` use the network. The type codes itself, by the rules of ``TableRecord``;
/// it needs a coding key `id`. Properties that the type does not declare stay unchanged in the record, here and on the
/// server.
///
/// In addition to the errors of ``SyncTable`` there is `invalidRecord` for a record that does not fit the type. After
/// it an insert has happened nevertheless, any other change has not. Reads of several records return the fitting ones;
/// ``misfits(matching:)`` and ``TypedLiveQuery/Update/misfits`` report the others.
///
/// An id is a `String`, a `UUID` or any other type that is written as a text. A UUID is written in small letters. A
/// UUID that the store has in capitals is found too.
public struct TypedSyncTable<Record: Codable & Sendable>: Sendable {
    /// The same table without the type.
    public let untyped: SyncTable
    let typed: TypedRecords<Record>

    init(_ untyped: SyncTable) {
        self.untyped = untyped
        typed = TypedRecords(untyped.name, dialect: untyped.context.dialect)
    }

    /// The table's name.
    public var name: String { untyped.name }

    /// Adds a record. A record with a nil id gets a new UUID; other nil properties are left out.
    ///
    /// - Returns: the record as it is stored.
    /// - Throws: as ``SyncTable/insert(_:options:)``; see ``TypedSyncTable``.
    @discardableResult
    public func insert(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        let document = try typed.coder.encode(record, withNulls: false, table: name)
        return try typed.value(await untyped.insert(document, options: options))
    }

    /// Writes all properties that the type declares and that differ from the stored ones. A nil property is written as
    /// null, if the record has the property.
    ///
    /// It overwrites changes that were made here or by a pull since `record` was read. ``update(id:options:_:)``
    /// writes only its own changes.
    ///
    /// - Returns: the record as it is stored.
    /// - Throws: as ``SyncTable/update(_:options:)``; see ``TypedSyncTable``.
    @discardableResult
    public func update(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        let name = name
        return try await untyped.context.write(options: options) { transaction in
            try transaction.table(name, of: Record.self).update(record)
        }
    }

    /// Changes a record in its current state, in one transaction. Only the properties whose value `change` changes are
    /// written and sent.
    ///
    /// - Parameter change: changes the value that it gets; its id stays. If ``SyncOptions/hooks`` look at the change,
    ///   it runs up to four times, and only the last run counts.
    /// - Returns: the record as it is stored.
    /// - Throws: as ``SyncTable/update(_:options:)``; see ``TypedSyncTable``; the errors of `change`.
    @discardableResult
    public func update(
        id: some RecordIDConvertible, options: OperationOptions = OperationOptions(),
        _ change: @Sendable (inout Record) throws -> Void
    ) async throws -> Record {
        let (name, id) = (name, id.recordID)
        return try await untyped.context.write(options: options) { transaction in
            try transaction.table(name, of: Record.self).update(id: id, change)
        }
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
    /// - Throws: as ``SyncTable/delete(id:options:)``.
    public func delete(id: some RecordIDConvertible, options: OperationOptions = OperationOptions()) async throws {
        try await untyped.delete(id: id, options: options)
    }

    /// Brings a deleted record back.
    ///
    /// - Throws: as ``SyncTable/undelete(id:options:)``.
    public func undelete(id: some RecordIDConvertible, options: OperationOptions = OperationOptions()) async throws {
        try await untyped.undelete(id: id, options: options)
    }

    /// Returns the record with that id, or nil.
    ///
    /// - Throws: see ``TypedSyncTable``; of the store.
    public func lookup(id: some RecordIDConvertible) async throws -> Record? {
        try await untyped.lookup(id: id).map(typed.value)
    }

    /// Returns the records that match and fit the type. The query's table is replaced by this one, and its `select` is
    /// ignored.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func records(matching query: Query? = nil) async throws -> [Record] {
        let sorted = typed.sorted(try await untyped.records(matching: whole(query)))
        for misfit in sorted.misfits { untyped.context.options.logger.warning("\(misfit)") }
        return sorted.records
    }

    /// Returns an error of code `invalidRecord` for each record that matches and does not fit the type; each names the
    /// record.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func misfits(matching query: Query? = nil) async throws -> [SluiceError] {
        typed.sorted(try await untyped.records(matching: whole(query))).misfits
    }

    /// Counts the records that match the query's filter, including records that do not fit the type.
    public func count(matching query: Query? = nil) async throws -> Int { try await untyped.count(matching: query) }

    /// Returns the records that match, now and whenever they change: as ``SyncTable/observe(_:)``.
    public func observe(_ query: Query? = nil) -> TypedLiveQuery<Record> {
        TypedLiveQuery(base: untyped.observe(whole(query)), typed: typed)
    }

    /// Brings the server's rows here: see ``SyncContext/pull(_:named:allowsMassRemoval:progress:)``.
    @discardableResult
    public func pull(
        _ query: Query? = nil, named queryName: String? = nil, allowsMassRemoval: Bool = false
    ) async throws -> PullResult {
        try await untyped.pull(query, named: queryName, allowsMassRemoval: allowsMassRemoval)
    }

    /// Repairs differences from the server's rows: see ``SyncContext/reconcile(_:named:allowsMassRemoval:)``.
    @discardableResult
    public func reconcile(
        _ query: Query? = nil, named queryName: String, allowsMassRemoval: Bool = false
    ) async throws -> ReconcileResult {
        try await untyped.reconcile(query, named: queryName, allowsMassRemoval: allowsMassRemoval)
    }

    /// Removes rows from the local store only: see ``SyncContext/purge(_:named:force:)``.
    @discardableResult
    public func purge(_ query: Query? = nil, named queryName: String? = nil, force: Bool = false) async throws -> Int {
        try await untyped.purge(query, named: queryName, force: force)
    }

    /// Returns the query for whole records, because a value cannot be made of a part of one.
    private func whole(_ query: Query?) -> Query? {
        var query = query
        query?.select = []
        return query
    }
}

extension SyncContext {
    /// Returns the table of that name, whose records are values of `type`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that no table can have.
    public func table<Record: Codable & Sendable>(
        _ name: String, of type: Record.Type
    ) throws -> TypedSyncTable<Record> {
        TypedSyncTable(try table(name))
    }

    /// Returns the table of the type's records.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that no table can have.
    public func table<Record: TableRecord>(_ type: Record.Type) throws -> TypedSyncTable<Record> {
        try table(type.tableName, of: type)
    }
}

/// The results of a query over a typed table, as ``LiveQuery`` gives them.
///
/// ```swift
/// for try await update in try context.table(Todo.self).observe() {
///     print(update.records.count, "todos")
/// }
/// ```
public struct TypedLiveQuery<Record: Codable & Sendable>: AsyncSequence, Sendable {
    /// One result of the query.
    public struct Update: Sendable {
        /// The result, without the records that do not fit the type.
        public var records: [Record]
        /// An error of code `invalidRecord` for each record of the result that does not fit the type.
        public var misfits: [SluiceError]
        /// The difference from the previous result. For the first result all records are inserted.
        public var diff: QueryDiff
    }

    let base: LiveQuery
    let typed: TypedRecords<Record>

    /// Reads the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: LiveQuery.AsyncIterator
        fileprivate let typed: TypedRecords<Record>
        private var former: [JSON] = []

        fileprivate init(base: LiveQuery.AsyncIterator, typed: TypedRecords<Record>) {
            self.base = base
            self.typed = typed
        }

        /// Waits for the next result; nil once the task is cancelled.
        ///
        /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
        public mutating func next() async throws -> Update? {
            guard let update = try await base.next() else { return nil }
            let sorted = typed.sorted(update.records)
            defer { former = sorted.fitting }
            return Update(
                records: sorted.records, misfits: sorted.misfits, diff: QueryDiff(from: former, to: sorted.fitting))
        }
    }

    /// Returns a reader of the results.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeAsyncIterator(), typed: typed) }
}
