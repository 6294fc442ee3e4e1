/// The cause of a `network` error after which the server has seen nothing of the request: no connection came about.
///
/// A ``Transport`` gives it as ``SluiceError/cause`` where it knows so; then a request that may not be repeated
/// blindly can be sent again.
public struct RequestNotSent: Error, Sendable, CustomStringConvertible {
    /// What kept the connection from coming about.
    public let description: String

    /// A cause.
    public init(_ description: String) { self.description = description }
}
