internal import HTTPTypes
public import SluiceBase
internal import SluiceOData
public import SluiceSync
public import SluiceWire

/// A store whose every call goes to the service.
///
/// ```swift
/// let online = OnlineStore(client: client, tables: [agencies, bookings])
/// try await online.open()
/// let beijing = try await online.read("Agencies?$filter=City eq 'Beijing'")
/// ```
///
/// It works on every wire. Features missing on a wire are implemented here: `$expand` and navigation are reads of the
/// linked tables by their references, so that they mean the same with every service and in every store. On OData's
/// wires ``SluiceClient/metadata()`` returns the tables with their references.
public final class OnlineStore: DataStore {
    /// The way to the service.
    public let client: SluiceClient
    /// The tables, with their references.
    public let tables: [TableSchema]
    /// The names of the service's functions and actions.
    public let operations: [String]
    let schemas: StoreSchemas
    let environment: SyncEnvironment
    let maximumRecords: Int
    private let state = OpenState("online")

    /// Creates a store of a service, which is not open yet.
    ///
    /// - Parameters:
    ///   - client: the client of the service.
    ///   - tables: the tables with references; others can be read too, without navigation.
    ///   - operations: the names of the service's functions and actions (``EdmModel/operations``), so that an address
    ///     with such a name is a call and no table.
    ///   - maximumRecords: the largest number of records in one read; more is an error of code `limitReached`.
    ///   - environment: clock and ids.
    public init(
        client: SluiceClient, tables: [TableSchema] = [], operations: [String] = [], maximumRecords: Int = 100_000,
        environment: SyncEnvironment = .system
    ) {
        self.client = client
        self.tables = tables
        self.operations = operations
        self.maximumRecords = maximumRecords
        self.environment = environment
        schemas = StoreSchemas(tables, operations: operations)
    }

    /// The service's root.
    public var service: ServiceRoot? { ServiceRoot(client) }
    /// Whether the store is open.
    public var isOpen: Bool { state.isOpen }
    /// Makes the store ready. It sends nothing: an unreachable service is noticed by the first request.
    public func open() async throws { state.set(true) }
    /// Ends the store's use.
    public func close() async { state.set(false) }

    /// Reads from the service.
    public func read(_ request: StoreRequest, _ options: ReadOptions) async throws -> StoreResult {
        try await PathWalk(reader: self, request: request, readOptions: options).result()
    }

    /// Creates a record at the service.
    ///
    /// Records created or linked with it are changes of their own, one after the other: if one fails, the earlier ones
    /// have been applied. For an atomic change use an ``OfflineStore``, whose queue sends it as one group.
    @discardableResult
    public func create(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        let makeID = environment.makeID
        let table = schemas.spelled(table)
        let client = try self.client(with: options, table)
        var hasID = !(record["id"]?.isNull ?? true)
        let deep = try DeepRecord(record, in: table, schemas: schemas, makeID: makeID)
        // On a wire of tables the server may generate the id; OData's have no other way to name the record.
        hasID = hasID || client.dialect.isOData || !deep.isSingle
        var made: JSON?
        var keys = KnownKeys(tables)
        for change in deep.changes {
            switch change {
            case .insert(let new, let target):
                let isRoot = made == nil && target == table && new["id"] == deep.root["id"]
                var body = keys.resolved(new, in: target)
                if !hasID { body["id"] = nil }
                let stored = try await client.table(target).insert(body)
                keys.note(stored, as: new["id"], in: target)
                if isRoot { made = stored }
            case .update(let changes, let target):
                _ = try await client.table(target).update(keys.resolved(changes, in: target))
            }
        }
        return made ?? deep.root
    }

    /// Changes properties of a record at the service. A version among the changes is sent as `If-Match`.
    @discardableResult
    public func patch(_ changes: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        return try await client(with: options, table).table(schemas.spelled(table)).update(changes)
    }

    /// Replaces a record at the service.
    @discardableResult
    public func replace(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try state.require()
        return try await client(with: options, table).table(schemas.spelled(table)).replace(record)
    }

    /// Deletes a record at the service. A given version is sent as `If-Match`.
    public func delete(
        _ id: RecordID, version: String?, in table: String, options: OperationOptions
    ) async throws {
        try state.require()
        try await client(with: options, table).table(schemas.spelled(table)).delete(id: id, version: version)
    }

    /// Returns the client, with the header fields of one change.
    private func client(with options: OperationOptions, _ table: String) throws -> SluiceClient {
        try options.validateHeaders(table: table)
        return options.headers.isEmpty ? client : client.with(OwnFields(fields: options.headers))
    }
}

extension OnlineStore: TableReader {
    func answer(_ read: TableRead, _ options: ReadOptions) async throws -> TableAnswer {
        try state.require()
        let source = OnlineSource(client: client, maximumRecords: maximumRecords)
        let asOf = environment.now()
        let page = try await SetExecution(source: source, schemas: schemas).page(read)
        return TableAnswer(
            records: page.records, count: page.count,
            provenance: .init(.remote, asOf: asOf, reasons: ["the service at \(client.endpoint.identity) was asked"]))
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] { [] }
    func isMadeHere(_ id: RecordID, in table: String) async throws -> Bool { false }

    func value(of call: OperationCall) async throws -> (JSON, StoreResult.Provenance) {
        let asOf = environment.now()
        let value = try await self.call(call)
        return (value, .init(.remote, asOf: asOf, reasons: ["the service computed \(call.name)"]))
    }
}

/// Adds the header fields of one change to its request.
private struct OwnFields: RequestTransform {
    let fields: HTTPFields

    func request(_ request: SyncRequest) -> SyncRequest {
        var request = request
        for field in fields { request.head.headerFields.append(field) }
        return request
    }
}

extension OnlineStore {
    /// Calls a function or an action of the service: by OData's addresses on its wires, else as a custom call.
    public func call(_ operation: OperationCall) async throws -> JSON {
        guard isOpen else { throw SluiceError(.storeClosed, "the online store is not open; call open() first") }
        let arguments = operation.arguments.sorted { $0.key.text < $1.key.text }
        guard let version = ODataVersion(rawValue: client.dialect.name) else {
            let api = client.api(operation.name)
            if operation.isAction { return try await api.call(JSON(members: arguments.map { ($0.key, $0.value) })) }
            var parameters = SyncRequest.Parameters()
            for (name, value) in arguments {
                parameters.append(name.text, value.kind == .object ? JSON(value.description) : value)
            }
            return try await api.call(method: .get, parameters: parameters)
        }
        try Self.validate(operation)
        var path = operation.name
        var parameters: [(name: String, value: String)] = []
        var body: JSON?
        let literals = arguments.map { (name: $0.key.text, value: Self.literal($0.value)) }
        switch version {
        // v2's function imports have their arguments in the query, with any method.
        case .v2: parameters = literals
        case .v4 where operation.isAction: body = JSON(members: arguments.map { ($0.key, $0.value) })
        case .v4:
            // Aliases keep the values out of the path.
            path += "(\(literals.map { "\($0.name)=@\($0.name)" }.joined(separator: ",")))"
            parameters = literals.map { ("@\($0.name)", $0.value) }
        }
        let response = try await send(operation.isAction ? .post : .get, path, parameters, body)
        guard !response.body.isEmpty else { return .null }
        return Self.value(try response.body.json, of: operation.name)
    }

    /// Reads the bytes at an address below the service's root. Only a path is sent to the service: an address of
    /// another one is refused.
    public func media(_ address: String) async throws -> [UInt8] {
        guard isOpen else { throw SluiceError(.storeClosed, "the online store is not open; call open() first") }
        guard client.dialect.isOData else {
            throw SluiceError(.unsupported, "the wire \(client.dialect.name) has no media streams; use a custom call")
        }
        let path = try ServiceRoot.relative(address, to: service)
        _ = try ResourcePathReader(path)
        let mended = PercentEncoding.mended(path.drop { $0 == "/" })
        return Array(try await send(.get, mended, [], nil, accept: "*/*").body.bytes)
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ parameters: [(name: String, value: String)], _ body: JSON?,
        accept: String = "application/json"
    ) async throws -> SyncResponse {
        let endpoint = client.endpoint
        // `api/` gives access to the service's own addresses on OData's wires.
        let target = endpoint.target(["api", "x"], parameters)
        let query = target.drop { $0 != "?" }
        var head = HTTPRequest(
            method: method, scheme: endpoint.scheme, authority: endpoint.authority,
            path: "\(endpoint.path)/api/\(path)\(path.contains("?") ? "" : query)")
        head.headerFields[.accept] = accept
        if body != nil { head.headerFields[.contentType] = "application/json" }
        let request = SyncRequest(
            head, body: body.map { MessageBody(json: $0) } ?? .empty, context: SyncRequest.Context(action: .custom))
        let response = try await client.send(request)
        if let failure = client.dialect.failure(response, for: request.context) { throw failure }
        return response
    }

    /// Checks a name for use in a path: letters, digits, underscores, and dots between namespaces.
    private static func validate(_ operation: OperationCall) throws(SluiceError) {
        for name in [operation.name] + operation.arguments.keys.map(\.text) {
            let isName = name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "_.0123456789".unicodeScalars.contains($0)
            }
            guard isName, !name.isEmpty, !name.hasPrefix("."), !name.contains("..") else {
                throw SluiceError(.invalidArgument, "\(name) is no name of a function, an action or an argument")
            }
        }
    }

    private static func literal(_ value: JSON) -> String {
        if let text = value.string { return "'\(text.replacing("'", with: "''"))'" }
        return value.description
    }

    /// Returns the result without its envelope.
    private static func value(_ document: JSON, of name: String) -> JSON {
        if let value = document["value"] { return value }
        guard let value = document["d"] else { return document }
        if let results = value["results"] { return results }
        // v2 wraps a value in an object with the function's name.
        let last = name.split(separator: ".").last.map { PropertyName(String($0)) } ?? ""
        return value.count == 1 ? value[last] ?? value : value
    }
}
