/// The end of the chain: sends a request to a server and returns the answer.
///
/// A transport follows no redirect, adds no credential, keeps to `request.context.limits`, and throws ``SluiceError``
/// of code `network`, `timeout`, `tooLarge` or `cancelled`. An answer of any status is an answer, not an error.
public protocol Transport: Sendable {
    /// Sends the request and waits for the whole answer.
    func send(_ request: SyncRequest) async throws -> SyncResponse
}

/// The cause of a `network` error after which the server has seen nothing of the request, because there was no
/// connection.
///
/// A ``Transport`` sets it as ``SluiceError/cause`` if it is sure of that. Then even a request that may not be
/// repeated blindly can be sent again.
public struct RequestNotSent: Error, Sendable, CustomStringConvertible {
    /// The reason why there was no connection.
    public let description: String

    /// A cause.
    public init(_ description: String) { self.description = description }
}
