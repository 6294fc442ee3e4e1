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
}
