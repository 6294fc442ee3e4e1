public import SluiceBase

/// A call of a function or an action of the service.
///
/// ```swift
/// let nearest = try await online.call(OperationCall("Nearest", ["count": 5]))
/// ```
public struct OperationCall: Sendable, Hashable {
    /// The name; with its namespace if the service requires it.
    public var name: String
    /// The arguments by their names.
    public var arguments: [PropertyName: JSON]
    /// Whether the call may change something: an action is sent by POST, a function by GET.
    public var isAction: Bool

    /// Creates a call.
    public init(_ name: String, _ arguments: [PropertyName: JSON] = [:], isAction: Bool = false) {
        self.name = name
        self.arguments = arguments
        self.isAction = isAction
    }
}
