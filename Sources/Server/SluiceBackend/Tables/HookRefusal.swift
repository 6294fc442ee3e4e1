/// A hook's refusal of a request.
public struct HookRefusal: Error, Sendable, Hashable {
    /// The answer's status: 400 to 599; anything else becomes 500.
    public var status: Int
    /// The reason shown to the client.
    public var message: String

    /// Creates a refusal.
    public init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }
}
