/// A file into which the decisions of plugins are written as they are made: one JSON object a line, as ``DecisionFile``
/// reads them.
///
/// ```swift
/// var options = PluginOptions()
/// options.decisionLog = DecisionLog("/var/log/shop/decisions.jsonl", hasInputs: true, hidden: ["email"])
/// ```
///
/// A line is handed to the system before its decision takes effect, in one piece and after all others. Values of
/// secrets and header fields with credentials are not in it. Rows that a plugin keeps as they are have no line, there
/// are too many of them. That a line cannot be written is no reason for anything else to fail: it is counted in
/// ``PluginMetrics/lostDecisions``.
public struct DecisionLog: Sendable, Hashable {
    /// The file. It is made where it is not there, for its owner alone to read. One process at a time writes to it.
    public var path: String
    /// What the file grows to, in bytes: before a line that would be too much it becomes `PATH.1`, and what was that
    /// becomes `PATH.2`. Default 16 MiB; nil leaves it to a program such as logrotate.
    public var maximumBytes: Int?
    /// How many such files are kept. Default 3.
    public var kept: Int
    /// Whether what hooks were given and what they answered is written too. Default no.
    public var hasInputs: Bool
    /// Names of fields whose values are hidden in that, wherever they are; in bodies too, where those are JSON.
    public var hidden: Set<String>

    /// A file of that path.
    public init(
        _ path: String, maximumBytes: Int? = 16 << 20, kept: Int = 3, hasInputs: Bool = false,
        hidden: Set<String> = []
    ) {
        self.path = path
        self.maximumBytes = maximumBytes
        self.kept = kept
        self.hasInputs = hasInputs
        self.hidden = hidden
    }
}
