internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// The answer to a change of a record whose row bears another record's id by now.
struct OtherRow: Error { let response: SyncResponse }

/// Reads one row by its key.
struct RowRead {
    let transport: ODataTransport
    let set: EntitySet
    let request: SyncRequest
    let form: RowForm

    init(_ transport: ODataTransport, _ set: EntitySet, _ request: SyncRequest) {
        self.transport = transport
        self.set = set
        self.request = request
        form = RowForm(set: set, version: transport.exchange.version)
    }

    /// Returns the answer to `GET /tables/T/id`.
    func lookup(_ id: RecordID) async throws -> SyncResponse {
        guard let key = try await key(of: id) else { return Self.missing }
        let condition = request.head.headerFields[.ifNoneMatch].map { [("If-None-Match", $0)] } ?? []
        return try await read(key, as: id, condition)
    }

    static var missing: SyncResponse { ODataTransport.refusal(404, "the service has no row with that id") }

    /// Returns the row with that key as an answer with its record, or the service's refusal.
    ///
    /// - Parameters:
    ///   - id: the record's local id.
    ///   - orOther: whether a row under another key counts too, with its own id. Services that compare keys without
    ///     case answer with it.
    func read(
        _ key: EntityKey, as id: RecordID?, _ fields: [(String, String)] = [], orOther: Bool = false
    ) async throws -> SyncResponse {
        let exchange = transport.exchange
        let get = exchange.request(.get, exchange.path(of: key, in: set), for: request, fields: fields)
        let response = try await exchange.send(get)
        guard response.status == 200 else { return response }
        guard let record = try record(in: response, as: id, key),
            orOther || id.map({ record["id"]?.textID?.isSame(as: $0) ?? false }) ?? true
        else {
            throw SluiceError(
                .brokenProtocol, "the service's answer is not the row that was asked for", table: set.name)
        }
        return ODataTransport.response(200, record, like: response)
    }

    /// Returns the record of an answer with one entity; nil if there is none, or one without its key.
    ///
    /// - Parameters:
    ///   - id: the record's local id.
    ///   - key: the key of the requested row; nil until the service has assigned it. The record of another row keeps
    ///     its own id; without one the result is nil.
    func record(in response: SyncResponse, as id: RecordID? = nil, _ key: EntityKey? = nil) throws -> JSON? {
        guard !response.body.isEmpty, let entity = try SetPage.entity(in: response, of: set) else {
            return nil
        }
        let tag = response.head.headerFields[.eTag]
        guard var record = form.record(of: entity, tag: tag) else { return nil }
        let found = EntityKey(row: entity, in: set, version: form.version)
        if let key, found?.isSame(as: key) != true { return id == nil ? nil : record }
        if let id, key != nil || bears(id, entity) { record["id"] = JSON(id) }
        return record
    }

    /// Returns the key of the row with that local id; nil if there is none.
    func key(of id: RecordID) async throws -> EntityKey? {
        guard let property = set.clientID else { return EntityKey(id: id, in: set) }
        // Rows that were not created by our clients have their key as id.
        let filter = FilterForm(set: set, version: form.version)
        let condition = QueryExpression.binary(.eq, .column(property), .literal(.string(id.text)))
        guard case .some(let text) = try filter.filter(condition) else { return nil }
        let exchange = transport.exchange
        let path = exchange.path([set.name], [("$filter", text), ("$top", "2")])
        let response = try await exchange.send(exchange.request(.get, path, for: request))
        if let refusal = ServiceRefusal(response) { throw refusal }
        guard response.status == 200 else {
            throw SluiceError(
                SluiceError.Code(status: response.status) ?? .brokenProtocol,
                "the service does not find rows by \(property.text): \(ServerMessage.text(of: response))",
                table: set.name, recordID: id, status: response.status)
        }
        let rows = try SetPage(try SetPage.document(of: response, set), table: set.name).rows
        // A row without a value there is another client's as well.
        guard rows.allSatisfy({ $0[property]?.string.map { RecordID($0).isSame(as: id) } ?? false }) else {
            throw SluiceError(
                .brokenProtocol,
                "the service does not heed the filter on \(property.text), so no row can be found by it",
                table: set.name, recordID: id)
        }
        guard rows.count < 2 else {
            throw SluiceError(
                .brokenProtocol, "several rows of the service have the same \(property.text)", table: set.name,
                recordID: id)
        }
        guard let row = rows.first else {
            return try await unlistedKey(of: id, in: property) ?? EntityKey(id: id, in: set)
        }
        return EntityKey(row: row, in: set, version: form.version)
    }

    /// Returns the key under which the device knows the record, if the row there still bears the id: the list may lag.
    private func unlistedKey(of id: RecordID, in property: PropertyName) async throws -> EntityKey? {
        guard let known = try await SynchronisedStore.records?.record(id, in: set.name),
            let key = EntityKey(row: known, in: set, version: form.version)
        else { return nil }
        let exchange = transport.exchange
        let response = try await exchange.send(exchange.request(.get, exchange.path(of: key, in: set), for: request))
        switch response.status {
        case 200:
            let entity = try SetPage.entity(in: response, of: set)
            let isSame = entity?[property]?.string.map { RecordID($0).isSame(as: id) } ?? false
            if isSame { return key }
            // Others have given it another id: a change of it is neither made nor done.
            let changes: [HTTPRequest.Method] = [.patch, .put, .delete]
            guard changes.contains(request.head.method), let record = try record(in: response) else { return nil }
            throw OtherRow(response: ODataTransport.response(409, record, like: response))
        case 404, 410: return nil
        default:
            if let refusal = ServiceRefusal(response) { throw refusal }
            throw SluiceError(
                SluiceError.Code(status: response.status) ?? .brokenProtocol,
                "the service does not show the row of that key: \(ServerMessage.text(of: response))",
                table: set.name, recordID: id, status: response.status)
        }
    }

    /// Whether the row does not claim to be created for another record.
    private func bears(_ id: RecordID, _ row: JSON) -> Bool {
        guard let property = set.clientID, let held = row[property]?.string else { return true }
        return RecordID(held).isSame(as: id)
    }
}
