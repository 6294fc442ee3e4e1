internal import HTTPTypes
internal import SluiceBase

/// How a custom call is sent, and what its answer comes to.
extension CustomAPI {
    func answer(
        _ body: Body, _ kind: RequestFeatures, _ method: HTTPRequest.Method, _ path: [String],
        _ parameters: RequestParameters, _ headers: HTTPFields
    ) async throws -> (request: Request, response: Response) {
        let request = try self.request(body, kind, method, path, parameters, headers)
        let response = try await client.send(request)
        if response.status != 304, let failure = client.dialect.failure(response, for: request.context) {
            throw failure.with(Exchange(request, response, client.dialect))
        }
        return (request, response)
    }

    /// The document of an answer; null for an empty one.
    func document(_ answer: (request: Request, response: Response)) throws(SluiceError) -> JSON {
        if answer.response.body.isEmpty { return .null }
        do throws(JSONParseError) {
            return try answer.response.body.json
        } catch {
            throw SluiceError(
                .brokenProtocol, "the answer of api \(name) is not JSON", status: answer.response.status,
                cause: error
            ).with(Exchange(answer.request, answer.response, client.dialect))
        }
    }

    private func request(
        _ body: Body, _ kind: RequestFeatures, _ method: HTTPRequest.Method, _ path: [String],
        _ parameters: RequestParameters, _ headers: HTTPFields
    ) throws(SluiceError) -> Request {
        for segment in [name] + path where segment.isEmpty || segment == "." || segment == ".." {
            throw SluiceError(.invalidArgument, "'\(segment)' cannot be a segment of the path of api \(name)")
        }
        // What frames the message and names its receiver is the transport's.
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
        var request = Request(head, body: body, context: RequestContext(action: .custom, features: kind))
        request.append(try parameters.validated(table: nil))
        return request
    }
}
