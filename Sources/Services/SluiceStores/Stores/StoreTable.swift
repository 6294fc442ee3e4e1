public import SluiceBase
public import SluiceSync
public import SluiceWire

/// A table of a store whose records are values of a type, or JSON objects.
///
/// ```swift
/// let agencies = offline.table("Agencies", of: Agency.self)
/// let (us, result) = try await agencies.read(TableQuery("Agencies").where(column("Country") == "US"))
/// ```
public struct StoreTable<Record: Codable & Sendable>: Sendable {
    /// The table's name.
    public let name: String
    /// The store.
    public let store: any DataStore

    private let coder: RecordCoder<Record>

    fileprivate init(_ name: String, store: any DataStore) {
        (self.name, self.store) = (name, store)
        coder = RecordCoder(name, asIn: [])
    }

    /// Returns the records that match, and their source. The query's table is replaced by this one. Records that do not
    /// fit the type are in ``StoreResult/misfits(of:)`` instead.
    ///
    /// - Throws: as ``DataStore/read(_:_:)``.
    public func read(
        _ query: TableQuery? = nil, _ options: ReadOptions = ReadOptions()
    ) async throws -> (records: [Record], result: StoreResult) {
        var query = query ?? TableQuery(name)
        query.table = name
        let result = try await store.read(query, options)
        return (result.records(of: Record.self), result)
    }

    /// Returns the target records of an address, and their source: `Agencies?$filter=Rank gt 3`,
    /// `Bookings('1')/Agency`. They have to be of this type.
    public func read(
        _ address: String, _ options: ReadOptions = ReadOptions()
    ) async throws -> (records: [Record], result: StoreResult) {
        let result = try await store.read(address, options)
        return (result.records(of: Record.self), result)
    }

    /// Returns the record with that id.
    public func record(_ id: some RecordIDConvertible) async throws -> Record {
        try value(await store.record(id, in: name))
    }

    /// Creates a record; nil properties are left out.
    @discardableResult
    public func create(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        let document = try coder.encode(record, withNulls: false)
        return try value(await store.create(document, in: name, options: options))
    }

    /// Writes all properties that the type declares.
    @discardableResult
    public func patch(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        try value(await store.patch(coder.encode(record, withNulls: false), in: name, options: options))
    }

    /// Replaces the existing record: properties that are nil, or not in the type, become null.
    @discardableResult
    public func replace(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        try value(await store.replace(coder.encode(record, withNulls: false), in: name, options: options))
    }

    /// Deletes a record, if the service's record still has the given version.
    public func delete(
        _ id: some RecordIDConvertible, version: String? = nil, options: OperationOptions = OperationOptions()
    ) async throws {
        try await store.delete(id.recordID, version: version, in: name, options: options)
    }

    private func value(_ record: JSON) throws(SluiceError) -> Record { try coder.decode(record, isServers: false) }
}

extension DataStore {
    /// Returns a table whose records are JSON objects.
    public func table(_ name: String) -> StoreTable<JSON> { StoreTable(name, store: self) }

    /// Returns the table of a type's records, with records of that type.
    public func table<Record: SyncRecord>(_ type: Record.Type) -> StoreTable<Record> {
        StoreTable(Record.tableName, store: self)
    }

    /// Returns a table whose records are values of a type.
    public func table<Record: Codable & Sendable>(_ name: String, of type: Record.Type) -> StoreTable<Record> {
        StoreTable(name, store: self)
    }
}
