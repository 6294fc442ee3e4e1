import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("fixtures of the plugins that come with Sluice")
struct BundleFixtureTests {
    @Test("all pass", arguments: AuthoredBundles.folders)
    func fixtures(folder: String) async throws {
        let report = await FixtureRunner(try PluginBundle(folder: folder)).run()
        #expect(!report.results.isEmpty)
        #expect(report.isGood, "\(report.lines.filter { !$0.hasPrefix("ok ") }.joined(separator: "\n"))")
    }

    @Test("a check finds nothing wrong", arguments: AuthoredBundles.folders)
    func check(folder: String) async throws {
        let report = await PluginCheck(folder: folder).run()
        #expect(report.isGood, "\(report.lines.joined(separator: "\n"))")
    }
}
