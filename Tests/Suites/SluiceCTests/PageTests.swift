import Foundation
import RepositoryFiles
import Testing

/// What stands on the page for other languages works as it stands there.
@Suite struct PageTests {
    private static let address = "http://127.0.0.1:8080"

    /// The blocks of a language, in the page's order.
    private static func blocks(_ language: String) throws -> [String] {
        try Folder.text("docs/c.md").components(separatedBy: "```\(language)\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
    }

    @Test("the blocks in C, one after the other, are a program whose calls succeed")
    func blocksInC() async throws {
        let blocks = try Self.blocks("c")
        let functions = blocks.filter { $0.hasPrefix("static ") }
        let follows = try #require(blocks.first { $0.contains("sluice_subscribe") })
        // A call whose result the page does not look at has to succeed.
        let steps = blocks.filter { !$0.hasPrefix("static ") && $0 != follows }.joined(separator: "\n")
            .replacing(#/(?m)^(sluice_(?!text_free)\w+\(.*\));$/#) { "EXPECT(\($0.output.1));" }
        let calls = steps.components(separatedBy: "EXPECT(").count - 1
        #expect(calls >= 9 && functions.count == 2)
        try await Folder.use { folder in
            try await Server.use { endpoint in
                let program = """
                    #include <jansson.h>
                    #include <poll.h>
                    #include <sluice.h>
                    #include <stdio.h>
                    #include <stdlib.h>
                    #define EXPECT(call) do { int32_t code = call; if (code) { \\
                        fprintf(stderr, "%s: %d %s\\n", #call, code, out.bytes ? out.bytes : ""); exit(1); } } while (0)
                    \(functions.joined(separator: "\n"))
                    void follow(sluice_context context, sluice_text out) {
                    \(follows)
                    }
                    int main(void) {
                    \(steps.replacing(Self.address, with: endpoint))
                    (void)decide;
                    return sluice_close(context, NULL);
                    }
                    """
                try program.write(toFile: folder.file("page.c"), atomically: true, encoding: .utf8)
                let result = try await folder.run(
                    path: folder.file("page.c"), packages: ["sluice", "jansson"], warns: false)
                #expect(result.status == 0, "\(result.output)")
            }
        }
    }

    @Test("the first block in Python runs")
    func blocksInPython() async throws {
        let block = try #require(try Self.blocks("python").first)
        try await Folder.use { folder in
            try await Server.use { endpoint in
                try block.replacing(Self.address, with: endpoint).write(
                    toFile: folder.file("page.py"), atomically: true, encoding: .utf8)
                let package = ["PYTHONPATH": Repository.path("Sources/Bindings/SluicePython")]
                let result = try await Command.run(["python3", "page.py"], in: folder, environment: package)
                #expect(result.status == 0 && result.output.contains("title"), "\(result.output)")
            }
        }
    }

    private static func hasMypy() async throws -> Bool {
        try await Folder.use { try await Command.run(["python3", "-m", "mypy", "--version"], in: $0).status == 0 }
    }

    @Test("mypy finds nothing in the first block in Python and the example", .enabled("mypy is not here", hasMypy))
    func types() async throws {
        let block = try #require(try Self.blocks("python").first)
        try await Folder.use { folder in
            try block.write(toFile: folder.file("page.py"), atomically: true, encoding: .utf8)
            let types = try await Command.run(
                [
                    "python3", "-m", "mypy", "--cache-dir=mypy", "page.py",
                    Repository.path("Examples/python/sync.py"),
                ], in: folder, environment: ["MYPYPATH": Repository.path("Sources/Bindings/SluicePython")])
            #expect(types.status == 0, "\(types.output)")
        }
    }
}
