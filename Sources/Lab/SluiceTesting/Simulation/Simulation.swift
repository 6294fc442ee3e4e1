/// Plays stories of devices, their users and a server, with all the faults of network, server, process and store, and
/// checks after every step that nothing was lost, doubled, skipped or invented.
///
/// It drives the shipped engine, filter chain and stores; only transport, clock, ids, random numbers and waiting are
/// its own. All events follow from the seed: the same seed produces the same run, every time.
///
/// ```swift
/// let report = Simulation().run(seeds: 1...1000)
/// print(report)
/// ```
public struct Simulation: Sendable {
    /// The configuration of the stories.
    public let configuration: SimulationConfiguration

    /// Creates a simulation.
    public init(_ configuration: SimulationConfiguration = SimulationConfiguration()) {
        self.configuration = configuration
    }

    /// Plays the stories of those seeds on the calling thread, and returns when all are done.
    ///
    /// - Parameters:
    ///   - seeds: the seeds.
    ///   - mostFailures: the number of failures after which to stop. Each is shrunk, which takes a while.
    ///   - progress: called after each seed.
    /// - Returns: counts, and for each failure the smallest story that still shows it.
    public func run(
        seeds: some Sequence<UInt64>, mostFailures: Int = 10, progress: ((SimulationReport) -> Void)? = nil
    ) -> SimulationReport {
        var report = SimulationReport()
        for seed in seeds {
            let outcome = play(story(of: seed))
            report.add(outcome)
            if let violation = outcome.violation { report.failures.append(failure(outcome.story, violation)) }
            progress?(report)
            if report.failures.count >= mostFailures { break }
        }
        return report
    }

    /// Returns the story of a seed with this configuration.
    public func story(of seed: UInt64) -> SimulationStory {
        var generator = StoryGenerator(seed: seed, configuration: configuration)
        return generator.story()
    }

    /// Plays one story on the calling thread.
    ///
    /// - Parameter keepsTrace: whether to record the events, line by line.
    public func play(_ story: SimulationStory, keepsTrace: Bool = false) -> SimulationOutcome {
        do {
            let world = try SimulationWorld(story, configuration, keepsTrace: keepsTrace)
            world.play()
            let parts = world.parts
            return SimulationOutcome(
                story: story, counts: parts.count, faults: parts.faults.counts, violation: parts.oracle.violation,
                hash: parts.trace.hash, trace: parts.trace.lines)
        } catch {
            return SimulationOutcome(
                story: story, counts: SimulationCounts(), faults: [:],
                violation: SimulationViolation(invariant: .progress, message: "the story cannot be played: \(error)"),
                hash: 0, trace: [])
        }
    }

    /// Shrinks a failing story, and plays the result with a trace.
    private func failure(_ story: SimulationStory, _ violation: SimulationViolation) -> SimulationReport.Failure {
        let small = StoryShrinker(simulation: self, invariant: violation.invariant).shrink(story)
        let outcome = play(small, keepsTrace: true)
        return SimulationReport.Failure(
            seed: story.seed, violation: outcome.violation ?? violation, story: small, trace: outcome.trace)
    }
}
