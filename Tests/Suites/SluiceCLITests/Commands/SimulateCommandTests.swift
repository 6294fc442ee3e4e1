import ArgumentParser
import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLab

@Suite struct SimulateCommandTests {
    @Test("the same seeds give the same report, and a report says how much was tried")
    func report() async throws {
        let first = try await Program.lab("simulate", "--seeds", "6", "--from", "40", "--json")
        #expect(first.status == 0)
        let report = try first.json
        #expect(report["seeds"] == 6 && report["violations"] == 0)
        #expect((report["steps"]?.int ?? 0) > 300)
        #expect((report["faults"]?.count ?? 0) > 0)
        let second = try await Program.lab("simulate", "--seeds", "6", "--from", "40", "--json").json
        #expect(second == report)
        #expect(try await Program.lab("simulate", "--seeds", "6", "--from", "41", "--json").json != report)
    }

    @Test("one seed can be followed line by line")
    func trace() async throws {
        let traced = try await Program.lab("simulate", "--seed", "3", "--trace")
        #expect(traced.status == 0)
        #expect(traced.output.split(separator: "\n").count > 20)
        #expect(try await Program.lab("simulate", "--trace").status == 64)
        #expect(try await Program.lab("simulate", "--seeds", "0").status == 64)
    }

    @Test("what does not hold ends with 1 and is told with its story", arguments: [[], ["--seed", "1", "--trace"]])
    func violation(_ options: [String]) throws {
        // A server that says it has done what it refuses.
        var stories = SimulationConfiguration(devices: 1...1, faults: [])
        stories.quirk = { request, response in
            guard [409, 412].contains(response.head.status.code), var record = try? response.body.json,
                let sent = try? request.body.json.members
            else { return response }
            for (name, value) in sent { record[name] = value }
            record["version"] = "done"
            var lie = response
            lie.head.status = .ok
            lie.body = MessageBody(json: record)
            return lie
        }
        let command = try #require(
            try SimulateCommand.parseAsRoot(["--seeds", "2", "--json"] + options) as? SimulateCommand)
        #expect(try command.holds(in: Simulation(stories)) == false)
        let failure = try #require(Simulation(stories).run(seeds: 1...2).failures.first)
        #expect(Simulation(stories).play(failure.story).violation != nil, "the story that is told shows it")
    }
}
