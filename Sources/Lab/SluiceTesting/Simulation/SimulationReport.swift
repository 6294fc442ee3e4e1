public import SluiceCore

/// The results of a run over many seeds.
public struct SimulationReport: Sendable, CustomStringConvertible {
    /// A seed whose story broke an invariant.
    public struct Failure: Sendable {
        /// The seed.
        public let seed: UInt64
        /// The broken invariant.
        public let violation: SimulationViolation
        /// The smallest story found that still breaks the same invariant.
        public let story: SimulationStory
        /// The events of that story, line by line.
        public let trace: [String]
    }

    /// The number of seeds played.
    public internal(set) var seeds = 0
    /// The numbers of events in them.
    public internal(set) var counts = SimulationCounts()
    /// The number of times that each fault struck.
    public internal(set) var faults: [SimulationFault: Int] = [:]
    /// The seeds that failed.
    public internal(set) var failures: [Failure] = []
    /// The combined hash of all stories.
    public internal(set) var hash: UInt64 = 0

    /// Adds the result of one seed.
    mutating func add(_ outcome: SimulationOutcome) {
        seeds += 1
        counts += outcome.counts
        faults.merge(outcome.faults) { $0 + $1 }
        hash = (hash &* 0x100_0000_01B3) ^ outcome.hash
    }

    /// The report as JSON: counts of seeds, steps and faults, and the failures with their stories.
    public var json: JSON {
        [
            "seeds": JSON(seeds), "steps": JSON(counts.steps), "actions": JSON(counts.actions),
            "requests": JSON(counts.requests), "commits": JSON(counts.commits), "crashes": JSON(counts.crashes),
            "faults": JSON(printing: faults),
            "hash": JSON(Self.hexadecimal(hash)), "violations": JSON(failures.count),
            "failures": JSON(
                failures.map { failure -> JSON in
                    [
                        "seed": JSON("\(failure.seed)"), "invariant": JSON(failure.violation.invariant.rawValue),
                        "message": JSON(failure.violation.message), "story": failure.story.json,
                        "trace": JSON(printing: failure.trace),
                    ]
                }),
        ]
    }

    static func hexadecimal(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The counts in a line, and each failure with the story that shows it.
    public var description: String {
        let struck = faults.values.reduce(0, +)
        var lines = [
            "\(seeds) seeds, \(counts.steps) steps (\(counts.actions) actions, \(counts.requests) requests, "
                + "\(counts.commits) commits, \(counts.crashes) crashes), \(struck) faults, "
                + "\(failures.count) violations, hash \(Self.hexadecimal(hash))"
        ]
        for failure in failures {
            lines.append("seed \(failure.seed): \(failure.violation)")
            lines += failure.trace.map { "    \($0)" }
        }
        return lines.joined(separator: "\n")
    }
}

/// The result of one story.
public struct SimulationOutcome: Sendable {
    /// The story played.
    public let story: SimulationStory
    /// The numbers of events.
    public let counts: SimulationCounts
    /// The number of times that each fault struck.
    public let faults: [SimulationFault: Int]
    /// The first broken invariant; nil if all held.
    public let violation: SimulationViolation?
    /// A hash of all events: the same for the same story, every time.
    public let hash: UInt64
    /// The events, line by line, if a trace was requested.
    public let trace: [String]
}

/// The numbers of events in a simulation.
public struct SimulationCounts: Sendable, Hashable {
    /// The actions of applications, operators and other clients.
    public internal(set) var actions = 0
    /// The sent requests.
    public internal(set) var requests = 0
    /// The committed transactions.
    public internal(set) var commits = 0
    /// The processes that ended.
    public internal(set) var crashes = 0

    /// The sum of all events.
    public var steps: Int { actions + requests + commits + crashes }

    static func += (left: inout SimulationCounts, right: SimulationCounts) {
        left.actions += right.actions
        left.requests += right.requests
        left.commits += right.commits
        left.crashes += right.crashes
    }
}
