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

extension SyncRequest {
    /// The features that a request uses, as `X-ZUMO-FEATURES` reports them to a Mobile Services or Mobile Apps backend.
    ///
    /// The features are part of a request's ``SyncRequest.Context`` and its own: the next request starts without any. Online
    /// tables set theirs. A filter of the chain adds the others: parameters of the user's, a condition, a push or pull.
    public struct Features: OptionSet, Sendable, Hashable, CustomStringConvertible {
        /// The features as bits, in the order of ``description``.
        public let rawValue: Int

        /// Features from their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `TT`: a table of a type.
        public static let typedTable = SyncRequest.Features(rawValue: 1 << 0)
        /// `TU`: a table without a type.
        public static let untypedTable = SyncRequest.Features(rawValue: 1 << 1)
        /// `AT`: a custom call with types.
        public static let apiTyped = SyncRequest.Features(rawValue: 1 << 2)
        /// `AJ`: a custom call with JSON.
        public static let apiJSON = SyncRequest.Features(rawValue: 1 << 3)
        /// `AG`: a custom call with bytes.
        public static let apiGeneric = SyncRequest.Features(rawValue: 1 << 4)
        /// `QS`: parameters other than OData's.
        public static let queryParameters = SyncRequest.Features(rawValue: 1 << 5)
        /// `OC`: optimistic concurrency, that is `If-Match`.
        public static let concurrency = SyncRequest.Features(rawValue: 1 << 6)
        /// `OL`: part of a push or a pull.
        public static let offline = SyncRequest.Features(rawValue: 1 << 7)
        /// `LH`: a page that a `Link` header led to.
        public static let linkHeader = SyncRequest.Features(rawValue: 1 << 8)
        /// `IP`: part of an incremental pull.
        public static let incremental = SyncRequest.Features(rawValue: 1 << 9)
        /// `RF`: an object that is refreshed.
        public static let refresh = SyncRequest.Features(rawValue: 1 << 10)
        /// `TR`: a table read with a query that is text.
        public static let readRaw = SyncRequest.Features(rawValue: 1 << 11)
        /// `TQ`: a table read with a query.
        public static let readQuery = SyncRequest.Features(rawValue: 1 << 12)

        private static let codes = ["TT", "TU", "AT", "AJ", "AG", "QS", "OC", "OL", "LH", "IP", "RF", "TR", "TQ"]

        /// The codes with commas between them, in the order of the .NET and Android clients: by kind of table, kind of
        /// call, then the rest. It is `TU,OL` for a push, `QS,OL` for a pull. Empty without any.
        public var description: String {
            Self.codes.indices.filter { rawValue & 1 << $0 != 0 }.map { Self.codes[$0] }.joined(separator: ",")
        }
    }
}
