internal import Foundation
internal import SluiceConfiguration
internal import SluiceCore

/// A file for the decisions of plugins, written as they are made: one JSON object a line, as `sluice replay` reads them.
///
/// ```swift
/// var options = PluginOptions()
/// options.decisionLog = DecisionLog("/var/log/shop/decisions.jsonl", hasInputs: true, hidden: ["email"])
/// ```
///
/// A line is handed to the system before its decision takes effect, in one piece and after all earlier lines. It
/// contains neither values of secrets nor header fields with credentials. Rows that a plugin keeps unchanged have no
/// line, because there are too many. A failed write makes nothing else fail: it is counted in
/// ``PluginMetrics/lostDecisions``.
public struct DecisionLog: Sendable, Hashable {
    /// The file. If it is missing, it is created, readable by its owner alone. Only one process at a time writes to it.
    public var path: String
    /// The maximum size in bytes. Before a line that would exceed it, the file becomes `PATH.1`, and the former
    /// `PATH.1` becomes `PATH.2`. Default 16 MiB; nil leaves rotation to a program such as logrotate.
    public var maximumBytes: Int?
    /// The number of rotated files to keep. Default 3.
    public var kept: Int
    /// Whether the inputs and answers of hooks are written too. Default no.
    public var hasInputs: Bool
    /// Names of fields whose values are hidden in inputs and answers, at any depth; in JSON bodies too.
    public var hidden: Set<String>

    /// Creates a log at that path.
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

/// Reads a policy's settings of the decision log.
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
            log.kept = try keep.integer(in: 0...100)
        }
        log.hasInputs = try members["inputs"]?.flag() ?? false
        for name in try members["hide"]?.items() ?? [] { log.hidden.insert(try name.text()) }
        return log
    }

    /// Returns a size; nil for `none`.
    private static func bytes(_ node: ConfigurationNode) throws(SluiceError) -> Int? {
        let text = try node.text()
        if text == "none" { return nil }
        guard let bytes = ByteSize.bytes(text), bytes >= 64 << 10 else {
            throw node.refusal("size must be a size from 64KiB, such as 16MiB, or none")
        }
        return bytes
    }
}
