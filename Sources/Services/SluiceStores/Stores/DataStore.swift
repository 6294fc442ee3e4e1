public import SluiceBase
public import SluiceSync

/// One interface to a service's data: over the network, from the device, or both.
///
/// ``OnlineStore`` asks the service each time. ``OfflineStore`` answers from the records of its defining requests.
/// ``MixedStore`` chooses between the two for each request. A store is opened before it is used; a call of one that is
/// not open throws ``SluiceError`` of code `storeClosed`.
///
/// ```swift
/// let us = try await offline.read("Agencies?$filter=Country eq 'US'")
/// print(us.records.count, us.source, us.explain)
/// ```
public protocol DataStore: Sendable {
    /// The root of complete addresses; nil for a store that only works locally.
    var service: ServiceRoot? { get }
    /// The tables that the store knows, with their references, which are the navigation properties.
    var tables: [TableSchema] { get }

    /// Makes the store ready. Opening an open store is allowed.
    func open() async throws
    /// Ends the store's use; it may be opened again.
    func close() async
    /// Whether the store is open.
    var isOpen: Bool { get }

    /// Reads records.
    ///
    /// - Throws: ``SluiceError`` of code `notFound` for a missing record, `invalidQuery`, `notCovered` by the policy,
    ///   `notAvailableOffline` for a function, of the network and of the store.
    func read(_ request: StoreRequest, _ options: ReadOptions) async throws -> StoreResult

    /// Creates a record. Members under the names of navigation properties are created or linked with it, as one change:
    /// `{"Orders": […]}`, `{"Customer@odata.bind": "Customers('1')"}`.
    ///
    /// - Returns: the record without the records created with it.
    @discardableResult
    func create(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON

    /// Changes properties of a record: those missing in `changes` stay (PATCH, MERGE).
    ///
    /// - Parameters:
    ///   - changes: the new values, and the record's `id`; with a version the change depends on it.
    ///   - table: the record's table.
    ///   - options: the options of the operation.
    @discardableResult
    func patch(_ changes: JSON, in table: String, options: OperationOptions) async throws -> JSON

    /// Replaces the existing record: properties missing in the new one become null (PUT).
    @discardableResult
    func replace(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON

    /// Deletes a record.
    ///
    /// - Parameters:
    ///   - id: the record.
    ///   - version: the version that the record must still have at the service; nil for any. A queued delete always
    ///     depends on the locally known version.
    ///   - table: the record's table.
    ///   - options: the options of the operation.
    func delete(_ id: RecordID, version: String?, in table: String, options: OperationOptions) async throws

    /// Calls a function or an action of the service.
    ///
    /// - Throws: ``SluiceError`` of code `notAvailableOffline` if the service is not asked or not reached.
    func call(_ operation: OperationCall) async throws -> JSON

    /// Reads the bytes of a media stream or of a raw value, by its address: `Photos(1)/$value`.
    ///
    /// - Throws: ``SluiceError`` of code `notAvailableOffline` if the service is not asked or not reached.
    func media(_ address: String) async throws -> [UInt8]
}

extension DataStore {
    /// Reads the target of an address: relative to the service's root, or a complete one of the service.
    public func read(_ address: String, _ options: ReadOptions = ReadOptions()) async throws -> StoreResult {
        try await read(StoreRequest(odata: address, service: service), options)
    }

    /// Reads records with default options.
    public func read(_ request: StoreRequest) async throws -> StoreResult { try await read(request, ReadOptions()) }

    /// Reads the records of a query.
    public func read(_ query: TableQuery, _ options: ReadOptions = ReadOptions()) async throws -> StoreResult {
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

    /// Returns the number of records that match.
    public func count(_ query: TableQuery) async throws -> Int {
        var request = StoreRequest(query)
        request.path.segments.append(.init("$count"))
        return try await read(request, ReadOptions()).count ?? 0
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

    /// Deletes a record, if the service's record still has the given version.
    public func delete(_ id: some RecordIDConvertible, version: String? = nil, in table: String) async throws {
        try await delete(id.recordID, version: version, in: table, options: OperationOptions())
    }

    /// Deletes a record with any version; see ``delete(_:version:in:options:)``.
    public func delete(_ id: RecordID, in table: String, options: OperationOptions) async throws {
        try await delete(id, version: nil, in: table, options: options)
    }
}

extension DataStore {
    /// Returns the ids of the records linked by a navigation property.
    public func links(
        of id: some RecordIDConvertible, in table: String, along name: PropertyName
    ) async throws -> [RecordID] {
        var request = StoreRequest(table, key: id.recordID)
        request.path.segments += [.init(name.text), .init("$ref")]
        return try await read(request, ReadOptions()).records.compactMap { $0["id"]?.textID }
    }

    /// Links a record to another, which replaces the previous one if the property leads to a single record.
    public func link(
        _ id: some RecordIDConvertible, in table: String, along name: PropertyName, to other: some RecordIDConvertible
    ) async throws {
        try await change(
            LinkChange(id.recordID, table, try StoreSchemas(tables).reference(name, of: table), other.recordID),
            isAdded: true)
    }

    /// Ends a link between two records. The records stay.
    public func unlink(
        _ id: some RecordIDConvertible, in table: String, along name: PropertyName, from other: some RecordIDConvertible
    ) async throws {
        try await change(
            LinkChange(id.recordID, table, try StoreSchemas(tables).reference(name, of: table), other.recordID),
            isAdded: false)
    }

    /// A link is a property of one of the two records, so that changing the link is a change of that record.
    private func change(_ link: LinkChange, isAdded: Bool) async throws {
        let reference = link.reference
        let (holder, column, target, targetColumn) =
            reference.isCollection
            ? ((link.other, reference.table), reference.targetColumn, (link.id, link.table), reference.column)
            : ((link.id, link.table), reference.column, (link.other, reference.table), reference.targetColumn)
        var value = JSON.null
        if isAdded {
            let known = targetColumn == "id" ? nil : try await record(target.0, in: target.1)
            let linked = known.map { LinkValue($0, by: targetColumn, reference) } ?? LinkValue(target.0)
            guard let linked else {
                throw SluiceError(
                    .invalidRecord, "the record has no \(targetColumn) to be linked by", table: target.1,
                    recordID: target.0)
            }
            value = linked.json(for: column, of: StoreSchemas(tables)[holder.1])
        }
        try await patch(
            JSON(members: [("id", JSON(holder.0.text)), (column, value)] as [(PropertyName, JSON)]), in: holder.1,
            options: OperationOptions())
    }
}

/// A link that is added or removed.
private struct LinkChange {
    let id: RecordID
    let table: String
    let reference: TableSchema.Reference
    let other: RecordID

    init(_ id: RecordID, _ table: String, _ reference: TableSchema.Reference, _ other: RecordID) {
        (self.id, self.table, self.reference, self.other) = (id, table, reference, other)
    }
}
