/// How far a plugin's answers reach.
public enum PluginMode: String, Sendable, Hashable, CaseIterable {
    /// They take effect.
    case enforce
    /// The plugin runs, what it decides is written down, and nothing else happens.
    case shadow
    /// It does not run.
    case off
}
