/// What a conformance check found to be otherwise than the protocol says.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What was expected and what was found.
    public let message: String

    /// A failure.
    public init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
