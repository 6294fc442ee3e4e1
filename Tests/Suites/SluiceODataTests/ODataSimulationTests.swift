import Foundation
import RepositoryFiles
import SluiceCore
import Testing

@testable import SluiceOData
@testable import SluiceTesting

@Suite("the simulator with OData services")
struct ODataSimulationTests {
    private static let wires: [Dialect] = [.odataV2, .odataV4]

    private func simulation(_ wire: Int) -> Simulation {
        var configuration = SimulationConfiguration()
        configuration.wires = [Self.wires[wire]]
        return Simulation(configuration)
    }

    @Test("nothing is lost, doubled, skipped or invented", arguments: 0...1, 1...6 as ClosedRange<UInt64>)
    func seed(_ wire: Int, _ seed: UInt64) {
        let report = simulation(wire).run(seeds: [seed])
        #expect(report.failures.isEmpty, "\(report)")
    }

    private static let folder = URL(fileURLWithPath: Repository.fixture("odata-simulation"))
    private static let found =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.filter { $0.hasSuffix(".json") }.sorted()
        ?? []

    @Test("stories that once found something find nothing any more", arguments: found)
    func story(_ name: String) throws {
        let text = try Data(contentsOf: Self.folder.appendingPathComponent(name))
        let story = try SimulationStory(json: JSON(parsing: Array(text)))
        let wire = try #require(Self.wires.firstIndex { $0.name == story.setting.wire })
        let violation = simulation(wire).play(story).violation
        #expect(violation == nil)
    }

    @Test("the same seed tells the same story twice", arguments: 0...1)
    func determinism(_ wire: Int) {
        let simulation = simulation(wire)
        for seed in [3, 12, 14] as [UInt64] {
            let first = simulation.play(simulation.story(of: seed), keepsTrace: true)
            let second = simulation.play(simulation.story(of: seed), keepsTrace: true)
            #expect(first.hash == second.hash)
            #expect(first.trace == second.trace)
        }
    }

    @Test("a story keeps its service when it was kept as JSON", arguments: 0...1)
    func asJSON(_ wire: Int) throws {
        let stories = (1...20 as ClosedRange<UInt64>).map { simulation(wire).story(of: $0) }
        let played = ServiceTrait.allCases
        #expect(Set(stories.flatMap(\.setting.service)) == Set(played))
        for story in stories {
            #expect(try SimulationStory(json: JSON(parsing: Array(story.json.description.utf8))) == story)
        }
    }

    @Test("requests are those of an OData service", arguments: 0...1)
    func requests(_ wire: Int) {
        let simulation = simulation(wire)
        var trace: [String] = []
        for seed in 1...12 as ClosedRange<UInt64> {
            trace += simulation.play(simulation.story(of: seed), keepsTrace: true).trace
        }
        let sent = trace.filter { $0.contains(" sends ") }
        #expect(sent.allSatisfy { !$0.contains("/tables/") })
        let words =
            wire == 0
            ? ["MERGE /items('", "POST /items", "deltatoken="] : ["PATCH /items('", "POST /items", "$deltatoken="]
        for word in words { #expect(sent.contains { $0.contains(word) }, "nothing sends \(word)") }
    }
}
