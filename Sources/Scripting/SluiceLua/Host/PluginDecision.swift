public import SluiceCore

/// What a plugin decided once: an entry of the decision log.
public struct PluginDecision: Sendable {
    /// The entry's number, counted up from 1.
    public var sequence: Int
    /// When the call ended.
    public var at: Timestamp
    /// The plugin's name.
    public var plugin: String
    /// Its version and the hash of its files: `1.2.0+3f2a…`.
    public var version: String
    /// The hook.
    public var hook: HookKind
    /// The table, where the call was about one.
    public var table: String?
    /// The record's id, where it was about one.
    public var recordID: RecordID?
    /// A hash of what the hook was given, by which equal inputs are known again.
    public var inputHash: String
    /// What the hook was given, without credentials; nil unless the host keeps inputs.
    public var input: JSON?
    /// What it decided: the name of a decision, `none`, `changed`, or `failed`.
    public var decision: String
    /// The whole answer, without credentials; nil where it was nothing or inputs are not kept.
    public var answer: JSON?
    /// Why, in the plugin's words.
    public var reason: String?
    /// What went wrong; nil if nothing did.
    public var failure: PluginFailure?
    /// The fuel that the call used.
    public var fuel: Int
    /// The time of the thread that it used.
    public var cpuTime: Duration
    /// The time from its begin to its end.
    public var elapsed: Duration
    /// How often it waited.
    public var waits: Int
    /// Whether it took effect.
    public var isShadow: Bool
    /// Whether it took the place of the server's answer to a push, in whole or in part.
    public var answersPush = false
    /// What the plugin logged.
    public var log: [PluginLogLine]
    /// What the plugin added to the trace.
    public var trace: JSON
}

/// A line that a plugin logged.
public struct PluginLogLine: Sendable, Hashable {
    /// `debug`, `info`, `warn` or `error`.
    public var level: String
    /// The text, without the values of secrets.
    public var message: String
    /// What was logged with it.
    public var fields: JSON?
}
