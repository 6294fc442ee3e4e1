/// What a plugin says of itself in `plugin.json`: data, read without running anything.
public struct PluginManifest: Sendable {
    /// The plugin's name: `com.example.stock`, or one word for those that come with Sluice.
    public let name: String
    /// Its version, by semantic versioning: `1.2.0`.
    public let version: String
    /// What it does, in a sentence.
    public let summary: String?
    /// Who wrote it.
    public let author: String?
    /// Under which license.
    public let license: String?
    /// Where to read more.
    public let homepage: String?
    /// What kind of plugin it is, in its author's words.
    public let categories: [String]
    /// The version of the plugin API that it was written for: `1.0`.
    public let api: String
    /// The file that returns the hooks.
    public let main: String
    /// The hooks, each with what is said of it. `main` has to return the same.
    public let hooks: [HookKind: HookDeclaration]
    /// What its configuration may be.
    public let configSchema: ConfigSchema
    /// What it may reach.
    public let permissions: PluginPermissions
    /// Whether it runs with a fixed clock, seeded chance, no HTTP, and is bounded by fuel alone.
    public let isDeterministic: Bool
    /// The first version of Sluice that it runs with.
    public let minimumSDK: String?
    /// Names of plugins in whose place it stands.
    public let replaces: [String]
    /// Names of plugins that it cannot run beside.
    public let conflicts: [String]
}
