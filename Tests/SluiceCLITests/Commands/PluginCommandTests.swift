import Foundation
import Sluice
import Testing

@Suite struct PluginCommandTests {
    @Test("from new to a tested plugin, without store or server")
    func author() async throws {
        try await withScratch { scratch in
            let folder = scratch.file("movie-merge")
            let made = try await Program.sluice("plugin", "new", folder)
            #expect(made.status == 0, "\(made)")
            #expect(try await Program.sluice("plugin", "check", folder).status == 0)
            let tested = try await Program.sluice("plugin", "test", folder)
            #expect(tested.status == 0 && tested.output.hasSuffix("2 passed, 0 failed\n"), "\(tested)")
            #expect(try await Program.sluice("plugin", "test", folder, "--json").json["passed"] == 2)
            #expect(try await Program.sluice("plugin", "converge", folder, "--stories", "5").status == 0)
            #expect(try await Program.sluice("plugin", "new", folder).status == 2)
        }
    }

    @Test("what fails ends with 1 and says what differs; what is no plugin with 2")
    func failures() async throws {
        try await withScratch { scratch in
            let folder = scratch.file("movie-merge")
            _ = try await Program.sluice("plugin", "new", folder)
            try "return { on_conflict = function(c) return decide.server() end }"
                .write(toFile: "\(folder)/main.lua", atomically: true, encoding: .utf8)
            let tested = try await Program.sluice("plugin", "test", folder)
            #expect(tested.status == 1 && tested.output.contains("# decision"), "\(tested)")
            try "return {".write(toFile: "\(folder)/main.lua", atomically: true, encoding: .utf8)
            #expect(try await Program.sluice("plugin", "check", folder).status == 1)
            #expect(try await Program.sluice("plugin", "pack", folder, "--into", scratch.file("out")).status == 1)
            #expect(try await Program.sluice("plugin", "test", scratch.file("nowhere")).status == 2)
        }
    }
}
