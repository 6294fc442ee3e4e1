public import SluiceBase
public import SluiceWire

/// One table in a transaction, whose records are JSON objects or values of a type: the counterpart of ``SyncTable``.
public struct TransactionTable<Record: Codable & Sendable> {
    private let table: SyncTable<Record>
    private let transaction: LocalTransaction

    init(_ table: SyncTable<Record>, in transaction: LocalTransaction) {
        (self.table, self.transaction) = (table, transaction)
    }

    /// The table's name.
    public var name: String { table.name }

    /// Adds a record; see ``SyncTable/insert(_:options:)->Record``.
    @discardableResult
    public func insert(_ record: Record) throws -> Record {
        try table.value(transaction.insert(table.coder.encode(record, withNulls: false), in: name))
    }

    /// Writes all properties that differ from the stored ones; see ``SyncTable/update(_:options:)``.
    @discardableResult
    public func update(_ record: Record) throws -> Record {
        var changes = try table.coder.encode(record, withNulls: true)
        if !table.coder.isJSON {
            let id = try RecordRules.id(ofChanges: changes, table: name)
            let found = try transaction.lookup(id: id, in: name)
            changes = try table.coder.encode(record, unchangedFrom: found.map { [$0] } ?? []).withoutNulls(notIn: found)
        }
        return try table.value(transaction.update(changes, in: name))
    }

    /// Adds a record, or writes it over the stored one of its id; see ``SyncTable/upsert(_:options:)``.
    @discardableResult
    public func upsert(_ record: Record) throws -> Record {
        let id = try table.coder.encode(record, withNulls: false)["id"]?.textID
        let isHere = try id.map { try transaction.lookup(id: $0, in: name) != nil } ?? false
        return try isHere ? update(record) : insert(record)
    }

    /// Changes a record in its current state, and writes the differences; see
    /// ``SyncTable/update(id:options:_:)``.
    @discardableResult
    public func update(id: some RecordIDConvertible, _ change: (inout Record) throws -> Void) throws -> Record {
        guard let found = try transaction.lookup(id: id, in: name) else {
            throw SluiceError(
                .recordMissing, "there is no such record in the local store; pull it first", table: name,
                recordID: id.recordID)
        }
        let before = try table.value(found)
        var after = before
        try change(&after)
        let old = try table.coder.encode(before, withNulls: true)
        let new = try table.coder.encode(after, withNulls: true)
        var changes: JSON = ["id": JSON(id.recordID)]
        for (name, value) in new.members ?? [] where name != "id" && old[name] != value { changes[name] = value }
        // A property that was there before and is now left out is set to null.
        for name in old.names where name != "id" && new[name] == nil { changes[name] = .null }
        // A change of the id alone does not count.
        guard changes.count > 1 else { return before }
        return try table.value(transaction.update(changes, in: name))
    }

    /// Changes one property of a record; see ``SyncTable/update(id:set:to:options:)``.
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
        try transaction.lookup(id: id, in: name).map(table.value)
    }

    /// Returns the records that match and fit the type, with the changes made so far; see ``SyncTable/records(matching:)``.
    public func records(matching query: TableQuery? = nil) throws -> [Record] { try sorted(query).records }

    /// Returns an error of code `invalidRecord` for each record that matches and does not fit the type.
    public func misfits(matching query: TableQuery? = nil) throws -> [SluiceError] { try sorted(query).misfits }

    /// Counts the records that match the query's filter, with the changes made so far. The query's table is replaced
    /// by this one.
    public func count(matching query: TableQuery? = nil) throws -> Int {
        try transaction.count(matching: table.local(query))
    }

    private func sorted(_ query: TableQuery?) throws -> (fitting: [JSON], records: [Record], misfits: [SluiceError]) {
        table.coder.sorted(try transaction.records(matching: table.reading(query)))
    }
}

extension JSON {
    /// Returns the object without nulls where `other` has no value: to a type absent and null are the same.
    func withoutNulls(notIn other: JSON?) -> JSON {
        JSON(members: (members ?? []).filter { !$0.value.isNull || other?[$0.name] != nil })
    }
}

extension LocalTransaction {
    /// Returns the table of that name, whose records are JSON objects.
    public func table(_ name: String) throws -> TransactionTable<JSON> { try table(name, of: JSON.self) }

    /// Returns the table of that name, whose records are values of `type`.
    public func table<Record: Codable & Sendable>(
        _ name: String, of type: Record.Type
    ) throws -> TransactionTable<Record> {
        TransactionTable(try context.table(name, of: type), in: self)
    }

    /// Returns the table of the type's records.
    public func table<Record: SyncRecord>(_ type: Record.Type) throws -> TransactionTable<Record> {
        try table(type.tableName, of: type)
    }
}
