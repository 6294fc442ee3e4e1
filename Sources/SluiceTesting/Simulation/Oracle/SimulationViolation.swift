/// An invariant that did not hold.
public struct SimulationViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which one.
    public let invariant: SimulationInvariant
    /// What was seen, as a sentence.
    public let message: String

    /// The name and what was seen.
    public var description: String { "\(invariant.rawValue): \(message)" }
}
