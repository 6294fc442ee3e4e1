internal import Foundation
internal import SluiceCore

/// The plugins that served last, whole, in one file: what a process begins with where the policy's do not load.
struct LastGoodPlugins: Sendable {
    let path: String

    /// The policy that was kept; nil if there is none, or none that can be read.
    func policy() -> PluginPolicy? {
        guard let data = FileManager.default.contents(atPath: path), let json = try? JSON(parsing: Array(data)),
            let yaml = json["yaml"]?.string, let file = json["file"]?.string
        else { return nil }
        var bundles: [String: PluginBundle] = [:]
        for (name, saved) in json["bundles"]?.members ?? [] {
            let files = (saved["files"]?.members ?? []).map { ($0.name.text, Array(($0.value.string ?? "").utf8)) }
            bundles[name.text] = try? PluginBundle(
                files: Dictionary(files, uniquingKeysWith: { $1 }), location: saved["location"]?.string ?? name.text)
        }
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        return try? PluginPolicy(yaml: yaml, file: file, folder: folder, bundles: bundles)
    }

    /// Keeps a policy that serves, with its bundles. The file is there whole or not at all.
    func keep(_ policy: PluginPolicy, yaml: String, file: String) throws {
        let bundles = policy.plans.map { plan -> (String, JSON) in
            let files = plan.bundle.files.sorted { $0.key < $1.key }.map {
                ($0.key, JSON(String(decoding: $0.value, as: UTF8.self)))
            }
            return (plan.name, ["location": JSON(plan.bundle.location), "files": JSON(members: files)])
        }
        let json: JSON = ["file": JSON(file), "yaml": JSON(yaml), "bundles": JSON(members: bundles)]
        let data = Data(json.bytes())
        if FileManager.default.contents(atPath: path) == data { return }
        try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
