public import HTTPTypes

/// A request on its way down the filter chain.
public struct Request: Sendable {
    /// Method, scheme, authority, path with query, and headers.
    public var head: HTTPRequest
    /// The body.
    public var body: Body
    /// What the request is for.
    public var context: RequestContext

    /// A request.
    public init(_ head: HTTPRequest, body: Body = .empty, context: RequestContext = RequestContext()) {
        self.head = head
        self.body = body
        self.context = context
    }
}

/// The answer on its way up the filter chain.
public struct Response: Sendable {
    /// Status and headers.
    public var head: HTTPResponse
    /// The body.
    public var body: Body
    /// The names of the plugins that made this answer, or another of the server's: what they settle is noted.
    package var madeBy: [String] = []
    /// What no error about the answer may hold: the credentials of its client's requests.
    package var credentials: CredentialBook?

    /// An answer.
    public init(_ head: HTTPResponse, body: Body = .empty) {
        self.head = head
        self.body = body
    }

    /// The status code as a number.
    public var status: Int { head.status.code }
}
