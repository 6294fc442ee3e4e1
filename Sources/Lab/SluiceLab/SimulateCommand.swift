internal import ArgumentParser
internal import Foundation
internal import SluiceCore
internal import SluiceOData
internal import SluiceTesting

struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Play stories of devices and a failing world, and look for what is lost.",
        discussion: """
            Each seed is one story: devices that edit and sync, a server, a network that fails, processes that end. The \
            engine, its filters and its stores are the real ones. The same seed tells the same story, every time. Ends \
            with 1 if anything was lost, doubled, skipped or invented, with the shortest story that shows it.
            """)

    @Option(help: ArgumentHelp("The number of seeds.", valueName: "n"))
    var seeds: UInt64 = 1000

    @Option(help: ArgumentHelp("The first seed.", valueName: "seed"))
    var from: UInt64 = 1

    @Option(help: ArgumentHelp("This seed alone.", valueName: "seed"))
    var seed: UInt64?

    @Option(help: ArgumentHelp("The step from seed to seed, for several processes beside each other.", valueName: "n"))
    var stride: UInt64 = 1

    @Option(help: ArgumentHelp("The only wire, such as odata-v4.", valueName: "name"))
    var dialect: String?

    @Option(
        help: ArgumentHelp(
            "The kind of store: \(names). By default in memory, and one in twenty in SQLite.", valueName: "kind"))
    var store: String?

    @Option(help: ArgumentHelp("Faults and traits of servers that no story has, with commas.", valueName: "names"))
    var without = ""

    @Option(help: ArgumentHelp("A file with a story to play in the place of seeds.", valueName: "file"))
    var story: String?

    @Flag(help: "With --seed: print what happens, line by line.")
    var trace = false

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    @Flag(help: "Print each story's hash, to be compared with another run's.")
    var hashes = false

    @Flag(help: "Add up the reports of several processes: files with what --json printed.")
    var merge = false

    @Flag(help: "With --merge: print the number of violations alone.")
    var violations = false

    @Argument(help: "Reports to add up.")
    var reports: [String] = []

    private static let names = SimulatedStores.all.map(\.name).joined(separator: ", ")

    func validate() throws {
        guard seeds > 0, stride > 0, from <= UInt64.max - seeds else {
            throw ValidationError("--seeds and --stride are 1 or more")
        }
        guard !trace || seed != nil else { throw ValidationError("--trace goes with --seed") }
        guard merge || !violations && reports.isEmpty else { throw ValidationError("reports go with --merge") }
    }

    func run() throws {
        guard try merge ? mergeReports() : holds(in: Simulation(try stories())) else { throw ExitCode.failure }
    }

    /// Plays the seeds or the story, and returns whether every invariant held.
    func holds(in simulation: Simulation) throws -> Bool {
        if let story {
            return try tell(simulation.play(try SimulationStory(json: try document(story)), keepsTrace: true))
        }
        if trace, let seed { return try tell(simulation.play(simulation.story(of: seed), keepsTrace: true)) }
        let (first, last) = seed.map { ($0, $0) } ?? (from, from + seeds - 1)
        if hashes {
            for seed in first...last { try say("\(seed) \(simulation.play(simulation.story(of: seed)).hash)") }
            return true
        }
        let report = simulation.run(seeds: Swift.stride(from: first, through: last, by: Int(clamping: stride)))
        try say(json ? "\(report.json)" : "\(report)")
        return report.failures.isEmpty
    }

    func stories() throws -> SimulationConfiguration {
        var configuration = SimulationConfiguration()
        configuration.stores = SimulatedStores.mixed
        for name in without.split(separator: ",").map(String.init) {
            let (fault, trait) = (SimulationFault(rawValue: name), ServerTrait(rawValue: name))
            if fault == nil, trait == nil { throw ValidationError("there is no fault \(name)") }
            fault.map { _ = configuration.faults.remove($0) }
            trait.map { _ = configuration.traits.remove($0) }
        }
        if let dialect { configuration.wires = [try Dialect(known: dialect)] }
        guard let store else { return configuration }
        configuration.stores = SimulatedStores.all.filter { $0.name == store }
        if configuration.stores.isEmpty { throw ValidationError("--store is one of \(Self.names)") }
        return configuration
    }

    private func tell(_ outcome: SimulationOutcome) throws -> Bool {
        try say(outcome.trace.joined(separator: "\n"))
        try say(outcome.violation.map { "\($0)" } ?? "all that was promised held")
        return outcome.violation == nil
    }

    private func mergeReports() throws -> Bool {
        let reports = try reports.map(document)
        func sum(_ name: String) -> Int64 { reports.reduce(0) { $0 + ($1[PropertyName(name)]?.int ?? 0) } }
        if violations {
            try say("\(sum("violations"))")
            return true
        }
        try say("\(sum("seeds")) seeds, \(sum("steps")) steps, \(sum("violations")) violations")
        for failure in reports.flatMap({ $0["failures"]?.elements ?? [] }) {
            let text = { (name: PropertyName) in failure[name]?.string ?? "" }
            try say("seed \(text("seed")): \(text("invariant")): \(text("message"))")
            for line in failure["trace"]?.elements ?? [] { try say("    \(line.string ?? "")") }
            try say("    the story, to be played again: \(failure["story"] ?? .null)")
        }
        return sum("violations") == 0
    }

    private func document(_ path: String) throws -> JSON {
        try JSON(parsing: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
    }
}
