import SluiceCore
import SluiceSQLite
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("The simulator with hooks that fail, postpone and change what passes")
struct HookSimulationTests {
    /// Puts a mark on each record that passes, which the hook after it takes off.
    private struct Marking: SyncHook {
        let hookName: String
        let marks: Bool

        private func marked(_ record: JSON) -> JSON {
            var record = record
            record["mark"] = marks ? 1 : nil
            return record
        }

        func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
            guard let record = change.record, change.kind != .undelete else { return .accept }
            return .change(marked(record))
        }

        func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
            page.rows.map { marks ? .set(["mark": 1]) : .change(marked($0.record)) }
        }
    }

    static var configuration: SimulationConfiguration {
        var configuration = SimulationConfiguration(stores: [.memory, .memory, .sqlite])
        configuration.hooks = [
            Marking(hookName: "marks", marks: true), Marking(hookName: "takes marks off", marks: false),
        ]
        configuration.hookMishaps = 0.1
        return configuration
    }

    @Test("nothing is lost, doubled, skipped or invented", arguments: 0..<10 as Range<UInt64>)
    func seeds(_ block: UInt64) {
        let report = Simulation(Self.configuration).run(seeds: block * 10 + 1...block * 10 + 10)
        #expect(report.failures.isEmpty, "\(report)")
    }

    @Test("the same seed tells the same story twice, and another one than without hooks")
    func determinism() {
        let simulation = Simulation(Self.configuration)
        let first = simulation.play(simulation.story(of: 5), keepsTrace: true)
        let second = simulation.play(simulation.story(of: 5), keepsTrace: true)
        #expect(first.trace == second.trace)
        #expect(first.trace.contains { $0.contains("is off at") })
        let plain = Simulation(SimulationConfiguration(stores: Self.configuration.stores))
        #expect(plain.play(plain.story(of: 5)).hash != first.hash)
    }
}
