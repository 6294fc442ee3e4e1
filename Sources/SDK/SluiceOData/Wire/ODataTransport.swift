internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// The inner end of the chain for an OData service: converts requests of the tables wire to OData, and the service's
/// answers back.
///
/// So the engine, filters and scripts see one form on all wires: `/tables/T/id`, `__version`, `If-Match`, change
/// tokens. Only the real transport sees OData. A client with an OData dialect wraps its transport in this one.
final class ODataTransport: RecordNaming {
    let exchange: ServiceExchange
    let settings: ODataSettings
    let catalog: SetCatalog
    let memory = ServiceMemory()

    init(version: ODataVersion, settings: ODataSettings, endpoint: Endpoint, inner: any Transport) {
        exchange = ServiceExchange(version: version, endpoint: endpoint, inner: inner)
        self.settings = settings
        catalog = SetCatalog(exchange: exchange, settings: settings)
    }

    /// Whether the service recognizes a repeated request by its id, by the settings or by an answer.
    var remembersRequests: Bool { settings.remembersRequests || memory.knowsRequestIDs }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        guard exchange.endpoint.isOrigin(of: request.head) else { return try await exchange.passedElsewhere(request) }
        do {
            let path = TablePath(request, endpoint: exchange.endpoint)
            switch path {
            case .digest: return Self.refusal(501, "an OData service has no digests")
            case .batch:
                guard settings.batches != .off else { return Self.refusal(501, "the settings allow no batches") }
                return try await BatchChange(self, request).answer()
            case .other(let address):
                var call = request
                call.head.path = address
                return try await exchange.send(call)
            case .key(let name):
                _ = try await catalog.set(name, for: request)
                return SyncResponse(HTTPResponse(status: .noContent))
            case .table(let name):
                let set = try await catalog.set(name, for: request)
                switch request.head.method {
                case .get: return try await ListRead(self, set, request).answer()
                default: return try await RowChange(self, set, request).answer(path)
                }
            case .record(let name, let id):
                let set = try await catalog.set(name, for: request)
                switch request.head.method {
                case .get: return try await RowRead(self, set, request).lookup(id)
                default: return try await RowChange(self, set, request).answer(path)
                }
            }
        } catch let refusal as ServiceRefusal {
            return refusal.response
        } catch let other as OtherRow {
            return other.response
        } catch let error as SluiceError where error.code == .notFound && error.status == 404 {
            return Self.refusal(404, error.message)
        }
    }

    func name(ofNew record: JSON, called id: RecordID, in table: String) -> RecordName? {
        guard let set = try? catalog.known(table) else { return nil }
        let key = NewKey(of: record, called: id, in: set, version: exchange.version)
        guard set.clientID == nil, case .whole(let key) = key else { return RecordName(id, key: JSON(id)) }
        let value = set.singleKey.map { EdmValue.json(plain: key.values[0], type: $0.type) }
        return RecordName(key.id(in: set), key: value ?? JSON(key.id(in: set)))
    }

    /// Returns an answer of this transport's own.
    static func refusal(_ status: Int, _ message: String) -> SyncResponse {
        response(status, ["error": JSON(message)])
    }

    /// Returns an answer with a page of rows.
    ///
    /// - Parameter isMarked: whether it contains marks for the page's reader: see ``MarkedFaults``.
    static func response(_ status: Int, page: JSON, like service: SyncResponse?, isMarked: Bool) -> SyncResponse {
        var response = Self.response(status, page, like: service)
        if isMarked { response.body = MessageBody(bytes: MarkedFaults.page(page)) }
        return response
    }

    /// Returns an answer with a document.
    static func response(_ status: Int, _ document: JSON, like service: SyncResponse? = nil) -> SyncResponse {
        var head = HTTPResponse(status: .init(code: status))
        head.headerFields = service?.head.headerFields ?? [:]
        // These fields describe the service's body, or are in the new body.
        let replaced: [HTTPField.Name] = [.contentLength, .contentEncoding, .transferEncoding, .eTag, .location]
        for name in replaced { head.headerFields[name] = nil }
        if let own = AnswerStatus.ownStatus { head.headerFields[own] = nil }
        head.headerFields[.contentType] = "application/json"
        return SyncResponse(head, body: MessageBody(json: document))
    }
}

/// The transport's observations about the service.
final class ServiceMemory: Sendable {
    private let state = Mutex(State())

    private struct State {
        var untracked: Set<String> = []
        var untagged: Set<String> = []
        var assigning: Set<String> = []
        var refusedMethods: Set<String> = []
        var takesNoJSONBatches = false
        var knowsRequestIDs = false
    }

    /// Whether the service has issued no delta links for the set.
    func isUntracked(_ set: String) -> Bool { state.withLock { $0.untracked.contains(set) } }
    func noteUntracked(_ set: String) { state.withLock { _ = $0.untracked.insert(set) } }

    /// Whether lists of the set have rows without entity tags.
    func isUntagged(_ set: String) -> Bool { state.withLock { $0.untagged.contains(set) } }
    func noteUntagged(_ set: String) { state.withLock { _ = $0.untagged.insert(set) } }

    /// Whether the service has made a row of the set under another key than the one that it was sent.
    func assignsKeys(_ set: String) -> Bool { state.withLock { $0.assigning.contains(set) } }
    func noteAssignedKeys(_ set: String) { state.withLock { _ = $0.assigning.insert(set) } }

    /// Whether the service does not accept the method.
    func refuses(_ method: String) -> Bool { state.withLock { $0.refusedMethods.contains(method) } }
    func noteRefused(_ method: String) { state.withLock { _ = $0.refusedMethods.insert(method) } }

    /// Whether the service has refused a batch because it was JSON.
    var takesNoJSONBatches: Bool { state.withLock { $0.takesNoJSONBatches } }
    /// Whether the service has reported its handling of the request's id (OASIS Repeatable Requests).
    var knowsRequestIDs: Bool { state.withLock { $0.knowsRequestIDs } }
    func noteRequestIDs() { state.withLock { $0.knowsRequestIDs = true } }

    func noteNoJSONBatches() { state.withLock { $0.takesNoJSONBatches = true } }
}

/// The entity sets of one service, from its metadata, which is read once, and from the settings.
final class SetCatalog: Sendable {
    private let exchange: ServiceExchange
    private let settings: ODataSettings
    private let state = Mutex(State())
    private let reading = SharedReading<EdmModel>()

    private struct State {
        var model: EdmModel?
        var sets: [String: EntitySet] = [:]
    }

    init(exchange: ServiceExchange, settings: ODataSettings) {
        self.exchange = exchange
        self.settings = settings
    }

    /// Returns the set of that name.
    ///
    /// - Throws: ``SluiceError`` of code `notFound` if the service has none; errors of the metadata and the network.
    func set(_ name: String, for request: SyncRequest) async throws -> EntitySet {
        if let set = try known(name) { return set }
        let model = try await model(for: request)
        guard let set = try set(name, model) else {
            throw SluiceError(.notFound, "the service has no entity set \(name)", table: name, status: 404)
        }
        return set
    }

    /// Returns the set of that name, if it is known without a request; nil if the metadata has to be read for it.
    func known(_ name: String) throws(SluiceError) -> EntitySet? {
        let (set, model) = state.withLock { ($0.sets[name], $0.model) }
        if let set { return set }
        return try self.set(name, model)
    }

    /// Returns the set by the settings and, if they do not name its key, by the model; nil if that has no such set.
    private func set(_ name: String, _ model: EdmModel?) throws(SluiceError) -> EntitySet? {
        let table = settings.tables[name]
        var set: EntitySet
        if let key = table?.key, !key.isEmpty {
            set = try EntitySet(name, key: key, updatedAt: table?.updatedAt)
        } else {
            guard let described = try model?.entitySet(name, updatedAt: table?.updatedAt) else { return nil }
            set = described
        }
        if let assigns = table?.assignsKey, assigns != set.assignsKey {
            set.assignedKey = assigns ? Set(set.key.map(\.name)) : []
        }
        set.clientID = table?.clientID
        set.tracksChanges = table?.tracksChanges ?? true
        let found = set
        state.withLock { $0.sets[name] = found }
        return found
    }

    /// Returns the service's metadata. Tasks that need it at the same time share one request.
    private func model(for request: SyncRequest) async throws -> EdmModel {
        if let model = state.withLock({ $0.model }) { return model }
        let model = try await reading.value { try await self.read(for: request) }
        state.withLock { $0.model = model }
        return model
    }

    private func read(for request: SyncRequest) async throws -> EdmModel {
        var metadata = exchange.request(.get, exchange.path(["$metadata"]), for: request)
        metadata.head.headerFields[.accept] = "application/xml"
        metadata.context = SyncRequest.Context(source: request.context.source, limits: request.context.limits)
        let response = try await exchange.send(metadata)
        if let refusal = ServiceRefusal(response, to: "$metadata") { throw refusal }
        if ServerMessage.isWebPage(response) {
            throw SluiceError(
                .brokenProtocol, "$metadata: \(ServerMessage.webPage)", table: request.context.table,
                status: response.status)
        }
        guard response.status == 200 else {
            let code = SluiceError.Code(status: response.status) ?? .brokenProtocol
            throw SluiceError(
                code == .notFound ? .rejected : code,
                "the service's metadata cannot be read (\(response.status)); without it the keys of the sets must stand in "
                    + "the settings", table: request.context.table, status: response.status)
        }
        return try EdmModel(document: response.body.bytes)
    }
}
