internal import HTTPTypes
public import SluiceBase

/// A change's request as it went over the wire: what the service was asked, after all filters and in the service's own
/// protocol.
public struct SentRequest: Sendable, Hashable {
    /// The method.
    public var method: String
    /// The address below the endpoint, percent-encoded and without the query.
    public var address: String
    /// The body; null for none, and for one that is no JSON.
    public var body: JSON

    /// A request.
    public init(method: String, address: String, body: JSON = .null) {
        self.method = method
        self.address = address
        self.body = body
    }

    /// What of a request to that endpoint is kept.
    package init(_ request: Request, to endpoint: Endpoint) {
        let path = (request.head.path ?? "").prefix { $0 != "?" }
        let root = endpoint.path + "/"
        let address = path.hasPrefix(root) ? path.dropFirst(root.count) : path
        self.init(
            method: request.head.method.rawValue, address: String(address), body: (try? request.body.json) ?? .null)
    }
}
