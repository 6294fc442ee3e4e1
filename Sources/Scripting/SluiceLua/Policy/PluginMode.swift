/// The effect of a plugin's answers.
public enum PluginMode: String, Sendable, Hashable, CaseIterable {
    /// Answers take effect.
    case enforce
    /// The plugin runs and its decisions are logged, but they have no effect.
    case shadow
    /// The plugin does not run.
    case off
}
