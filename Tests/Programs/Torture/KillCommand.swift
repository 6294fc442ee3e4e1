import ArgumentParser
import Foundation

/// Ends workers with `kill -9` at commit points, by their names and by their count, stops and wakes them, and ends their server.
struct KillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kill", abstract: "Ends workers and their server in the middle of their work.")

    @Option(help: "How many cycles.") var cycles = 200
    @Option(help: "The first cycle: a campaign goes on where another ended.") var from = 1
    @Option(help: "By which all choices are made.") var seed: UInt64 = 1
    @Option(help: "The sluice program; by default the one beside this.") var sluice: String?
    @Option(help: "How many cycles share a store and a server.") var group = 20
    @Flag(help: "Have the stores encrypted, and give them other keys in between.") var encrypted = false
    @Flag(help: "Say what each cycle did.") var verbose = false

    func run() async throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let beside = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("sluice").path
        let began = ContinuousClock.now
        var tally: [String: Int] = [:]
        var violations: [String] = []
        var acknowledged = 0
        var cycle = from
        while cycle < from + cycles {
            // Groups begin at the same cycles, wherever a campaign starts.
            let end = min(from + cycles, (cycle - 1) / group * group + group + 1)
            var world = try await TortureGroup(
                worker: own, sluice: sluice ?? beside, seed: seed,
                // Two of three put several changes into one request, and some into groups.
                batchSize: (cycle - 1) / group % 3 == 0 ? 1 : 8, isEncrypted: encrypted)
            do {
                for number in cycle..<end {
                    let (name, found) = try await world.cycle(number, isLast: number == end - 1)
                    tally[name, default: 0] += 1
                    violations += found.map { "cycle \(number) (\(name)): \($0)" }
                    if verbose || !found.isEmpty { print("cycle \(number): \(name) \(found)") }
                }
            } catch {
                violations.append("cycles \(cycle)..<\(end): \(error)")
            }
            acknowledged += world.acknowledged
            world.end(keeps: violations.isEmpty == false)
            cycle = end
        }
        for violation in violations { print(violation) }
        let kinds = tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print(
            "\(Date.now.formatted(.iso8601)) kill: cycles \(from)..<\(from + cycles), \(acknowledged) acknowledged writes, "
                + "\(violations.count) violations, \(ContinuousClock.now - began); \(kinds); "
                + "torture kill --cycles \(cycles) --from \(from) --seed \(seed)\(encrypted ? " --encrypted" : "")")
        if !violations.isEmpty { throw ExitCode.failure }
    }
}
