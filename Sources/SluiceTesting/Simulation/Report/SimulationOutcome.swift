/// How a story went.
public struct SimulationOutcome: Sendable {
    /// What was played.
    public let story: SimulationStory
    /// How much happened.
    public let counts: SimulationCounts
    /// How often each fault struck.
    public let faults: [SimulationFault: Int]
    /// The first invariant that did not hold; nil if all held.
    public let violation: SimulationViolation?
    /// A hash of all that happened: the same for the same story, every time.
    public let hash: UInt64
    /// What happened, line by line, where it was asked for.
    public let trace: [String]
}
