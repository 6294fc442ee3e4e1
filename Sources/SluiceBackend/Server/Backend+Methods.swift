internal import HTTPTypes
internal import SluiceCore

/// Requests that every path answers alike, whatever is there.
extension Backend {
    /// The methods of requests on which the paths of this server differ.
    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    /// The answer to a request: to `HEAD` that to `GET` without its content, to `OPTIONS` the methods.
    func withoutContent(_ request: Request, by allowance: Allowance?) async -> Response {
        switch request.head.method {
        case .head:
            var read = request
            read.head.method = .get
            var answer = await routed(read, by: allowance)
            answer.head.headerFields[.contentLength] = String(answer.body.bytes.count)
            answer.body = .empty
            return answer
        case .options:
            var head = HTTPResponse(status: .noContent)
            head.headerFields[.allow] = Self.methods
            return Response(head)
        default: return await routed(request, by: allowance)
        }
    }

    /// Refuses a request that does not name its server once (RFC 9112, section 3.2): links are made of that name.
    static func checkHost(_ head: HTTPRequest) throws(Refusal) {
        let others = HTTPField.Name("Host").map { head.headerFields[values: $0] } ?? []
        guard let authority = head.authority, !authority.isEmpty, others.isEmpty else {
            throw Refusal(.badRequest, "a request names its server in one field Host")
        }
    }
}
