internal import HTTPTypes

/// The request and the answer that an error is about, kept for whoever wants to look closer.
///
/// Fields that hold credentials are taken out of both; the rest is what the caller asked and the server said, so think
/// before you log it. Its own description says no more than method and status.
public struct Exchange: Sendable {
    /// Behind a reference, so that an error stays small.
    private final class Storage: Sendable {
        let request: Request
        let response: Response
        let dialect: Dialect
        let properties: Set<SystemProperty>

        init(_ request: Request, _ response: Response, _ dialect: Dialect, _ properties: Set<SystemProperty>) {
            self.request = request
            self.response = response
            self.dialect = dialect
            self.properties = properties
        }
    }
    private let storage: Storage

    /// The request as it entered the chain of filters.
    public var request: Request { storage.request }
    /// The answer as it left the chain.
    public var response: Response { storage.response }
    /// The wire, by which the record of the answer is read.
    var dialect: Dialect { storage.dialect }
    /// Which system properties the table takes for the server's.
    var properties: Set<SystemProperty> { storage.properties }

    init(_ request: Request, _ response: Response, _ dialect: Dialect, _ properties: Set<SystemProperty> = .all) {
        var request = request
        var response = response
        for name in Self.secrets.compactMap({ HTTPField.Name($0) }) {
            request.head.headerFields[name] = nil
            response.head.headerFields[name] = nil
        }
        storage = Storage(request, response, dialect, properties)
    }

    private static let secrets = [
        "Authorization", "Proxy-Authorization", "X-ZUMO-AUTH", "X-ZUMO-APPLICATION", "X-ZUMO-MASTER", "X-API-Key",
        "Cookie", "Set-Cookie",
    ]
}

extension Exchange: CustomStringConvertible, CustomReflectable {
    /// Method and status: `PATCH, answered 412`.
    public var description: String { "\(request.head.method.rawValue), answered \(response.status)" }

    /// No more than ``description``, so that a dump of an error shows no header and no body.
    public var customMirror: Mirror { Mirror(self, children: [("exchange", description)]) }
}
