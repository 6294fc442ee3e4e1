internal import HTTPTypes

/// The request and the answer that an error is about, kept for whoever wants to look closer.
///
/// Fields that hold credentials are taken out of both; the rest is what the caller asked and the server said, so think
/// before you log it. Its own description says no more than method and status.
public struct Exchange: Sendable {
    private final class Storage: Sendable {
        let request: Request
        let response: Response
        init(_ request: Request, _ response: Response) {
            self.request = request
            self.response = response
        }
    }
    private let storage: Storage
    /// The wire, by which the record of the answer is read.
    let dialect: Dialect

    /// The request as it entered the chain of filters.
    public var request: Request { storage.request }
    /// The answer as it left the chain.
    public var response: Response { storage.response }

    init(_ request: Request, _ response: Response, _ dialect: Dialect) {
        var request = request
        var response = response
        for name in Self.secrets.compactMap({ HTTPField.Name($0) }) {
            request.head.headerFields[name] = nil
            response.head.headerFields[name] = nil
        }
        storage = Storage(request, response)
        self.dialect = dialect
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
