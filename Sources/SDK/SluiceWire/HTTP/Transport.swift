/// The end of the chain: sends a request to a server and returns the answer.
///
/// A transport follows no redirect, adds no credential, keeps to `request.context.limits`, and throws ``SluiceError``
/// of code `network`, `timeout`, `tooLarge` or `cancelled`. An answer of any status is an answer, not an error.
public protocol Transport: Sendable {
    /// Sends the request and waits for the whole answer.
    func send(_ request: SyncRequest) async throws -> SyncResponse
}
