internal import HTTPTypes
public import SluiceBase

/// A table at the server, without a type: its records are JSON objects.
///
/// Every call goes to the server through the client's filters, at once, and stores nothing locally. ``SyncTable`` is
/// for programs that must work without a network.
///
/// ```swift
/// let people = client.table("people")
/// var ada = try await people.insert(["name": "Ada"])
/// ada["name"] = "Ada L."
/// ada = try await people.update(ada)
/// ```
///
/// Calls return the server's record. A change carries the version of the record it was made on, and is refused with
/// `preconditionFailed` if the server has another version. A record without a version is changed without a condition.
///
/// Calls throw ``SluiceError``. `invalidTable`, `invalidRecord` and `invalidArgument` mean that nothing was sent.
/// `notFound`, `conflict`, `preconditionFailed` and the like are refusals of the server, with
/// ``SluiceError/exchange``, and with ``SluiceError/serverRecord`` if it sent one. After `network`, `timeout` and
/// `cancelled` it is unknown whether the server carried out the request.
public struct Table: Sendable {
    /// The client.
    public let client: SluiceClient
    /// The table's name.
    public let name: String
    /// The system properties to request on a wire that sends them only on request. Nil leaves it to the client's
    /// options, whose default is all.
    public var systemProperties: Set<SystemProperty>?
    /// The kind of table that is reported to the server.
    let kind: RequestFeatures

    init(_ name: String, client: SluiceClient, kind: RequestFeatures = .untypedTable) {
        self.client = client
        self.name = name
        self.kind = kind
    }

    var dialect: Dialect { client.dialect }

    /// Adds a record. Without an `id` the server assigns one; an integer id must be absent, null or 0.
    ///
    /// - Returns: the server's record.
    /// - Throws: see ``Table``; `conflict` if there is a record with that id already.
    @discardableResult
    public func insert(_ record: JSON, parameters: RequestParameters = [:]) async throws -> JSON {
        try TableRules.validate(table: name)
        var record = record
        switch try TableRules.id(of: record, table: name, dialect: dialect, isNew: true) {
        case .integer(let number)?:
            throw TableRules.refusal("the server gives out integer ids: insert without one", name, .integer(number))
        case .string?: break
        case nil: record[dialect.columns.id] = nil
        }
        let request = dialect.insert(table: name, record: record, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: record)
    }

    /// Changes properties of a record; properties that `changes` does not name stay. On a wire whose updates are PUT
    /// (`azure-v3`, `datasync`) it must be the whole record, as for ``replace(_:parameters:)``.
    ///
    /// - Parameter changes: the new values, the record's `id`, and its version where the change depends on it.
    /// - Returns: the server's record.
    /// - Throws: see ``Table``.
    @discardableResult
    public func update(_ changes: JSON, parameters: RequestParameters = [:]) async throws -> JSON {
        let (id, record) = try identified(changes)
        let request = dialect.update(
            table: name, id: id, changes: record, version: nil, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: record)
    }

    /// Replaces the server's record (PUT). Properties that `record` does not name are lost.
    ///
    /// - Returns: the server's record.
    /// - Throws: see ``Table``.
    @discardableResult
    public func replace(_ record: JSON, parameters: RequestParameters = [:]) async throws -> JSON {
        let (id, record) = try identified(record)
        let request = dialect.replace(
            table: name, id: id, record: record, version: nil, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: record)
    }

    /// Deletes a record, if it still has the version that `record` has.
    ///
    /// - Throws: see ``Table``; `notFound` if there is none.
    public func delete(_ record: JSON, parameters: RequestParameters = [:]) async throws {
        let (id, record) = try identified(record)
        try await delete(id: id, version: record[dialect.columns.version]?.string, parameters: parameters)
    }

    /// Deletes a record, in any version unless one is given.
    ///
    /// - Throws: see ``Table``; `notFound` if there is none.
    public func delete(
        id: some RecordIDConvertible, version: String? = nil, parameters: RequestParameters = [:]
    ) async throws {
        let id = try validated(id)
        let request = dialect.delete(
            table: name, id: id, version: usable(version, for: id), endpoint: client.endpoint)
        _ = try await record(request, parameters)
    }

    /// Returns the record with its id checked, and without its version if the id is an integer: servers keep versions
    /// only of records with text ids.
    private func identified(_ record: JSON) throws(SluiceError) -> (RecordID, JSON) {
        try TableRules.validate(table: name)
        let id = try TableRules.requiredID(of: record, table: name, dialect: dialect)
        var record = record
        if case .integer = id { record[dialect.columns.version] = nil }
        return (id, record)
    }

    func validated(_ id: some RecordIDConvertible) throws(SluiceError) -> RecordID {
        try TableRules.validate(table: name)
        let id = id.recordID
        try TableRules.validate(id, table: name, dialect: dialect)
        return id
    }

    func usable(_ version: String?, for id: RecordID) -> String? {
        if case .integer = id { return nil }
        return version
    }
}

extension Table {
    /// Brings a deleted record back, in a table that keeps deleted records.
    ///
    /// - Parameter version: the version that the deleted record must still have, if any.
    /// - Returns: the server's record.
    /// - Throws: see ``Table``; `invalidRecord` for an integer id, since such tables keep no deleted records.
    @discardableResult
    public func undelete(
        id: some RecordIDConvertible, version: String? = nil, parameters: RequestParameters = [:]
    ) async throws -> JSON {
        try await undelete(try validated(id), version, parameters)
    }

    /// Brings a deleted record back in the server's state, if it still has the version that `record` has.
    ///
    /// - Returns: the server's record.
    /// - Throws: as ``undelete(id:version:parameters:)``.
    @discardableResult
    public func undelete(_ record: JSON, parameters: RequestParameters = [:]) async throws -> JSON {
        try TableRules.validate(table: name)
        let id = try TableRules.requiredID(of: record, table: name, dialect: dialect)
        return try await undelete(id, record[dialect.columns.version]?.string, parameters)
    }

    private func undelete(
        _ id: RecordID, _ version: String?, _ parameters: RequestParameters
    ) async throws -> JSON {
        guard case .string = id else {
            throw TableRules.refusal("only records with text ids can be brought back", name, id)
        }
        var whole: JSON?
        var version = version
        if dialect.undelete == .put {
            // The wire brings a record back by a PUT of the whole record, so it has to be read first. The version
            // ensures that it is unchanged since.
            let found = try await lookup(id: id, includeDeleted: true, parameters: parameters)
            whole = found
            version = version ?? found[dialect.columns.version]?.string
        }
        let request = dialect.undelete(
            table: name, id: id, record: whole, version: version, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: whole ?? JSON(members: [(dialect.columns.id, JSON(id))]))
    }
}

/// The requests of a table, and the reading of their answers.
extension Table {
    /// Sends a request as one of this table's.
    ///
    /// - Returns: the request as it entered the chain, and the answer.
    func send(_ request: Request, _ parameters: RequestParameters = [:]) async throws -> (Request, Response) {
        var request = request
        request.append(try parameters.validated(table: name))
        request.context.features.formUnion(kind)
        request.context.systemProperties = systemProperties.map { dialect.selection(of: $0) }
        do {
            return (request, try await client.send(request))
        } catch var error as SluiceError {
            // A transport need not know the request's table and record.
            error.table = error.table ?? name
            error.recordID = error.recordID ?? request.context.recordID
            throw error
        }
    }

    /// Returns the record of the answer; nil for an answer that needs none.
    func record(_ request: Request, _ parameters: RequestParameters) async throws -> JSON? {
        let (request, response) = try await send(request, parameters)
        do {
            return try dialect.record(in: response, for: request.context)
        } catch {
            throw error.with(exchange(request, response))
        }
    }

    /// Returns the server's record after a change. A server that answers without one (204) has accepted the sent
    /// record. Its version is then the entity tag's, or unknown.
    func changed(_ request: Request, _ parameters: RequestParameters, sent: JSON) async throws -> JSON {
        let (request, response) = try await send(request, parameters)
        do {
            if let record = try dialect.record(in: response, for: request.context) { return record }
        } catch {
            throw error.with(exchange(request, response))
        }
        var record = sent
        let version = response.head.headerFields[.eTag].flatMap { ETag($0).version }
        record[dialect.columns.version] = version.map { JSON($0) }
        return record
    }

    /// Returns the page of the answer to a list.
    func page(_ request: Request, _ parameters: RequestParameters, after previous: PageCursor?) async throws
        -> TablePage<JSON>
    {
        let (request, response) = try await send(request, parameters)
        do throws(SluiceError) {
            let page = try dialect.page(in: response, for: request.context, requiresIDs: false)
            let wanted = max(0, request.context.paging.remaining ?? page.rows.count)
            return TablePage(
                rows: page.rows.indices.prefix(wanted).map { page.record(at: $0) }, count: page.count,
                cursor: try PageCursor.after(page, response, to: request, previous: previous, client: client))
        } catch {
            throw error.with(exchange(request, response))
        }
    }

    private func exchange(_ request: Request, _ response: Response) -> Exchange {
        Exchange(request, response, dialect, systemProperties ?? .all)
    }
}
