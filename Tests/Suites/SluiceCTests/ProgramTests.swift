import Foundation
import Testing

@Suite struct ProgramTests {
    @Test("mistakes give a code and a text, and never end the process")
    func rules() async throws {
        try await Folder.use { folder in
            let result = try await folder.run("Tests/Suites/SluiceCTests/Programs/rules.c")
            #expect(result.status == 0, "\(result.output)")
        }
    }

    @Test("every function does its work against a server")
    func work() async throws {
        try await Folder.use { folder in
            try await Server.use { endpoint in
                try await Server.silent { silent in
                    let result = try await folder.run("Tests/Suites/SluiceCTests/Programs/work.c", [endpoint, silent])
                    #expect(result.status == 0, "\(result.output)")
                }
            }
        }
    }

    @Test("every callback may call what the header says, and what it may not is refused")
    func callbacks() async throws {
        try await Folder.use { folder in
            try await Server.use { endpoint in
                let result = try await folder.run("Tests/Suites/SluiceCTests/Programs/callbacks.c", [endpoint])
                #expect(result.status == 0, "\(result.output)")
            }
        }
    }

    @Test("four threads use one context, and one closes it")
    func threads() async throws {
        try await Folder.use { folder in
            try await Server.use { endpoint in
                let result = try await folder.run("Tests/Suites/SluiceCTests/Programs/threads.c", ["1", endpoint])
                #expect(result.status == 0, "\(result.output)")
            }
        }
    }

    @Test("the example in C syncs the demo's data")
    func example() async throws {
        #expect(
            try Folder.text("Examples/c/sync.c").split(separator: "\n", omittingEmptySubsequences: false).count < 80)
        try await Folder.use { folder in
            try await Server.use { endpoint in
                let result = try await folder.run("Examples/c/sync.c", [endpoint], packages: ["sluice", "jansson"])
                #expect(result.status == 0, "\(result.output)")
                // The page and the folder's README show what it prints.
                for page in ["Examples/c/README.md", "docs/c.md"] {
                    #expect(try Folder.text(page).contains(result.output), "\(page): \(result.output)")
                }
            }
        }
    }
}
