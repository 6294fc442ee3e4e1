import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("The simulator: seeded stories of devices, a server and all that can go wrong between them")
struct SimulationTests {
    @Test("nothing is lost, doubled, skipped or invented", arguments: 1...10 as ClosedRange<UInt64>)
    func seed(_ seed: UInt64) {
        let report = Simulation(SimulationConfiguration(stores: [.memory, .memory, .sqlite])).run(seeds: [seed])
        #expect(report.failures.isEmpty, "\(report)")
    }

    // Sets that an undo (12) and a discard (276) went through once had these told in more than one way.
    @Test("the same seed tells the same story twice", arguments: [3, 12, 276] as [UInt64])
    func determinism(_ seed: UInt64) {
        for stores in SimulatedStores.all {
            let simulation = Simulation(SimulationConfiguration(stores: [stores]))
            let first = simulation.play(simulation.story(of: seed), keepsTrace: true)
            let second = simulation.play(simulation.story(of: seed), keepsTrace: true)
            #expect(first.hash == second.hash)
            #expect(first.trace == second.trace)
            #expect(first.trace.count > 100)
        }
    }

    @Test("a seed's story does not depend on those that were told before it")
    func independence() {
        let simulation = Simulation(SimulationConfiguration(stores: [.memory, .sqlite]))
        let first = simulation.play(simulation.story(of: 7)).hash
        _ = simulation.run(seeds: 20...24)
        #expect(simulation.play(simulation.story(of: 7)).hash == first)
    }

    @Test("a story is the same when it was kept as JSON")
    func storyAsJSON() throws {
        let simulation = Simulation()
        for seed in 1...20 as ClosedRange<UInt64> {
            let story = simulation.story(of: seed)
            let read = try SimulationStory(json: JSON(parsing: Array(story.json.description.utf8)))
            #expect(read == story)
        }
    }

    @Test("a handler that loses an edit behind the engine's back is found, and the story of it is short")
    func brokenServer() throws {
        // A server that takes changes and forgets them.
        var configuration = SimulationConfiguration(devices: 1...1, faults: [])
        configuration.quirk = { request, response in
            guard request.context.action == .insert else { return response }
            var lie = response
            lie.body = MessageBody(json: ["id": "another", "version": "v1"])
            return lie
        }
        let report = Simulation(configuration).run(seeds: 1...20, mostFailures: 1)
        let failure = try #require(report.failures.first)
        #expect(failure.story.actions.count <= 3)
        #expect(report.description.contains("seed \(failure.seed)"))
    }
}
