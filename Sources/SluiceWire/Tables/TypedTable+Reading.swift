public import SluiceBase

extension TypedTable {
    /// The record with that id.
    ///
    /// - Parameter includeDeleted: whether a record that is marked as deleted is given too, where the server does so.
    /// - Throws: see ``TypedTable``; `notFound` if there is none.
    public func lookup(
        id: some RecordIDConvertible, includeDeleted: Bool = false, parameters: RequestParameters = [:]
    ) async throws -> Record {
        try value(await untyped.lookup(id: id, includeDeleted: includeDeleted, parameters: parameters))
    }

    /// The record as the server has it now; `record` itself if that still has its version, or no id.
    ///
    /// - Throws: see ``TypedTable``; `notFound` if there is none any more.
    public func refresh(_ record: Record, parameters: RequestParameters = [:]) async throws -> Record {
        let document = try document(record, withNulls: false)
        let fresh = try await untyped.refresh(document, parameters: parameters)
        // What came back untouched need not make its way through the coders.
        return fresh.handle === document.handle ? record : try value(fresh)
    }

    /// The first page of the records that match; as ``Table/read(_:parameters:)``.
    ///
    /// - Throws: see ``TypedTable``; `invalidQuery` for a query that cannot be.
    public func read(_ query: Query? = nil, parameters: RequestParameters = [:]) async throws -> TablePage<Record> {
        try await untyped.read(query, parameters: parameters).map(value)
    }

    /// The page after that one; nil after the last.
    ///
    /// - Throws: see ``TypedTable``; `brokenProtocol` if the server sends the same page once more.
    public func read(after page: TablePage<Record>) async throws -> TablePage<Record>? {
        let place = TablePage<JSON>(rows: [], count: nil, cursor: page.cursor)
        return try await untyped.read(after: place)?.map(value)
    }

    /// The first page of what a text of OData asks for; as ``Table/read(odata:parameters:)``.
    ///
    /// - Throws: see ``TypedTable``; `invalidArgument` for an address at another origin.
    public func read(odata: String, parameters: RequestParameters = [:]) async throws -> TablePage<Record> {
        try await untyped.read(odata: odata, parameters: parameters).map(value)
    }

    /// How many records match the query's filter; as ``Table/count(_:parameters:)``.
    ///
    /// - Throws: see ``TypedTable``; `brokenProtocol` if the server does not report it.
    public func count(_ query: Query? = nil, parameters: RequestParameters = [:]) async throws -> Int {
        try await untyped.count(query, parameters: parameters)
    }

    /// All pages of the records that match, each asked for when it is wanted.
    public func pages(_ query: Query? = nil, parameters: RequestParameters = [:]) -> TablePages<Record> {
        let pages = untyped.pages(query, parameters: parameters)
        return TablePages(
            first: { try await pages.first().map(value) }, next: { try await read(after: $0) })
    }

    /// All records that match, page after page.
    public func records(_ query: Query? = nil, parameters: RequestParameters = [:]) -> TableRecords<Record> {
        TableRecords(pages: pages(query, parameters: parameters))
    }
}
