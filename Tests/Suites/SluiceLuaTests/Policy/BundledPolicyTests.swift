import Foundation
import RepositoryFiles
import SluiceLua
import Testing

@Suite("Policies that come with Sluice")
struct BundledPolicyTests {
    @Test("the example's policy is one, and every chain of it has an order")
    func example() throws {
        let policy = try PluginPolicy(file: Repository.path("Examples/policy/policy.yaml"))
        try policy.check()
        #expect(policy.plans.count >= 8 && policy.deployment.id != nil)
        #expect(policy.plans.contains { $0.mode == .shadow })
    }

    @Test("the policy in a plugin's README fits the plugin", arguments: BundledPluginsTests.names)
    func readme(name: String) throws {
        let page = try String(
            contentsOf: BundledPluginsTests.folder.appendingPathComponent("\(name)/README.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```yaml\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(!blocks.isEmpty)
        for block in blocks where block.contains("plugins:") {
            let policy = try PluginPolicy(yaml: block, file: "\(name)/README.md", folder: Repository.folder)
            try policy.check()
            #expect(policy.plans.contains { $0.manifest.name == name })
        }
    }
}
