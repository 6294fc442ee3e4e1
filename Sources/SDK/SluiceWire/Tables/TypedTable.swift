public import SluiceBase

/// A table at the server whose records are values of a type.
///
/// ```swift
/// let people = client.table(Person.self)
/// var ada = try await people.insert(Person(name: "Ada"))
/// ada.name = "Ada L."
/// ada = try await people.update(ada)
/// ```
///
/// It does the same as ``Table``, and returns the server's record as a new value. The type codes itself: a property
/// that it does not declare is not read, and an `update` leaves it alone if the wire has PATCH. A nil property is left
/// out of an insert, so that the server's default applies. An update sends it as null, which clears it.
///
/// In addition to the errors of ``Table`` there is `invalidRecord` for a server's record that does not fit the type.
/// The change was made nevertheless, and ``SluiceError/serverRecord`` is the server's record.
public struct TypedTable<Record: Codable & Sendable>: Sendable {
    private var base: Table
    private let declared: DeclaredProperties

    init(_ name: String, client: SluiceClient) {
        base = Table(name, client: client, kind: .typedTable)
        declared = DeclaredProperties(of: Record.self)
        base.systemProperties = Set(declared.names.keys)
    }

    /// The client.
    public var client: SluiceClient { base.client }
    /// The table's name.
    public var name: String { base.name }

    /// The properties among `createdAt`, `updatedAt`, `version` and `deleted` that are the server's: by default the
    /// ones that the type declares. Remove one if a table of Mobile Services has its own column by that name.
    public var systemProperties: Set<SystemProperty> {
        get { base.systemProperties ?? [] }
        set { base.systemProperties = newValue }
    }

    /// The same table without the type: same server, same filters.
    var untyped: Table { base }

    /// Adds a record. Without an id (nil, or 0 for an integer) the server assigns one.
    ///
    /// - Returns: the server's record.
    /// - Throws: see ``TypedTable``; `conflict` if there is a record with that id already.
    @discardableResult
    public func insert(_ record: Record, parameters: RequestParameters = [:]) async throws -> Record {
        try value(await base.insert(try document(record, withNulls: false), parameters: parameters))
    }

    /// Changes a record, if it still has the version that `record` has.
    ///
    /// - Returns: the server's record.
    /// - Throws: see ``TypedTable``.
    @discardableResult
    public func update(_ record: Record, parameters: RequestParameters = [:]) async throws -> Record {
        try value(await base.update(try document(record, withNulls: true), parameters: parameters))
    }

    /// Replaces the server's record (PUT). Columns that the type does not declare are lost.
    ///
    /// - Returns: the server's record.
    /// - Throws: see ``TypedTable``.
    @discardableResult
    public func replace(_ record: Record, parameters: RequestParameters = [:]) async throws -> Record {
        try value(await base.replace(try document(record, withNulls: true), parameters: parameters))
    }

    /// Deletes a record, if it still has the version that `record` has.
    ///
    /// - Throws: see ``TypedTable``; `notFound` if there is none.
    public func delete(_ record: Record, parameters: RequestParameters = [:]) async throws {
        try await base.delete(try document(record, withNulls: false), parameters: parameters)
    }

    /// Deletes a record, in any version unless one is given.
    ///
    /// - Throws: see ``TypedTable``; `notFound` if there is none.
    public func delete(
        id: some RecordIDConvertible, version: String? = nil, parameters: RequestParameters = [:]
    ) async throws {
        try await base.delete(id: id, version: version, parameters: parameters)
    }

    /// Brings a deleted record back, if it still has the version that `record` has.
    ///
    /// - Returns: the server's record.
    /// - Throws: as ``Table/undelete(id:version:parameters:)``.
    @discardableResult
    public func undelete(_ record: Record, parameters: RequestParameters = [:]) async throws -> Record {
        try value(await base.undelete(try document(record, withNulls: true), parameters: parameters))
    }

    /// Brings a deleted record back.
    ///
    /// - Returns: the server's record.
    /// - Throws: as ``Table/undelete(id:version:parameters:)``.
    @discardableResult
    public func undelete(
        id: some RecordIDConvertible, version: String? = nil, parameters: RequestParameters = [:]
    ) async throws -> Record {
        try value(await base.undelete(id: id, version: version, parameters: parameters))
    }

    private var coder: RecordCoder { RecordCoder(declared, among: systemProperties, dialect: client.dialect) }

    func document(_ record: Record, withNulls: Bool) throws(SluiceError) -> JSON {
        try coder.encode(record, withNulls: withNulls, table: name)
    }

    func value(_ document: JSON) throws(SluiceError) -> Record {
        try coder.decode(Record.self, from: document, table: name)
    }
}

extension TypedTable {
    /// Returns the record with that id.
    ///
    /// - Parameter includeDeleted: whether a record that is marked as deleted is returned too, if the server does so.
    /// - Throws: see ``TypedTable``; `notFound` if there is none.
    public func lookup(
        id: some RecordIDConvertible, includeDeleted: Bool = false, parameters: RequestParameters = [:]
    ) async throws -> Record {
        try value(await untyped.lookup(id: id, includeDeleted: includeDeleted, parameters: parameters))
    }

    /// Returns the server's current record; `record` itself if its version is still current, or if it has no id.
    ///
    /// - Throws: see ``TypedTable``; `notFound` if it no longer exists.
    public func refresh(_ record: Record, parameters: RequestParameters = [:]) async throws -> Record {
        let document = try document(record, withNulls: false)
        let fresh = try await untyped.refresh(document, parameters: parameters)
        // An unchanged record need not be decoded again.
        return fresh.handle === document.handle ? record : try value(fresh)
    }

    /// Returns the first page of the records that match; as ``Table/read(_:parameters:)``.
    ///
    /// - Throws: see ``TypedTable``; `invalidQuery` for an invalid query.
    public func read(_ query: Query? = nil, parameters: RequestParameters = [:]) async throws -> TablePage<Record> {
        try await untyped.read(query, parameters: parameters).map(value)
    }

    /// Returns the page after that one; nil after the last.
    ///
    /// - Throws: see ``TypedTable``; `brokenProtocol` if the server repeats the page.
    public func read(after page: TablePage<Record>) async throws -> TablePage<Record>? {
        let place = TablePage<JSON>(rows: [], count: nil, cursor: page.cursor)
        return try await untyped.read(after: place)?.map(value)
    }

    /// Returns the first page for an OData text; as ``Table/read(odata:parameters:)``.
    ///
    /// - Throws: see ``TypedTable``; `invalidArgument` for an address at another origin.
    public func read(odata: String, parameters: RequestParameters = [:]) async throws -> TablePage<Record> {
        try await untyped.read(odata: odata, parameters: parameters).map(value)
    }

    /// Counts the records that match the query's filter; as ``Table/count(_:parameters:)``.
    ///
    /// - Throws: see ``TypedTable``; `brokenProtocol` if the server does not report it.
    public func count(_ query: Query? = nil, parameters: RequestParameters = [:]) async throws -> Int {
        try await untyped.count(query, parameters: parameters)
    }

    /// Returns all pages of the records that match, each requested on demand.
    public func pages(_ query: Query? = nil, parameters: RequestParameters = [:]) -> TablePages<Record> {
        let pages = untyped.pages(query, parameters: parameters)
        return TablePages(
            first: { try await pages.first().map(value) }, next: { try await read(after: $0) })
    }

    /// Returns all records that match, page after page.
    public func records(_ query: Query? = nil, parameters: RequestParameters = [:]) -> TableRecords<Record> {
        TableRecords(pages: pages(query, parameters: parameters))
    }
}
