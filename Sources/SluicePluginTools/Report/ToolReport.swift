public import SluiceCore
internal import SluiceLua

/// What a tool for authors has found: for a person, and for a program.
public protocol ToolReport: Sendable {
    /// Lines for a person.
    var lines: [String] { get }
    /// The same for a program.
    var json: JSON { get }
    /// Whether all is as it should be.
    var isGood: Bool { get }
}
