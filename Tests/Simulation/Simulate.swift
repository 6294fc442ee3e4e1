import SluiceCore
import SluiceOData
import SluiceSQLite
import SluiceTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@main
struct Simulate {
    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            exit(try run(options) ? 0 : 1)
        } catch {
            print("simulate: \(error)")
            exit(2)
        }
    }

    static func configuration(_ options: Options) throws -> SimulationConfiguration {
        var configuration = SimulationConfiguration()
        configuration.stores = SimulatedStores.mixed
        for name in options.without {
            let (fault, habit) = (SimulationFault(rawValue: name), SimulationHabit(rawValue: name))
            if fault == nil, habit == nil { throw Complaint("what is the fault \(name)?") }
            fault.map { _ = configuration.faults.remove($0) }
            habit.map { _ = configuration.habits.remove($0) }
        }
        if let dialect = options.dialect { configuration.wires = [try Dialect(known: dialect)] }
        guard let store = options.store else { return configuration }
        configuration.stores = SimulatedStores.all.filter { $0.name == store }
        if configuration.stores.isEmpty { throw Complaint("what is the store \(store)?") }
        return configuration
    }

    static func run(_ options: Options) throws -> Bool {
        if !options.merge.isEmpty { return try merge(options) }
        let simulation = Simulation(try configuration(options))
        if let path = options.story { return try play(path, simulation) }
        if options.trace, options.seeds == 1 {
            let outcome = simulation.play(simulation.story(of: options.from), keepsTrace: true)
            print(outcome.trace.joined(separator: "\n"))
            print(outcome.violation.map { "\($0)" } ?? "no violation")
            return outcome.violation == nil
        }
        if options.hashes {
            for seed in options.from..<options.from + options.seeds {
                print(seed, simulation.play(simulation.story(of: seed)).hash)
            }
            return true
        }
        let last = options.from + options.seeds - 1
        let report = simulation.run(seeds: stride(from: options.from, through: last, by: Int(options.stride)))
        print(options.json ? "\(report.json)" : "\(report)")
        return report.failures.isEmpty
    }

    /// Adds up what several processes have reported.
    private static func merge(_ options: Options) throws -> Bool {
        let reports = try options.merge.map { try JSON(parsing: bytes(of: $0)) }
        func sum(_ name: String) -> Int64 { reports.reduce(0) { $0 + ($1[name]?.int ?? 0) } }
        if options.countsOnly {
            print(sum("violations"))
            return true
        }
        print("\(sum("seeds")) seeds, \(sum("steps")) steps, \(sum("violations")) violations")
        for failure in reports.flatMap({ $0["failures"]?.elements ?? [] }) {
            let text = { (name: String) in failure[name]?.string ?? "" }
            print("seed \(text("seed")): \(text("invariant")): \(text("message"))")
            for line in failure["trace"]?.elements ?? [] { print("    \(line.string ?? "")") }
            print("    the story, to be played again: \(failure["story"] ?? .null)")
        }
        return sum("violations") == 0
    }

    private static func play(_ path: String, _ simulation: Simulation) throws -> Bool {
        let story = try SimulationStory(json: JSON(parsing: bytes(of: path)))
        let outcome = simulation.play(story, keepsTrace: true)
        print(outcome.trace.joined(separator: "\n"))
        print(outcome.violation.map { "\($0)" } ?? "no violation")
        return outcome.violation == nil
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Complaint("cannot read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }
}
