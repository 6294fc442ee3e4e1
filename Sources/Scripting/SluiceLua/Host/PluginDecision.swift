public import SluiceCore

/// One decision of a plugin: an entry of the decision log.
public struct PluginDecision: Sendable {
    /// The entry's number, counted up from 1.
    public var sequence: Int
    /// The end of the call.
    public var at: Timestamp
    /// The plugin's name.
    public var plugin: String
    /// Its version and the hash of its files: `1.2.0+3f2a…`.
    public var version: String
    /// The hook.
    public var hook: HookKind
    /// The table, if the call concerned one.
    public var table: String?
    /// The record's id, if the call concerned one.
    public var recordID: RecordID?
    /// A hash of the hook's input: equal inputs have equal hashes.
    public var inputHash: String
    /// The hook's input, without credentials; nil unless the host keeps inputs.
    public var input: JSON?
    /// The name of the decision, `none`, `changed`, `passed_on`, or `failed`.
    public var decision: String
    /// The whole answer, without credentials; nil for none, or if inputs are not kept.
    public var answer: JSON?
    /// The plugin's reason.
    public var reason: String?
    /// The failure; nil for success.
    public var failure: PluginFailure?
    /// The fuel that the call used.
    public var fuel: Int
    /// The CPU time that the call used.
    public var cpuTime: Duration
    /// The time from its beginning to its end.
    public var elapsed: Duration
    /// The number of waits.
    public var waits: Int
    /// Whether the plugin ran as a shadow, without effect.
    public var isShadow: Bool
    /// Whether it replaced the server's answer to a push, in whole or in part.
    public var answersPush = false
    /// The lines that the plugin logged.
    public var log: [PluginLogLine]
    /// The values that the plugin added to the trace.
    public var trace: JSON
}

/// A line that a plugin logged.
public struct PluginLogLine: Sendable, Hashable {
    /// `debug`, `info`, `warn` or `error`.
    public var level: String
    /// The text, without the values of secrets.
    public var message: String
    /// The fields logged with the text.
    public var fields: JSON?
}
