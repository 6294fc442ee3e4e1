import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("The page about the simulator")
struct SimulatorPageTests {
    /// As the page about handlers has it.
    private struct LongestTitle: ConflictHandler {
        func decide(_ conflict: Conflict) async throws -> ConflictDecision { .next }
    }

    @Test("its example runs: an own handler, store and server")
    func example() {
        var configuration = SimulationConfiguration()
        configuration.conflictHandlers = [LongestTitle()]
        configuration.stores = [SimulatedStores("mine") { MemoryStore() }]
        configuration.quirk = { _, response in
            // A server that answers 200 where others say 201.
            var response = response
            if response.status == 201 { response.head.status = .ok }
            return response
        }
        let report = Simulation(configuration).run(seeds: 1...20)
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.seeds == 20)
    }

    private func report(
        _ seeds: ClosedRange<UInt64> = 1...25, _ adjust: (inout SimulationConfiguration) -> Void
    ) -> SimulationReport {
        var configuration = SimulationConfiguration()
        adjust(&configuration)
        return Simulation(configuration).run(seeds: seeds, mostFailures: 1)
    }

    @Test("a handler that throws has operations held, and is no violation")
    func throwing() {
        struct Failed: Error {}
        let report = report(1...25) { $0.conflictHandlers = [ConflictClosure { _ in throw Failed() }] }
        #expect(report.failures.isEmpty, "\(report)")
    }

    static let droppers: [@Sendable (Conflict) -> ConflictDecision] = [
        { .merge(["id": JSON($0.recordID)]) }, { .replace(["id": JSON($0.recordID)]) }, { _ in .delete },
    ]

    @Test("a handler that drops what both sides have is found", arguments: 0..<3)
    func dropping(_ index: Int) {
        let report = report { $0.conflictHandlers = [ConflictClosure { Self.droppers[index]($0) }] }
        #expect(report.failures.first?.violation.invariant == .handlers, "\(report)")
    }

    @Test("a rule of one's own is asked of each device, and what it says is the violation")
    func rules() {
        let holds = SimulationRule("a is a number") { end in
            let odd = end.local("items").first { ($0["a"] ?? 0).kind != .number }
            return odd.map { "\($0) has none" }
        }
        let good = report {
            $0.rules = [holds]
            $0.traits = []
        }
        #expect(good.failures.isEmpty, "\(good)")
        let broken = SimulationRule("nothing is left") { end in end.server("items").isEmpty ? nil : "something is" }
        let failure = report { $0.rules = [broken] }.failures.first
        #expect(failure?.violation.invariant == .rules)
        #expect(failure?.violation.message.contains("nothing is left: something is") == true)
    }

    @Test("a check of one's own fails where it does not hold, and where it throws with the error's text")
    func checks() {
        struct Unreadable: Error, CustomStringConvertible { let description = "no total" }
        let simulation = Simulation()
        let good = simulation.check("rows have ids") { device in device.local("items").allSatisfy { $0["id"] != nil } }
        #expect(good.run(seeds: 1...3).failures.isEmpty)
        let broken = simulation.check("nothing is left") { $0.server("items").isEmpty }.run(
            seeds: 1...3, mostFailures: 1)
        #expect(broken.failures.first?.violation.message.contains("nothing is left: it does not hold") == true)
        let thrown = simulation.check("totals") { _ in throw Unreadable() }.run(seeds: 1...3, mostFailures: 1)
        #expect(thrown.failures.first?.violation.message.contains("totals: no total") == true)
    }
}
