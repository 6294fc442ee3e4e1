internal import HTTPTypes
public import SluiceBase

extension OnlineTable {
    /// Returns the record with that id.
    ///
    /// - Parameter includeDeleted: whether a record that is marked as deleted is returned too, if the server does so.
    /// - Throws: see ``OnlineTable``; `notFound` if there is none.
    public func lookup(
        id: some RecordIDConvertible, includeDeleted: Bool = false, parameters: SyncRequest.Parameters = [:]
    ) async throws -> Record {
        try coder.decode(await document(validated(id), includeDeleted: includeDeleted, parameters))
    }

    /// Returns the server's current record. The server sends it only if it has another version (`If-None-Match`);
    /// otherwise `record` is returned. A record without an id is returned without a request.
    ///
    /// - Throws: see ``OnlineTable``; `notFound` if it no longer exists.
    public func refresh(_ record: Record, parameters: SyncRequest.Parameters = [:]) async throws -> Record {
        try TableRules.validate(table: name)
        let document = try coder.encode(record, withNulls: false)
        guard let id = try TableRules.id(of: document, table: name, dialect: dialect) else { return record }
        let version = usable(document[dialect.columns.version]?.string, for: id)
        var request = dialect.lookup(table: name, id: id, version: version, endpoint: client.endpoint)
        request.context.features.insert(.refresh)
        return try await self.document(request, parameters).map { try coder.decode($0) } ?? record
    }

    /// Returns the first page of the records that match. The query's table is replaced by this one.
    ///
    /// - Throws: see ``OnlineTable``; `invalidQuery` for an invalid query.
    public func read(_ query: TableQuery? = nil, parameters: SyncRequest.Parameters = [:]) async throws -> TablePage<
        Record
    > {
        try TableRules.validate(table: name)
        return try await page(try list(query), parameters, after: nil)
    }

    /// Returns the page after that one; nil after the last. It keeps the user parameters.
    ///
    /// - Throws: see ``OnlineTable``; `brokenProtocol` if the server repeats the page.
    public func read(after page: TablePage<Record>) async throws -> TablePage<Record>? {
        guard let cursor = page.cursor else { return nil }
        return try await self.page(cursor.request, [:], after: cursor)
    }

    /// Returns the first page for an OData text.
    ///
    /// - Parameter odata: a query (`$filter=year ge 1990&$top=5`, with or without a question mark), a path below the
    ///   endpoint's with or without a query (`/api/films?$top=5`: a custom call that answers as a table does), or a
    ///   whole address at the endpoint's own origin. Characters that are not allowed in an address are
    ///   percent-encoded; `&`, `+` and `%` in a value must be so already.
    /// - Throws: see ``OnlineTable``; `invalidArgument` for an address at another origin.
    public func read(odata: String, parameters: SyncRequest.Parameters = [:]) async throws -> TablePage<Record> {
        try TableRules.validate(table: name)
        var request = try dialect.list(table: name, query: TableQuery(name), endpoint: client.endpoint)
        request.head.path = try ODataAddress(odata, table: name).path(at: client.endpoint)
        request.context.features.insert(.readRaw)
        return try await page(request, parameters, after: nil)
    }

    /// Counts the records that match the query's filter, regardless of its `top` and `skip`.
    ///
    /// - Throws: see ``OnlineTable``; `brokenProtocol` if the server does not report it.
    public func count(_ query: TableQuery? = nil, parameters: SyncRequest.Parameters = [:]) async throws -> Int {
        var query = query ?? TableQuery(name)
        query.order = []
        query.select = []
        query.skip = 0
        query.top = 0
        query.includesCount = true
        let page = try await read(query, parameters: parameters)
        guard let count = page.count else {
            throw SluiceError(.brokenProtocol, "the server did not say how many records there are", table: name)
        }
        return count
    }

    /// Returns all pages of the records that match, each requested on demand. A query for some properties also brings
    /// the `id`, because it distinguishes the pages.
    public func pages(_ query: TableQuery? = nil, parameters: SyncRequest.Parameters = [:]) -> TablePages<Record> {
        var query = query ?? TableQuery(name)
        if !query.select.isEmpty, !query.select.contains(dialect.columns.id) { query.select.append(dialect.columns.id) }
        return TablePages(
            first: { [query] in try await read(query, parameters: parameters) },
            next: { try await read(after: $0) })
    }

    /// Returns all records that match, page after page; as ``pages(_:parameters:)``.
    public func records(_ query: TableQuery? = nil, parameters: SyncRequest.Parameters = [:]) -> TableRecords<Record> {
        TableRecords(pages: pages(query, parameters: parameters))
    }

    private func list(_ query: TableQuery?) throws(SluiceError) -> SyncRequest {
        var query = coder.query(query ?? TableQuery(name))
        query.table = name
        var request = try dialect.list(table: name, query: query, endpoint: client.endpoint)
        request.context.features.insert(.readQuery)
        return request
    }
}

/// The target of an OData text: a query, a path below the endpoint's, or a whole address.
struct ODataAddress {
    private let text: Substring
    private let table: String

    init(_ text: String, table: String) {
        self.text = text[...]
        self.table = table
    }

    /// Returns the path with query for a request to `endpoint`. Characters that are not allowed in an address are
    /// percent-encoded, and the endpoint's own query is added.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an address at another origin than the endpoint's.
    func path(at endpoint: Endpoint) throws(SluiceError) -> String {
        let start = text.prefix { $0 != "?" }
        if start.hasPrefix("//") { throw refusal }
        if start.hasPrefix("/") { return joined("\(endpoint.path)\(start)", text.dropFirst(start.count), endpoint) }
        // A name and "=" before any "://" is the beginning of a query that has an address in one of its values.
        if let separator = start.firstRange(of: "://"), !start[..<separator.lowerBound].contains("=") {
            let rest = text[separator.upperBound...]
            let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            guard endpoint.isOrigin(scheme: String(start[..<separator.lowerBound]), authority: String(authority)) else {
                throw refusal
            }
            let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
            return joined(path.isEmpty ? "/" : String(path), rest.dropFirst(authority.count + path.count), endpoint)
        }
        let path = endpoint.target(["tables", table]).prefix { $0 != "?" }
        return joined(String(path), text.hasPrefix("?") ? text : "?\(text)"[...], endpoint)
    }

    /// Joins path and query, the query with its question mark.
    private func joined(_ path: String, _ query: Substring, _ endpoint: Endpoint) -> String {
        let query = PercentEncoding.mended(query.dropFirst())
        var target = QueryString(ofPath: "\(PercentEncoding.mended(path))?\(query)")
        target.addMissing(endpoint.query.split(separator: "&").map(String.init))
        return target.path
    }

    private var refusal: SluiceError {
        SluiceError(
            .invalidArgument, "the query's address leads to another server than the client's endpoint", table: table)
    }
}
