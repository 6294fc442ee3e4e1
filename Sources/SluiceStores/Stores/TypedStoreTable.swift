public import SluiceBase
public import SluiceSync
internal import SluiceWire

/// A table of a store whose records are values of a type.
///
/// ```swift
/// let agencies = offline.table("Agencies", of: Agency.self)
/// let (us, result) = try await agencies.read(Query("Agencies").where(column("Country") == "US"))
/// ```
public struct TypedStoreTable<Record: Codable & Sendable>: Sendable {
    /// The table's name.
    public let name: String
    /// The store.
    public let store: any DataStore

    init(_ name: String, store: any DataStore) {
        self.name = name
        self.store = store
    }

    /// The records that match, and where they come from. The query's table is replaced by this one. A record that does not
    /// fit the type stands in ``StoreResult/misfits(of:)`` instead.
    ///
    /// - Throws: as ``DataStore/read(_:_:)``.
    public func read(
        _ query: Query? = nil, _ options: ReadOptions = ReadOptions()
    ) async throws -> (records: [Record], result: StoreResult) {
        var query = query ?? Query(name)
        query.table = name
        let result = try await store.read(query, options)
        return (result.records(of: Record.self), result)
    }

    /// The records that an address leads to, and where they come from: `Agencies?$filter=Rank gt 3`,
    /// `Bookings('1')/Agency`. They have to be of this type.
    public func read(
        _ address: String, _ options: ReadOptions = ReadOptions()
    ) async throws -> (records: [Record], result: StoreResult) {
        let result = try await store.read(address, options)
        return (result.records(of: Record.self), result)
    }

    /// The record with that id.
    public func record(_ id: some RecordIDConvertible) async throws -> Record {
        try value(await store.record(id, in: name))
    }

    /// Creates a record; what is nil in it is left out.
    @discardableResult
    public func create(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        var document = try encoded(record)
        for name in document.names where document[name]?.isNull == true { document[name] = nil }
        return try value(await store.create(document, in: name, options: options))
    }

    /// Writes all properties that the type declares.
    @discardableResult
    public func patch(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        try value(await store.patch(encoded(record), in: name, options: options))
    }

    /// Puts a record in the place of the one that is there: what is nil in it, or no property of the type, becomes null.
    @discardableResult
    public func replace(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        try value(await store.replace(encoded(record), in: name, options: options))
    }

    /// Deletes a record, if the service's still has that version where one is given.
    public func delete(
        _ id: some RecordIDConvertible, version: String? = nil, options: OperationOptions = OperationOptions()
    ) async throws {
        try await store.delete(id.recordID, version: version, in: name, options: options)
    }

    private func encoded(_ record: Record) throws(SluiceError) -> JSON {
        do {
            return try JSONRecordEncoder().encode(record)
        } catch {
            throw SluiceError(.invalidRecord, "a \(Record.self) cannot be written as JSON", table: name, cause: error)
        }
    }

    private func value(_ record: JSON) throws(SluiceError) -> Record {
        try RecordCoder(DeclaredProperties(of: Record.self), asIn: [])
            .decode(Record.self, from: record, table: name, isServers: false)
    }
}
