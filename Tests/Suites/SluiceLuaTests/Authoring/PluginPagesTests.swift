import Foundation
import RepositoryFiles
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

/// The blocks of the pages for authors, run as their first line says: a file of that name, or a shell's commands.
@Suite("the pages for authors of plugins")
struct PluginPagesTests {
    struct Block {
        var language: String
        /// What stands after the comment sign in the first line.
        var title: String
        var text: String
        /// The paragraph after the block.
        var after: String
    }

    static func blocks(_ page: String) throws -> [Block] {
        let lines = try AuthoredBundles.text(page).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        var blocks: [Block] = []
        var start: Int?
        for (index, line) in lines.enumerated() where line.hasPrefix("```") {
            guard let begin = start else {
                start = index
                continue
            }
            start = nil
            let language = String(lines[begin].dropFirst(3))
            var inner = Array(lines[(begin + 1)..<index])
            let sign = ["json": "// ", "lua": "-- ", "yaml": "# ", "sh": "# "][language] ?? "\u{0}"
            let title = inner.first.flatMap { $0.hasPrefix(sign) ? String($0.dropFirst(sign.count)) : nil } ?? ""
            if language == "json", !title.isEmpty { inner.removeFirst() }
            let after = lines[(index + 1)...].drop(while: \.isEmpty).first ?? ""
            blocks.append(
                Block(language: language, title: title, text: inner.joined(separator: "\n") + "\n", after: after))
        }
        return blocks
    }

    @Test("each block of the tutorial does what the page says")
    func tutorial() async throws {
        let folder = try TemporaryFolder()
        var bundles: Set<String> = []
        for block in try Self.blocks("docs/plugins.md") where !block.title.isEmpty {
            if block.language == "sh" {
                try await run(block, in: folder)
                continue
            }
            try folder.write(block.text, to: block.title)
            if block.language == "yaml" {
                let policy = try PluginPolicy(file: "\(folder.path)/\(block.title)")
                #expect(!policy.plans.isEmpty)
                continue
            }
            let name = String(block.title.prefix { $0 != "/" })
            bundles.insert(name)
            guard FileManager.default.fileExists(atPath: "\(folder.path)/\(name)/main.lua") else { continue }
            let report = await PluginCheck(folder: "\(folder.path)/\(name)").run()
            #expect(report.isGood, "\(block.title): \(report.lines)")
        }
        #expect(bundles.count >= 3)
        for name in bundles {
            let report = await FixtureRunner(try PluginBundle(folder: "\(folder.path)/\(name)")).run()
            #expect(report.isGood && !report.results.isEmpty, "\(report.lines)")
        }
    }

    /// Does what the commands for plugins do, and takes fixtures away. That a test fails the page says in the words
    /// after it.
    private func run(_ block: Block, in folder: TemporaryFolder) async throws {
        for line in block.text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            let path = "\(folder.path)/\(words.last ?? "")"
            if words[0] == "rm", path.hasSuffix("/tests/*") {
                try FileManager.default.removeItem(atPath: String(path.dropLast(2)))
            }
            guard line.hasPrefix("sluice plugin ") else { continue }
            switch words[2] {
            case "new": try PluginScaffold(name: words[3], kind: .conflict).write(to: path)
            case "check" where path.hasSuffix(".yaml"): try PluginPolicy(file: path).check()
            case "check": #expect(await PluginCheck(folder: path).run().isGood)
            case "test":
                let report = await FixtureRunner(try PluginBundle(folder: path)).run()
                #expect(report.isGood == !block.after.hasPrefix("It fails"), "\(report.lines)")
            // Of a demo's decisions: the tests of the command make one and go the same way.
            case "explain", "record", "replay": #expect(words[3] == "kept/decisions.jsonl")
            default: Issue.record("no such command: \(line)")
            }
        }
    }

    @Test("the fixture of the page about tools passes")
    func fixtures() async throws {
        let blocks = try Self.blocks("docs/plugin-tools.md")
        let merge = try PluginBundle(folder: Repository.path("Plugins/field-merge"))
        let fixtures = blocks.filter { $0.language == "json" }
        for block in fixtures {
            let result = await FixtureRunner(merge).run(
                try PluginFixture(bytes: Array(block.text.utf8), path: "docs/plugin-tools.md"))
            #expect(result.differences == [])
        }
        #expect(!fixtures.isEmpty)
    }

    @Test("the Swift of the page about tools keeps decisions that it reads again")
    func tools() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/decisions.jsonl"
        var text = PluginText(["request"], "return { request = function() return decide.respond { status = 200 } end }")
        text.name = "answer"
        let policy = (plans: [try text.plan], name: text.name)

        let plugins = try await Plugins(policy.plans, options: PluginOptions(keepsInputs: true))
        // … later:
        _ = try await plugins.send(.sample(), to: ScriptedTransport([]))
        try DecisionFile(await plugins.decisions).hiding(["email"]).append(to: path)

        let kept = try DecisionFile(path: folder.path + "/decisions.jsonl").decisions
        #expect(kept.map(\.decision) == ["respond"] && kept[0].input != nil && kept[0].plugin == policy.name)
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let lines = try Self.blocks("docs/plugin-tools.md").filter { $0.language == "swift" }
            .flatMap { $0.text.split(separator: "\n") }.filter { !$0.hasPrefix("import ") }
        #expect(!lines.isEmpty && lines.allSatisfy { source.contains("        \($0)\n") })
    }
}
