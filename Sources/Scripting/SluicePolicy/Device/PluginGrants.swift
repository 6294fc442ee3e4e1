internal import SluiceConfiguration
package import SluiceCore
package import SluiceLua

/// The permissions that a deployment grants to the plugins of its policy, and the content that it accepts. A plugin that
/// asks for more is not loaded.
///
/// ```yaml
/// com.example.stock:
///   permissions: { http: [api.example.com], kv: { bytes: 4096 }, secrets: [token], clock: true }
///   digest: 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8
/// ```
package struct PluginGrants: Sendable {
    private struct Grant {
        var permissions: PluginPermissions
        var digest: String?
    }

    private let grants: [String: Grant]
    private let file: String

    /// Reads a file of grants.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`, with the place of a mistake.
    package init(file path: String) throws(SluiceError) {
        var grants: [String: Grant] = [:]
        for (name, node) in try ConfigurationFile(path: path).root().named("the grants").entries(upTo: 256) {
            let members = try node.members(["permissions", "digest"])
            let permissions = try members["permissions"].map { node throws(SluiceError) in
                try PluginPermissions(granted: JSONPlace(try node.json(), in: "\(node.location): permissions"))
            }
            grants[name] = Grant(permissions: permissions ?? PluginPermissions(), digest: try members["digest"]?.text())
        }
        (self.grants, file) = (grants, path)
    }

    /// Checks the plugins of a release.
    ///
    /// - Throws: ``PolicyRefusal`` that names what a plugin asks for beyond its grant.
    package func check(_ policy: PluginPolicy, of release: PolicyRelease) throws(PolicyRefusal) {
        for plan in policy.running {
            guard let grant = grants[plan.name] else {
                throw PolicyRefusal(.notGranted, "\(file) grants nothing to the plugin \(plan.name)")
            }
            let more = plan.permissions.excess(over: grant.permissions)
            guard more.isEmpty else {
                throw PolicyRefusal(
                    .notGranted,
                    "the plugin \(plan.name) asks for more than \(file) grants: \(more.joined(separator: ", "))")
            }
            if let digest = grant.digest, digest != release.digests[plan.name] {
                throw PolicyRefusal(
                    .notGranted, "the plugin \(plan.name) is not the one whose digest \(file) grants")
            }
        }
    }
}
