internal import Foundation
internal import SluiceConfiguration

/// The folders of the plugins that a policy names.
enum PluginFolders {
    /// What the policy's `path` keys say, as far as the file can be read; relative to it.
    static func of(policy: String) -> [String] {
        let base = (policy as NSString).deletingLastPathComponent
        guard let root = try? ConfigurationFile(path: policy).root(),
            let plugins = try? root.entries().first(where: { $0.key == "plugins" })?.value.entries()
        else { return [] }
        return plugins.compactMap { plugin in
            guard let path = try? plugin.value.entries().first(where: { $0.key == "path" })?.value.text() else {
                return nil
            }
            return path.hasPrefix("/") || base.isEmpty ? path : (base as NSString).appendingPathComponent(path)
        }
    }
}
