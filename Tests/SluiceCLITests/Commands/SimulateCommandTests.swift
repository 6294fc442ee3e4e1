import Sluice
import Testing

@Suite struct SimulateCommandTests {
    @Test("the same seeds give the same report, and a report says how much was tried")
    func report() async throws {
        let first = try await Program.sluice("simulate", "--seeds", "6", "--from", "40", "--json")
        #expect(first.status == 0)
        let report = try first.json
        #expect(report["seeds"] == 6 && report["violations"] == 0)
        #expect((report["steps"]?.int ?? 0) > 300)
        #expect((report["faults"]?.count ?? 0) > 0)
        let second = try await Program.sluice("simulate", "--seeds", "6", "--from", "40", "--json").json
        #expect(second == report)
        #expect(try await Program.sluice("simulate", "--seeds", "6", "--from", "41", "--json").json != report)
    }

    @Test("one seed can be followed line by line")
    func trace() async throws {
        let traced = try await Program.sluice("simulate", "--seed", "3", "--trace")
        #expect(traced.status == 0)
        #expect(traced.output.split(separator: "\n").count > 20)
        #expect(try await Program.sluice("simulate", "--trace").status == 2)
        #expect(try await Program.sluice("simulate", "--seeds", "0").status == 2)
    }
}
