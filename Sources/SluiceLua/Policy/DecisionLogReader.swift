internal import Foundation
internal import SluiceConfiguration
internal import SluiceCore

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
