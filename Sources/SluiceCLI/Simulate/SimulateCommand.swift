internal import ArgumentParser
internal import Sluice
internal import SluiceTesting

struct SimulateCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Play stories of devices and a failing world, and look for what is lost.",
        discussion: """
            Each seed is one story: devices that edit and sync, a server, a network that fails, processes that end. The \
            engine, its filters and its stores are the real ones. The same seed tells the same story, every time. Ends \
            with 1 if anything was lost, doubled, skipped or invented, with the shortest story that shows it.
            """)

    @Option(help: ArgumentHelp("How many seeds.", valueName: "n"))
    var seeds: UInt64 = 1000

    @Option(help: ArgumentHelp("The first seed.", valueName: "seed"))
    var from: UInt64 = 1

    @Option(help: ArgumentHelp("This seed alone.", valueName: "seed"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "Where devices keep their data: \(names). By default in memory, and one in twenty in SQLite.",
            valueName: "kind"))
    var store: String?

    @Flag(help: "With --seed: print what happens, line by line.")
    var trace = false

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        guard seeds > 0, from <= UInt64.max - seeds else { throw CommandFailure.usage("--seeds is 1 or more") }
        guard !trace || seed != nil else { throw CommandFailure.usage("--trace goes with --seed") }
        return outcome(of: Simulation(try stories))
    }

    /// What playing the seeds that were asked for comes to.
    func outcome(of simulation: Simulation) -> Outcome {
        if let seed, trace {
            let played = simulation.play(simulation.story(of: seed), keepsTrace: true)
            var outcome = Outcome(
                json: ["seed": JSON("\(seed)"), "trace": JSON(played.trace.map { JSON($0) })],
                text: played.trace + [played.violation.map { "\($0)" } ?? "all that was promised held"])
            if let violation = played.violation { outcome.add(Self.failure(seed, violation)) }
            return outcome
        }
        let bar = ProgressBar("simulate", total: Int(clamping: seed == nil ? seeds : 1))
        let range = seed.map { $0...$0 } ?? from...(from + seeds - 1)
        let report = simulation.run(seeds: range) { bar.update($0.seeds) }
        bar.finish()
        var outcome = Outcome(json: report.json, text: ["\(report)"])
        for failure in report.failures { outcome.add(Self.failure(failure.seed, failure.violation)) }
        return outcome
    }

    private var stories: SimulationConfiguration {
        get throws {
            var configuration = SimulationConfiguration()
            configuration.stores = SimulatedStores.mixed
            guard let store else { return configuration }
            guard let chosen = SimulatedStores.all.first(where: { $0.name == store }) else {
                throw CommandFailure.usage("--store is one of \(Self.names)")
            }
            configuration.stores = [chosen]
            return configuration
        }
    }

    private static let names = SimulatedStores.all.map(\.name).joined(separator: ", ")

    private static func failure(_ seed: UInt64, _ violation: SimulationViolation) -> CommandFailure {
        CommandFailure(.fault, "violation", "seed \(seed): \(violation)")
    }
}
