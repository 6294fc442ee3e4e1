public import SluiceBase
public import SluiceWire

/// One table in a transaction, whose records are values of a type: the counterpart of ``TypedSyncTable``.
public struct TypedTransactionTable<Record: Codable & Sendable> {
    /// The table's name.
    public let name: String
    private let transaction: LocalTransaction
    private let typed: TypedRecords<Record>

    fileprivate init(_ name: String, in transaction: LocalTransaction) {
        self.name = name
        self.transaction = transaction
        typed = TypedRecords(name, dialect: transaction.context.dialect)
    }

    /// Adds a record; see ``TypedSyncTable/insert(_:options:)``.
    @discardableResult
    public func insert(_ record: Record) throws -> Record {
        let document = try typed.coder.encode(record, withNulls: false, table: name)
        return try typed.value(transaction.insert(document, in: name))
    }

    /// Writes all properties that the type declares; see ``TypedSyncTable/update(_:options:)``.
    @discardableResult
    public func update(_ record: Record) throws -> Record {
        let coder = typed.coder
        let given = try coder.encode(record, withNulls: true, table: name)
        let id = try RecordRules.id(ofChanges: given, table: name)
        let found = try transaction.lookup(id: id, in: name)
        let document = try coder.encode(record, unchangedFrom: found.map { [$0] } ?? [], table: name)
        return try typed.value(transaction.update(document.withoutNulls(notIn: found), in: name))
    }

    /// Changes a record in its current state, and writes the differences; see
    /// ``TypedSyncTable/update(id:options:_:)``.
    @discardableResult
    public func update(id: some RecordIDConvertible, _ change: (inout Record) throws -> Void) throws -> Record {
        guard let found = try transaction.lookup(id: id, in: name) else {
            throw SluiceError(
                .recordMissing, "there is no such record in the local store; pull it first", table: name,
                recordID: id.recordID)
        }
        let before = try typed.value(found)
        var after = before
        try change(&after)
        let old = try typed.coder.encode(before, withNulls: true, table: name)
        let new = try typed.coder.encode(after, withNulls: true, table: name)
        var changes: JSON = ["id": JSON(id.recordID)]
        for (name, value) in new.members ?? [] where name != "id" && old[name] != value { changes[name] = value }
        // A property that the type wrote before and now leaves out is set to null.
        for name in old.names where name != "id" && new[name] == nil { changes[name] = .null }
        // A change of the id alone does not count.
        guard changes.count > 1 else { return before }
        return try typed.value(transaction.update(changes, in: name))
    }

    /// Changes one property of a record; see ``TypedSyncTable/update(id:set:to:options:)``.
    @discardableResult
    public func update<Value>(
        id: some RecordIDConvertible, set path: WritableKeyPath<Record, Value>, to value: Value
    ) throws -> Record {
        try update(id: id) { $0[keyPath: path] = value }
    }

    /// Deletes a record; see ``SyncTable/delete(id:options:)``.
    public func delete(id: some RecordIDConvertible) throws { try transaction.delete(id: id, in: name) }

    /// Brings a deleted record back; see ``SyncTable/undelete(id:options:)``.
    public func undelete(id: some RecordIDConvertible) throws { try transaction.undelete(id: id, in: name) }

    /// Returns the record with the changes made so far, or nil.
    public func lookup(id: some RecordIDConvertible) throws -> Record? {
        try transaction.lookup(id: id, in: name).map(typed.value)
    }

    /// Returns the records that match and fit the type, with the changes made so far. The query's table is replaced by
    /// this one, and its `select` is ignored.
    public func records(matching query: Query? = nil) throws -> [Record] { try sorted(query).records }

    /// Returns an error of code `invalidRecord` for each record that matches and does not fit the type.
    public func misfits(matching query: Query? = nil) throws -> [SluiceError] { try sorted(query).misfits }

    /// Counts the records that match the query's filter, with the changes made so far. The query's table is replaced
    /// by this one.
    public func count(matching query: Query? = nil) throws -> Int {
        var query = query ?? Query(name)
        query.table = name
        return try transaction.count(matching: query)
    }

    private func sorted(_ query: Query?) throws -> (fitting: [JSON], records: [Record], misfits: [SluiceError]) {
        var query = query ?? Query(name)
        (query.table, query.select) = (name, [])
        return typed.sorted(try transaction.records(matching: query))
    }
}

extension JSON {
    /// Returns the object without nulls where `other` has no value: to a type absent and null are the same.
    func withoutNulls(notIn other: JSON?) -> JSON {
        JSON(members: (members ?? []).filter { !$0.value.isNull || other?[$0.name] != nil })
    }
}

extension LocalTransaction {
    /// Returns the table of that name, whose records are values of `type`.
    public func table<Record: Codable & Sendable>(
        _ name: String, of type: Record.Type
    ) throws -> TypedTransactionTable<Record> {
        try SyncTables.validate(name)
        return TypedTransactionTable(name, in: self)
    }

    /// Returns the table of the type's records.
    public func table<Record: TableRecord>(_ type: Record.Type) throws -> TypedTransactionTable<Record> {
        try table(type.tableName, of: type)
    }
}
