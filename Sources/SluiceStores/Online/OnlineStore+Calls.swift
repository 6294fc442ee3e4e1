internal import HTTPTypes
public import SluiceBase
internal import SluiceOData
internal import SluiceWire

extension OnlineStore {
    /// Calls a function or an action of the service: by OData's addresses on its wires, else as a custom call.
    public func call(_ operation: OperationCall) async throws -> JSON {
        guard isOpen else { throw SluiceError(.storeClosed, "the online store is not open; call open() first") }
        let arguments = operation.arguments.sorted { $0.key.text < $1.key.text }
        guard let version = ODataVersion(rawValue: client.dialect.name) else {
            let api = client.api(operation.name)
            if operation.isAction { return try await api.call(JSON(members: arguments.map { ($0.key, $0.value) })) }
            var parameters = RequestParameters()
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
        // v2's function imports have their arguments in the query, whatever the method is.
        case .v2: parameters = literals
        case .v4 where operation.isAction: body = JSON(members: arguments.map { ($0.key, $0.value) })
        case .v4:
            // Aliases, so that no value has to stand in the path.
            path += "(\(literals.map { "\($0.name)=@\($0.name)" }.joined(separator: ",")))"
            parameters = literals.map { ("@\($0.name)", $0.value) }
        }
        let response = try await send(operation.isAction ? .post : .get, path, parameters, body)
        guard !response.body.isEmpty else { return .null }
        return Self.value(try response.body.json, of: operation.name)
    }

    /// The bytes at an address below the service's root. Only a path goes to the service: an address of another one is
    /// refused.
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
    ) async throws -> Response {
        let endpoint = client.endpoint
        // `api/` is the door to addresses of the service's own on OData's wires.
        let target = endpoint.target(["api", "x"], parameters)
        let query = target.drop { $0 != "?" }
        var head = HTTPRequest(
            method: method, scheme: endpoint.scheme, authority: endpoint.authority,
            path: "\(endpoint.path)/api/\(path)\(path.contains("?") ? "" : query)")
        head.headerFields[.accept] = accept
        if body != nil { head.headerFields[.contentType] = "application/json" }
        let request = Request(
            head, body: body.map { Body(json: $0) } ?? .empty, context: RequestContext(action: .custom))
        let response = try await client.send(request)
        if let failure = client.dialect.failure(response, for: request.context) { throw failure }
        return response
    }

    /// A name that goes into a path: letters, digits, underscores, and dots between namespaces.
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

    /// The result without its envelope.
    private static func value(_ document: JSON, of name: String) -> JSON {
        if let value = document["value"] { return value }
        guard let value = document["d"] else { return document }
        if let results = value["results"] { return results }
        // v2 wraps a value in an object with the function's name.
        let last = name.split(separator: ".").last.map { PropertyName(String($0)) } ?? ""
        return value.count == 1 ? value[last] ?? value : value
    }
}
