internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Creates, changes or deletes one row.
///
/// The answer to a change that was carried out holds the row as the service has it: one of 204 is followed by a read,
/// since services also set properties by themselves. That of a change which was refused for its condition holds it too.
struct RowChange {
    let transport: ODataTransport
    let set: EntitySet
    let request: Request
    let reader: RowRead

    init(_ transport: ODataTransport, _ set: EntitySet, _ request: Request) {
        self.transport = transport
        self.set = set
        self.request = request
        reader = RowRead(transport, set, request)
    }

    private var exchange: ServiceExchange { transport.exchange }
    private var form: RowForm { reader.form }

    // MARK: Creating

    /// The answer to `POST /tables/T`.
    func insert() async throws -> Response {
        let record = try body()
        guard let id = record["id"]?.textID else {
            return ODataTransport.refusal(400, "the record has no id")
        }
        let ownKey = EntityKey(id: id, in: set)
        if set.assignsKey || (ownKey == nil && set.singleKey != nil) { return try await insertUnnamed(record, id) }
        guard let key = ownKey else {
            return ODataTransport.refusal(400, "the record's id is no key of the entity set \(set.name)")
        }
        let response = try await post(form.body(of: record, key: key))
        if (200..<300).contains(response.status) { return try await answer(response, key, id) }
        // Services say in many ways that a row of that key is there, which an earlier send may have made.
        guard [400, 409, 412, 422, 500].contains(response.status) else { return response }
        let there = try await reader.read(key, as: id)
        guard there.status == 200 else { return response }
        return ODataTransport.response(409, (try? there.body.json) ?? .null, like: there)
    }

    /// Creates a row whose key the service assigns. Nobody can tell two such rows apart but by a property that holds the
    /// record's id; so one that may have been sent before is looked for first, and not sent again where it cannot be found.
    private func insertUnnamed(_ record: JSON, _ id: RecordID) async throws -> Response {
        guard set.clientID != nil else {
            return ODataTransport.refusal(
                422,
                "the service assigns the keys of \(set.name): name a property for the ids of new rows (clientID) in the "
                    + "settings of the table, or give the record an id that is a key")
        }
        if request.context.mayBeRepeat || request.context.attempt > 0, let key = try await reader.key(of: id) {
            let there = try await reader.read(key, as: id)
            if there.status == 200 { return ODataTransport.response(409, (try? there.body.json) ?? .null, like: there) }
            if there.status != 404 { return there }
        }
        let response = try await post(form.body(of: record, key: nil, clientID: id))
        guard (200..<300).contains(response.status) else { return response }
        if let made = try reader.record(in: response, as: id) {
            return ODataTransport.response(201, made, like: response)
        }
        var key = location(of: response)
        if key == nil { key = try await reader.key(of: id) }
        guard let key else {
            return Response(HTTPResponse(status: .noContent))
        }
        return try await answer(response, key, id)
    }

    private func post(_ body: JSON) async throws -> Response {
        try await exchange.send(
            exchange.request(
                .post, exchange.path([set.name]), for: request, fields: repeatability + representation, body: body))
    }

    /// The key in the address that a creation without a body is answered with. Only the key counts: the host may be
    /// another one.
    private func location(of response: Response) -> EntityKey? {
        let entityID = HTTPField.Name("OData-EntityId").flatMap { response.head.headerFields[$0] }
        return (entityID ?? response.head.headerFields[.location]).flatMap { EntityKey(address: $0, in: set) }
    }

    // MARK: Changing

    /// The answer to `PATCH /tables/T/id` and `PUT /tables/T/id`.
    func update(_ id: RecordID) async throws -> Response {
        let record = try body()
        guard let key = try await reader.key(of: id) else { return RowRead.missing }
        let condition = try await condition(key, id)
        if let refusal = condition.refusal { return refusal }
        let body = form.body(of: record, key: request.head.method == .put ? key : nil, clientID: nil)
        let isWhole = request.head.method == .put
        let response = try await send(isWhole ? .put : updateMethod, key, condition.tag, body)
        return try await settled(response, key, id)
    }

    /// The answer to `DELETE /tables/T/id`.
    func delete(_ id: RecordID) async throws -> Response {
        guard let key = try await reader.key(of: id) else { return RowRead.missing }
        let condition = try await condition(key, id)
        if let refusal = condition.refusal { return refusal }
        let response = try await send(.delete, key, condition.tag, nil)
        if (200..<300).contains(response.status) {
            var done = Response(HTTPResponse(status: .noContent))
            done.head.headerFields = response.head.headerFields
            return done
        }
        return try await settled(response, key, id)
    }

    private var updateMethod: HTTPRequest.Method {
        let merge = HTTPRequest.Method("MERGE")
        if exchange.version == .v2, let merge, !transport.memory.refuses(merge.rawValue) { return merge }
        return .patch
    }

    private func settled(_ response: Response, _ key: EntityKey, _ id: RecordID) async throws -> Response {
        if (200..<300).contains(response.status) { return try await answer(response, key, id) }
        guard [409, 412].contains(response.status) else { return response }
        let there = try await reader.read(key, as: id)
        if there.status == 404 || there.status == 410 { return there }
        guard there.status == 200 else { return response }
        return ODataTransport.response(response.status, (try? there.body.json) ?? .null, like: there)
    }

    /// The answer to a change that was carried out, with the row as it is now. Where the row cannot be read it is the
    /// service's own: that a change was carried out is not forgotten for the sake of a read.
    private func answer(_ response: Response, _ key: EntityKey, _ id: RecordID) async throws -> Response {
        if response.status != 204, let record = try? reader.record(in: response, as: id) {
            return ODataTransport.response(response.status == 201 ? 201 : 200, record, like: response)
        }
        if let there = try? await reader.read(key, as: id), there.status == 200 {
            return ODataTransport.response(200, (try? there.body.json) ?? .null, like: there)
        }
        return Response(HTTPResponse(status: .noContent))
    }

    /// Sends a change of a row; by another method where the service does not take this one.
    private func send(
        _ method: HTTPRequest.Method, _ key: EntityKey, _ tag: String?, _ body: JSON?
    ) async throws -> Response {
        let path = exchange.path(of: key, in: set)
        var fields = repeatability + (body == nil ? [] : representation)
        if let tag { fields.append(("If-Match", tag)) }
        let isTunnelled = transport.settings.tunnelsMethods || transport.memory.refuses(method.rawValue)
        if isTunnelled { fields.append((exchange.version.tunnelField, method.rawValue)) }
        let response = try await exchange.send(
            exchange.request(isTunnelled ? .post : method, path, for: request, fields: fields, body: body))
        if response.status == 428, tag == nil {
            // The caller gave no version, so whatever is there is changed; the service wants that to be said.
            return try await send(method, key, "*", body)
        }
        guard !isTunnelled, [405, 501].contains(response.status) else { return response }
        transport.memory.noteRefused(method.rawValue)
        return try await send(method == .delete || method == .put ? method : updateMethod, key, tag, body)
    }

    /// The tag to send in `If-Match`, or the refusal that the service would give if it had tags.
    ///
    /// A version that is a digest of the row's content is compared here, with the row read for the purpose. Between the
    /// read and the change another may come; a service without tags has nothing against that.
    private func condition(
        _ key: EntityKey, _ id: RecordID
    ) async throws -> (tag: String?, refusal: Response?) {
        guard let tag = request.head.headerFields[.ifMatch] else { return (nil, nil) }
        guard tag.hasPrefix(RowForm.contentMark) else { return (tag, nil) }
        let exchange = exchange
        let response = try await exchange.send(
            exchange.request(.get, exchange.path(of: key, in: set), for: request))
        guard response.status == 200, let entity = SetPage.entity(try response.body.json) else {
            return (nil, response)
        }
        guard form.contentVersion(of: entity) == tag else {
            let record = try reader.record(in: response, as: id) ?? .null
            return (nil, ODataTransport.response(412, record, like: response))
        }
        return (form.tag(of: entity) ?? response.head.headerFields[.eTag], nil)
    }

    // MARK: Parts of requests

    private func body() throws(SluiceError) -> JSON {
        do throws(JSONParseError) {
            return try request.body.json
        } catch {
            throw SluiceError(
                .invalidRecord, "the record is not JSON any more, and an OData service takes nothing else",
                table: set.name,
                recordID: request.context.recordID, cause: error)
        }
    }

    private var representation: [(String, String)] {
        exchange.version == .v4 ? [("Prefer", "return=representation")] : []
    }

    /// v2: the header fields by which SAP's services know a repeat (SAP Gateway, Repeatable Requests); those of v4 are
    /// the engine's own.
    private var repeatability: [(String, String)] {
        guard exchange.version == .v2, let name = HTTPField.Name("Repeatability-Request-ID"),
            let id = request.head.headerFields[name]
        else { return [] }
        func digits(_ seed: String) -> String {
            let text = String(FNV1a.spread(FNV1a.hash((seed + id).utf8)), radix: 16, uppercase: true)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        let created = HTTPField.Name("Repeatability-First-Sent").flatMap { request.head.headerFields[$0] }
        return [("RequestID", digits("a") + digits("b"))] + (created.map { [("RepeatabilityCreation", $0)] } ?? [])
    }
}
