internal import Foundation
internal import SluiceConfiguration
internal import SluiceCore

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

/// Reads what a policy says of the file of decisions.
enum DecisionLogReader {
    static func log(_ node: ConfigurationNode, folder: String) throws(SluiceError) -> DecisionLog {
        let members = try node.members(["file", "size", "keep", "inputs", "hide"])
        guard let file = members["file"] else {
            throw node.refusal("the key file is missing: where decisions are written, such as file: decisions.jsonl")
        }
        let path = try file.text()
        let isAbsolute = path.hasPrefix("/") || folder.isEmpty
        var log = DecisionLog(
            isAbsolute ? path : URL(fileURLWithPath: folder).appendingPathComponent(path).path)
        if let size = members["size"] { log.maximumBytes = try bytes(size) }
        if let keep = members["keep"] {
            log.kept = try keep.integer()
            guard (0...100).contains(log.kept) else { throw keep.refusal("keep must be a whole number from 0 to 100") }
        }
        log.hasInputs = try members["inputs"]?.flag() ?? false
        for name in try members["hide"]?.items() ?? [] { log.hidden.insert(try name.text()) }
        return log
    }

    /// A size; nil for `none`.
    private static func bytes(_ node: ConfigurationNode) throws(SluiceError) -> Int? {
        let text = try node.text()
        if text == "none" { return nil }
        guard let bytes = ByteSize.bytes(text), bytes >= 64 << 10 else {
            throw node.refusal("size must be a size from 64KiB, such as 16MiB, or none")
        }
        return bytes
    }
}
