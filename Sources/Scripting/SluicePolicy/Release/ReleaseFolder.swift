internal import Foundation
package import SluiceCore
package import SluiceLua

/// A folder with a policy and its plugins, as one publishes it.
package struct ReleaseFolder: Sendable {
    /// The policy's text.
    package let yaml: String
    /// The policy.
    package let policy: PluginPolicy

    /// Reads `policy.yaml` of a folder, and the plugins that it names, all of which are in the folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`, with the place of a mistake.
    package init(_ folder: String) throws(SluiceError) {
        let path = "\(folder)/policy.yaml"
        policy = try PluginPolicy(file: path)
        let bytes: [UInt8]
        do throws(SystemFailure) {
            bytes = try OpenFile(path, .filesOnly).read(upTo: 1 << 20)
        } catch {
            throw SluiceError(.invalidArgument, "\(path): the file cannot be read: \(error.reason)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SluiceError(.invalidArgument, "\(path): the file is not UTF-8")
        }
        yaml = text
        let root = Self.resolved(folder)
        for plan in policy.plans where !Self.resolved(plan.bundle.location).hasPrefix(root + "/") {
            throw SluiceError(
                .invalidArgument, "\(path): the plugin \(plan.name) is not in \(folder), so it would not be published")
        }
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }

    /// Returns the folder's content as a release.
    package func release(name: String, version: Int) -> PolicyRelease {
        let plugins = policy.plans.map { plan in
            (plan.name, plan.bundle.files.mapValues { String(decoding: $0, as: UTF8.self) })
        }
        return PolicyRelease(
            name: name, version: version, policy: yaml, plugins: Dictionary(plugins, uniquingKeysWith: { $1 }))
    }
}
