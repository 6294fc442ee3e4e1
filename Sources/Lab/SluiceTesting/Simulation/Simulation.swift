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

    /// Returns the simulation with a further rule for the end of each story: a promise of your own that every device
    /// keeps when all is well again.
    ///
    /// ```swift
    /// let report = Simulation()
    ///     .check("a is a number") { device in device.local("items").allSatisfy { $0["a"]?.kind == .number } }
    ///     .run(seeds: 1...1000)
    /// ```
    ///
    /// - Parameter holds: whether the device keeps it. An error that it throws breaks the rule, with its text.
    public func check(
        _ name: String, _ holds: @escaping @Sendable (SimulationRule.End) throws -> Bool
    ) -> Simulation {
        var configuration = configuration
        configuration.rules.append(
            SimulationRule(name) { end in
                do { return try holds(end) ? nil : "it does not hold" } catch { return "\(error)" }
            })
        return Simulation(configuration)
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
    /// - Parameters:
    ///   - story: the story.
    ///   - keepsTrace: whether to record the events, line by line.
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

/// Removes from a story everything that it does not need to fail: actions, faults, devices, and random choices without
/// effect.
struct StoryShrinker {
    let simulation: Simulation
    let invariant: SimulationInvariant

    /// The largest number of plays for one story.
    private static let mostTrials = 600

    func shrink(_ story: SimulationStory) -> SimulationStory {
        var best = story
        var trials = 0
        /// Accepts a smaller story if it still breaks the same invariant.
        func accepts(_ candidate: SimulationStory) -> Bool {
            trials += 1
            guard trials <= Self.mostTrials, simulation.play(candidate).violation?.invariant == invariant else {
                return false
            }
            best = candidate
            return true
        }
        var isSmaller = true
        while isSmaller, trials < Self.mostTrials {
            isSmaller = false
            var length = max(1, best.actions.count / 2)
            while length >= 1 {
                var start = 0
                while start < best.actions.count {
                    var candidate = best
                    candidate.actions.removeSubrange(start..<min(start + length, best.actions.count))
                    if accepts(candidate) { isSmaller = true } else { start += length }
                }
                length /= 2
            }
            for fault in best.setting.faults.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
                var candidate = best
                candidate.setting.faults[fault] = nil
                if accepts(candidate) { isSmaller = true }
            }
        }
        for trait in best.setting.traits.sorted(by: { $0.rawValue < $1.rawValue }) {
            var candidate = best
            candidate.setting.traits.remove(trait)
            _ = accepts(candidate)
        }
        for trait in best.setting.service.sorted(by: { $0.rawValue < $1.rawValue }) {
            var candidate = best
            candidate.setting.service.remove(trait)
            _ = accepts(candidate)
        }
        for index in best.actions.indices {
            var candidate = best
            candidate.actions[index].isCalm = true
            if !best.actions[index].isCalm { _ = accepts(candidate) }
        }
        for change in Self.simplifications {
            var candidate = best
            change(&candidate.setting)
            // A server that accepts no batches never gets a group, which would be another fault.
            // At the end nobody sends the operations of an earlier user, unless the setting hands devices over.
            let isSound =
                (candidate.setting.takesBatches
                    || !candidate.actions.contains { [.group, .reconsider].contains($0.kind) })
                && (candidate.setting.handsOver || !candidate.actions.contains { $0.kind == .handOver })
            if candidate.setting != best.setting, isSound { _ = accepts(candidate) }
        }
        return best
    }

    private static let simplifications: [@Sendable (inout SimulationSetting) -> Void] = [
        { $0.shuffles = false }, { $0.handler = 0 }, { $0.attempts = 1 }, { $0.queries = 1 }, { $0.grain = 1 },
        { $0.serverPage = 50 }, { $0.devicePage = 50 }, { $0.skews = [] }, { $0.remembersRequests = false },
        { $0.tracksChanges = false }, { $0.breaksTies = true }, { $0.offersDigests = false },
        { $0.deletesForGood = false }, { $0.reconcileEvery = nil }, { $0.users = 1 }, { $0.usesTokens = false },
        { $0.dependency = .none }, { $0.makesGroups = false }, { $0.takesBatches = false }, { $0.batchSize = 1 },
        { $0.concurrency = 1 }, { $0.queuePart = 2000 }, { $0.makesTransactions = false },
        { $0.reconsiders = false }, { $0.tidiesPages = false }, { $0.translates = false },
        { $0.keepsApart = false }, { $0.handsOver = false }, { $0.hookMishaps = 0 },
        { $0.store = 0 }, { $0.devices = 2 }, { $0.devices = 1 },
    ]
}
