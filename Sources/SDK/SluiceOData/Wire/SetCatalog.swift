internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

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
    func set(_ name: String, for request: Request) async throws -> EntitySet {
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
    private func model(for request: Request) async throws -> EdmModel {
        if let model = state.withLock({ $0.model }) { return model }
        let model = try await reading.value { try await self.read(for: request) }
        state.withLock { $0.model = model }
        return model
    }

    private func read(for request: Request) async throws -> EdmModel {
        var metadata = exchange.request(.get, exchange.path(["$metadata"]), for: request)
        metadata.head.headerFields[.accept] = "application/xml"
        metadata.context = RequestContext(source: request.context.source, limits: request.context.limits)
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
