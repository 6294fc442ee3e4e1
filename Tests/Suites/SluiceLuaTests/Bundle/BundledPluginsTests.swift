import Foundation
import RepositoryFiles
import SluiceLua
import Testing

@Suite("The plugins that come with Sluice")
struct BundledPluginsTests {
    static let folder = URL(fileURLWithPath: Repository.path("Plugins"))

    static let names =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted().filter { name in
            FileManager.default.fileExists(atPath: folder.appendingPathComponent(name + "/plugin.json").path)
        } ?? []

    @Test("there are some") func some() { #expect(Self.names.count >= 14) }

    @Test("each is a bundle by the rules, under the name of its folder, with a fixture", arguments: names)
    func bundle(name: String) throws {
        let bundle = try PluginBundle(folder: Self.folder.appendingPathComponent(name).path)
        #expect(bundle.manifest.name == name && !bundle.fixtures.isEmpty && bundle.files["README.md"] != nil)
    }
}
