public import SluiceBase
public import SluiceSync
public import SluiceWire

/// One interface to a service's data: over the network, from the device, or both.
///
/// ``OnlineStore`` asks the service each time, ``OfflineStore`` answers from what its defining requests have brought, and
/// ``MixedStore`` decides for each request which of the two. A store is opened before it is used; a call of one that is
/// not open throws ``SluiceError`` of code `storeClosed`.
///
/// ```swift
/// let us = try await offline.read("Agencies?$filter=Country eq 'US'")
/// print(us.records.count, us.source, us.explain)
/// ```
public protocol DataStore: Sendable {
    /// Where whole addresses lead; nil for a store that only works locally.
    var service: ServiceRoot? { get }
    /// The tables that the store knows, with their references, which are the navigation properties.
    var tables: [TableSchema] { get }

    /// Makes the store ready. Opening an open store is allowed.
    func open() async throws
    /// Ends the store's use; it may be opened again.
    func close() async
    /// Whether the store is open.
    var isOpen: Bool { get }

    /// Reads.
    ///
    /// - Throws: ``SluiceError`` of code `notFound` for a record that there is not, `invalidQuery`, `notCovered` by the
    ///   policy, `notAvailableOffline` for a function, of the network and of the store.
    func read(_ request: StoreRequest, _ options: ReadOptions) async throws -> StoreResult

    /// Creates a record. Members under the names of navigation properties are created or linked with it, as one change:
    /// `{"Orders": […]}`, `{"Customer@odata.bind": "Customers('1')"}`.
    ///
    /// - Returns: the record without what was created with it.
    @discardableResult
    func create(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON

    /// Changes properties of a record: those that `changes` does not name stay (PATCH, MERGE).
    ///
    /// - Parameter changes: the new values, and the record's `id`; with a version the change depends on it.
    @discardableResult
    func patch(_ changes: JSON, in table: String, options: OperationOptions) async throws -> JSON

    /// Puts a record in the place of the one that is there: what it does not name becomes null (PUT).
    @discardableResult
    func replace(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON

    /// Deletes a record.
    ///
    /// - Parameter version: the version that the record must still have at the service; nil for whatever it has. A delete
    ///   that waits in the queue always depends on the version that is known here.
    func delete(_ id: RecordID, version: String?, in table: String, options: OperationOptions) async throws

    /// Calls a function or an action of the service.
    ///
    /// - Throws: ``SluiceError`` of code `notAvailableOffline` where the service is not asked or not reached.
    func call(_ operation: OperationCall) async throws -> JSON

    /// The bytes of a media stream or of a raw value, by its address: `Photos(1)/$value`.
    ///
    /// - Throws: ``SluiceError`` of code `notAvailableOffline` where the service is not asked or not reached.
    func media(_ address: String) async throws -> [UInt8]
}

extension DataStore {
    /// Reads what an address asks for: relative to the service's root, or a whole one of the service.
    public func read(_ address: String, _ options: ReadOptions = ReadOptions()) async throws -> StoreResult {
        try await read(StoreRequest(odata: address, service: service), options)
    }

    /// Reads.
    public func read(_ request: StoreRequest) async throws -> StoreResult { try await read(request, ReadOptions()) }

    /// Reads what a query asks for.
    public func read(_ query: Query, _ options: ReadOptions = ReadOptions()) async throws -> StoreResult {
        try await read(StoreRequest(query), options)
    }

    /// Reads one record.
    ///
    /// - Throws: as ``read(_:_:)``; ``SluiceError`` of code `notFound` if there is none.
    public func record(_ id: some RecordIDConvertible, in table: String) async throws -> JSON {
        let result = try await read(StoreRequest(table, key: id.recordID), ReadOptions())
        guard let record = result.record else {
            throw SluiceError(
                .notFound, "the record is not here: \(result.explain)", table: table, recordID: id.recordID)
        }
        return record
    }

    /// How many records match.
    public func count(_ query: Query) async throws -> Int {
        var request = StoreRequest(query)
        request.path.segments.append(.init("$count"))
        return try await read(request, ReadOptions()).count ?? 0
    }

    /// The table that a type's records are in, with records of that type.
    public func table<Record: TableRecord>(_ type: Record.Type) -> TypedStoreTable<Record> {
        TypedStoreTable(Record.tableName, store: self)
    }

    /// A table whose records are values of a type.
    public func table<Record: Codable & Sendable>(_ name: String, of type: Record.Type) -> TypedStoreTable<Record> {
        TypedStoreTable(name, store: self)
    }

    /// Creates a record; see ``create(_:in:options:)``.
    @discardableResult
    public func create(_ record: JSON, in table: String) async throws -> JSON {
        try await create(record, in: table, options: OperationOptions())
    }

    /// Changes properties of a record; see ``patch(_:in:options:)``.
    @discardableResult
    public func patch(_ changes: JSON, in table: String) async throws -> JSON {
        try await patch(changes, in: table, options: OperationOptions())
    }

    /// Replaces a record; see ``replace(_:in:options:)``.
    @discardableResult
    public func replace(_ record: JSON, in table: String) async throws -> JSON {
        try await replace(record, in: table, options: OperationOptions())
    }

    /// Deletes a record, if the service's still has that version where one is given.
    public func delete(_ id: some RecordIDConvertible, version: String? = nil, in table: String) async throws {
        try await delete(id.recordID, version: version, in: table, options: OperationOptions())
    }

    /// Deletes a record, whatever its version; see ``delete(_:version:in:options:)``.
    public func delete(_ id: RecordID, in table: String, options: OperationOptions) async throws {
        try await delete(id, version: nil, in: table, options: options)
    }
}
