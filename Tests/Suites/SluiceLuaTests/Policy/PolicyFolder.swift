import SluiceCore
import SluiceLua
import Testing

/// A folder with bundles, and a policy beside them.
struct PolicyFolder {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Writes a bundle to `plugins/LAST`, by the last part of its name.
    func add(_ name: String, _ members: String = "{}") throws {
        var manifest = try JSON(parsing: PluginManifestTests.text(members))
        manifest["name"] = JSON(name)
        try add(manifest: manifest.description, name)
    }

    func add(manifest: String, _ name: String) throws {
        let path = "plugins/\(name.split(separator: ".").last ?? "")"
        try folder.write(manifest, to: "\(path)/plugin.json")
        try folder.write("return {}", to: "\(path)/main.lua")
    }

    func policy(_ yaml: String) throws -> PluginPolicy {
        try PluginPolicy(yaml: yaml, file: "plugins.yaml", folder: folder.path)
    }

    func refusal(_ yaml: String) -> String {
        #expect(throws: SluiceError.self) { try policy(yaml).check() }?.message ?? ""
    }
}
