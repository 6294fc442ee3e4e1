public import SluiceCore

/// How a trial went.
public struct HostileReport: Sendable, CustomStringConvertible {
    /// The case.
    public let hostile: HostileCase
    /// What was not as the case expects it; empty if all was.
    public internal(set) var violations: [String] = []
    /// The error with which the call ended.
    public internal(set) var error: SluiceError?
    /// How many requests the hostile server was asked.
    public internal(set) var requests = 0
    /// How long the call took.
    public internal(set) var duration = Duration.zero
    /// By how many bytes the process grew at the most; nil where that was not looked at or cannot be.
    public internal(set) var memory: Int?

    /// Whether all was as the case expects it.
    public var holds: Bool { violations.isEmpty }

    /// The case, with what does not hold.
    public var description: String { ([hostile.id] + violations).joined(separator: "\n  ") }

    /// Notes a violation unless `condition` is true.
    mutating func demand(_ condition: Bool, _ violation: @autoclosure () -> String) {
        if !condition { violations.append(violation()) }
    }
}
