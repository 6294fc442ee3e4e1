public import HTTPTypes
public import SluiceBase

extension SluiceClient {
    /// Returns the table of that name, whose records are JSON objects.
    public func table(_ name: String) -> OnlineTable<JSON> { OnlineTable(name, client: self) }

    /// Returns the table of that name, whose records are values of `type`.
    public func table<Record: Codable & Sendable>(_ name: String, of type: Record.Type) -> OnlineTable<Record> {
        OnlineTable(name, client: self)
    }

    /// Returns the table of the type's records.
    public func table<Record: SyncRecord>(_ type: Record.Type) -> OnlineTable<Record> {
        OnlineTable(type.tableName, client: self)
    }

    /// Returns the custom call of that name: `/api/name`.
    public func api(_ name: String) -> CustomAPI { CustomAPI(name, client: self) }
}

/// A custom call of the server: `/api/name`, with any content that its author defined.
///
/// ```swift
/// struct Order: Codable { var sku: String }
/// struct Receipt: Codable { var total: Double }
///
/// let orders = client.api("orders")
/// let receipt = try await orders.call(Order(sku: "A-1"), returning: Receipt.self)
/// let open = try await orders.call(method: .get, path: ["open"], parameters: ["limit": 5])
/// let report = try await orders.send(MessageBody(bytes: csv), headers: [.contentType: "text/csv"])
/// ```
///
/// Name and path are encoded segment by segment, so no call leaves the endpoint's `/api/name`. Every call throws
/// ``SluiceError`` by the answer's status as a table's calls do, with ``SluiceError/exchange``. It is
/// `invalidArgument` for an invalid name, path, parameter or header; then nothing is sent. A call is not queued:
/// without a network it fails.
public struct CustomAPI: Sendable {
    /// The client.
    public let client: SluiceClient
    /// The call's name.
    public let name: String

    init(_ name: String, client: SluiceClient) {
        self.client = client
        self.name = name
    }

    /// Calls with bytes or nothing, and returns the answer unchanged: any status of 2xx, or 304.
    ///
    /// - Parameters:
    ///   - body: the body; set its `Content-Type` in `headers`.
    ///   - path: further segments after the name, not encoded.
    public func send(
        _ body: MessageBody = .empty, method: HTTPRequest.Method = .post, path: [String] = [],
        parameters: SyncRequest.Parameters = [:], headers: HTTPFields = [:]
    ) async throws -> SyncResponse {
        try await answer(body, .apiGeneric, method, path, parameters, headers).response
    }

    /// Calls with JSON or nothing, and returns the JSON of the answer: null if it is empty.
    ///
    /// - Throws: see ``CustomAPI``; `brokenProtocol` for an answer that is not JSON.
    @discardableResult
    public func call(
        _ body: JSON? = nil, method: HTTPRequest.Method = .post, path: [String] = [],
        parameters: SyncRequest.Parameters = [:], headers: HTTPFields = [:]
    ) async throws -> JSON {
        let body = body.map { MessageBody(json: $0) } ?? .empty
        return try document(await answer(body, .apiJSON, method, path, parameters, headers))
    }

    /// Calls with a value, and returns the answer as a value.
    ///
    /// - Throws: see ``CustomAPI``; `brokenProtocol` for an answer that is not JSON; `invalidRecord` for a value that
    ///   cannot be sent, or an answer that does not fit `type`, with the `EncodingError` or `DecodingError` as cause.
    public func call<Output: Decodable & Sendable>(
        _ body: some Encodable & Sendable, returning type: Output.Type, method: HTTPRequest.Method = .post,
        path: [String] = [], parameters: SyncRequest.Parameters = [:], headers: HTTPFields = [:]
    ) async throws -> Output {
        let document: JSON
        do {
            document = try JSONRecordEncoder().encode(body)
        } catch {
            throw SluiceError(.invalidRecord, "the body of api \(name) cannot be sent", cause: error)
        }
        return try await typed(MessageBody(json: document), type, method, path, parameters, headers)
    }

    /// Calls with nothing, and returns the answer as a value.
    ///
    /// - Throws: see ``CustomAPI``; `brokenProtocol` for an answer that is not JSON; `invalidRecord` for one that does
    ///   not fit `type`, with the `DecodingError` as cause.
    public func call<Output: Decodable & Sendable>(
        returning type: Output.Type, method: HTTPRequest.Method = .post, path: [String] = [],
        parameters: SyncRequest.Parameters = [:], headers: HTTPFields = [:]
    ) async throws -> Output {
        try await typed(.empty, type, method, path, parameters, headers)
    }

    private func typed<Output: Decodable>(
        _ body: MessageBody, _ type: Output.Type, _ method: HTTPRequest.Method, _ path: [String],
        _ parameters: SyncRequest.Parameters, _ headers: HTTPFields
    ) async throws -> Output {
        let answer = try await answer(body, .apiTyped, method, path, parameters, headers)
        let document = try document(answer)
        do {
            return try JSONRecordDecoder().decode(type, from: document)
        } catch {
            throw SluiceError(
                .invalidRecord, "the answer of api \(name) does not fit \(type)", status: answer.response.status,
                cause: error
            ).with(Exchange(answer.request, answer.response, client.dialect))
        }
    }
}

/// The requests of a custom call, and the reading of their answers.
extension CustomAPI {
    func answer(
        _ body: MessageBody, _ kind: SyncRequest.Features, _ method: HTTPRequest.Method, _ path: [String],
        _ parameters: SyncRequest.Parameters, _ headers: HTTPFields
    ) async throws -> (request: SyncRequest, response: SyncResponse) {
        let request = try self.request(body, kind, method, path, parameters, headers)
        let response = try await client.send(request)
        if response.status != 304, let failure = client.dialect.failure(response, for: request.context) {
            throw failure.with(Exchange(request, response, client.dialect))
        }
        return (request, response)
    }

    /// Returns the document of an answer; null for an empty one.
    func document(_ answer: (request: SyncRequest, response: SyncResponse)) throws(SluiceError) -> JSON {
        if answer.response.body.isEmpty { return .null }
        do throws(JSON.ParseError) {
            return try answer.response.body.json
        } catch {
            throw SluiceError(
                .brokenProtocol, "the answer of api \(name) is not JSON", status: answer.response.status,
                cause: error
            ).with(Exchange(answer.request, answer.response, client.dialect))
        }
    }

    private func request(
        _ body: MessageBody, _ kind: SyncRequest.Features, _ method: HTTPRequest.Method, _ path: [String],
        _ parameters: SyncRequest.Parameters, _ headers: HTTPFields
    ) throws(SluiceError) -> SyncRequest {
        for segment in [name] + path where segment.isEmpty || segment == "." || segment == ".." {
            throw SluiceError(.invalidArgument, "'\(segment)' cannot be a segment of the path of api \(name)")
        }
        // Header fields that frame the message or name its receiver belong to the transport.
        let reserved: Set<String> = ["host", "content-length", "transfer-encoding", "connection"]
        if let field = headers.first(where: { reserved.contains($0.name.canonicalName) }) {
            throw SluiceError(.invalidArgument, "the header field \(field.name) is the transport's own")
        }
        let endpoint = client.endpoint
        var head = HTTPRequest(
            method: method, scheme: endpoint.scheme, authority: endpoint.authority,
            path: endpoint.target(["api", name] + path))
        head.headerFields[.accept] = "application/json"
        if !body.isEmpty, kind != .apiGeneric { head.headerFields[.contentType] = "application/json" }
        for (name, value) in client.dialect.headers {
            if let name = HTTPField.Name(name) { head.headerFields[name] = value }
        }
        for name in Set(headers.map(\.name)) { head.headerFields[fields: name] = headers[fields: name] }
        var request = SyncRequest(head, body: body, context: SyncRequest.Context(action: .custom, features: kind))
        request.append(try parameters.validated(table: nil))
        return request
    }
}
