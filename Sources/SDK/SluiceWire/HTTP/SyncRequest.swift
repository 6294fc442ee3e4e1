public import HTTPTypes

/// A request on its way down the filter chain.
///
/// It is a value: a change of a copy changes no other. Its parts are large and pass many filters, so copies share them
/// until one is changed.
public struct SyncRequest: Sendable {
    private final class Parts: @unchecked Sendable {
        var head: HTTPRequest
        var body: MessageBody
        var context: SyncRequest.Context

        init(_ head: HTTPRequest, _ body: MessageBody, _ context: SyncRequest.Context) {
            (self.head, self.body, self.context) = (head, body, context)
        }
    }

    /// The shared parts, changed only while no other request has them.
    private var parts: Parts

    /// Method, scheme, authority, path with query, and headers.
    public var head: HTTPRequest {
        get { parts.head }
        _modify {
            own()
            yield &parts.head
        }
    }
    /// The body.
    public var body: MessageBody {
        get { parts.body }
        _modify {
            own()
            yield &parts.body
        }
    }
    /// The purpose of the request.
    public var context: SyncRequest.Context {
        get { parts.context }
        _modify {
            own()
            yield &parts.context
        }
    }

    /// A request.
    public init(_ head: HTTPRequest, body: MessageBody = .empty, context: SyncRequest.Context = SyncRequest.Context()) {
        parts = Parts(head, body, context)
    }

    private mutating func own() {
        if !isKnownUniquelyReferenced(&parts) { parts = Parts(parts.head, parts.body, parts.context) }
    }
}

/// The answer on its way up the filter chain.
public struct SyncResponse: Sendable {
    /// Status and headers.
    public var head: HTTPResponse
    /// The body.
    public var body: MessageBody
    /// The names of the plugins that made this answer, or another of the server's. Operations that it settles note
    /// them.
    package var madeBy: [String] = []
    /// The credentials of the client's requests, which no error about the answer may hold.
    package var credentials: CredentialBook?

    /// An answer.
    public init(_ head: HTTPResponse, body: MessageBody = .empty) {
        self.head = head
        self.body = body
    }

    /// The status code as a number.
    public var status: Int { head.status.code }
}
