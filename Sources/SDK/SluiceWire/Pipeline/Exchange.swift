internal import HTTPTypes
public import SluiceBase

/// The request and the answer of an error, kept for callers that need details.
///
/// Fields and query parameters with a credential's name are removed from both. The rest is the caller's request and
/// the server's answer, so think before you log it. Its own description shows only method and status.
public struct Exchange: Sendable {
    /// Held by reference, so that an error stays small.
    private final class Storage: Sendable {
        let request: SyncRequest
        let response: SyncResponse
        let dialect: Dialect
        let properties: Set<SystemProperty>

        init(_ request: SyncRequest, _ response: SyncResponse, _ dialect: Dialect, _ properties: Set<SystemProperty>) {
            self.request = request
            self.response = response
            self.dialect = dialect
            self.properties = properties
        }
    }
    private let storage: Storage

    /// The request as it entered the chain of filters.
    public var request: SyncRequest { storage.request }
    /// The answer as it left the chain.
    public var response: SyncResponse { storage.response }
    /// The wire that reads the record of the answer.
    var dialect: Dialect { storage.dialect }
    /// The system properties that the table treats as the server's.
    var properties: Set<SystemProperty> { storage.properties }

    init(_ request: SyncRequest, _ response: SyncResponse, _ dialect: Dialect, _ properties: Set<SystemProperty> = .all)
    {
        var request = request
        var response = response
        request.head.headerFields = Self.withoutCredentials(request.head.headerFields)
        response.head.headerFields = Self.withoutCredentials(response.head.headerFields)
        // Also of a successful answer that could not be read: the error's text is cleaned already.
        response.body = response.credentials?.hiding(response.body) ?? response.body
        response.head.headerFields =
            response.credentials?.hiding(response.head.headerFields) ?? response.head.headerFields
        request.head.path = request.head.path.map { path in
            var query = QueryString(ofPath: path)
            for name in query.parts.map(QueryString.name(of:)) where CredentialNames.isCredential(parameter: name) {
                query[name] = nil
            }
            return query.path
        }
        storage = Storage(request, response, dialect, properties)
    }

    private static func withoutCredentials(_ fields: HTTPFields) -> HTTPFields {
        HTTPFields(fields.filter { !CredentialNames.isCredential($0.name) })
    }
}

extension Exchange: CustomStringConvertible, CustomReflectable {
    /// Method and status: `PATCH, answered 412`.
    public var description: String { "\(request.head.method.rawValue), answered \(response.status)" }

    /// Shows only ``description``, so that a dump of an error shows no header and no body.
    public var customMirror: Mirror { Mirror(self, children: [("exchange", description)]) }
}

extension SluiceError {
    /// The request and the answer, where an online table or a custom call was refused.
    public var exchange: Exchange? {
        get { details as? Exchange }
        set { details = newValue }
    }
}
