import Foundation
import RepositoryFiles
import SluiceCore
import Testing

@testable import SluiceLua

@Suite("docs/plugins-policy.md")
struct PolicyPageTests {
    private struct Block {
        let language: String
        let text: String
        let line: Int
    }

    private let page: String
    private let blocks: [Block]
    private let place: PolicyFolder

    init() throws {
        // The part about servers has a suite of its own: ServerPluginPageTests.
        page = try String(contentsOfFile: Repository.path("docs/plugins-policy.md"), encoding: .utf8)
            .components(separatedBy: "\n## Plugins on a server\n")[0]
        var blocks: [Block] = []
        var open: (language: String, line: Int, lines: [String])?
        for (index, line) in page.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(
                        Block(language: block.language, text: block.lines.joined(separator: "\n"), line: block.line))
                    open = nil
                } else {
                    open = (String(line.dropFirst(3)), index + 1, [])
                }
            } else {
                open?.lines.append(line)
            }
        }
        self.blocks = blocks
        place = try PolicyFolder()
        for name in ["trace", "tenant", "payload", "retry"] {
            try place.add("com.example.\(name)", #"{"hooks": {"request": {}}}"#)
        }
        for block in blocks where block.language == "json" && block.text.contains("\"api\"") {
            try place.add(manifest: block.text, "com.example.stock")
        }
    }

    @Test(
        "each JSON block is a manifest or a match, each YAML block a policy; what is refused is refused as the page says"
    )
    func blocksHold() throws {
        var seen: [String: Int] = [:]
        for (index, block) in blocks.enumerated() {
            seen[block.language, default: 0] += 1
            switch block.language {
            case "json":
                if block.text.contains("\"api\"") {
                    _ = try PluginManifest(bytes: Array(block.text.utf8))
                } else {
                    _ = try Match(JSONPlace(JSON(parsing: block.text), in: "match"))
                }
            case "yaml":
                let next = blocks.indices.contains(index + 1) ? blocks[index + 1] : nil
                if let next, next.language == "text", next.text.hasPrefix("plugins.yaml:") {
                    #expect(place.refusal(block.text) == next.text, "line \(next.line)")
                } else {
                    #expect(throws: Never.self, "line \(block.line)") { try place.policy(block.text).check() }
                }
            default: break
            }
        }
        #expect(seen["json"] == 2 && seen["yaml"] == 7 && seen["text"] == 3)
    }

    @Test("the order that the page prints is the order of the policy above it")
    func printedOrder() throws {
        let index = try #require(blocks.firstIndex { $0.language == "text" && $0.text.hasPrefix("com.example") })
        let order = try place.policy(blocks[index - 1].text).order(.http)
        let width = order.map(\.name.count).max() ?? 0
        let printed = order.map { $0.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + $0.why }
        #expect(printed == blocks[index].text.components(separatedBy: "\n"))
    }

    @Test("the tables of the page are those of the code")
    func tables() {
        for kind in HookKind.allCases {
            let rows = page.components(separatedBy: "\n").filter {
                $0.hasPrefix("|") && $0.contains("`\(kind.rawValue)`")
            }
            #expect(rows.contains { $0.contains("| \(kind.budget.fuel) |") }, "fuel of \(kind.rawValue)")
            #expect(
                rows.contains { row in kind.errorPolicies.allSatisfy { row.contains("`\($0.rawValue)`") } },
                "on_error of \(kind.rawValue)")
        }
    }
}
