internal import Sluice
internal import SluiceLua

/// Reads the newest decisions from the ends of their files, in which the policy's hidden fields are hidden already.
enum NewestDecisions {
    /// The most bytes that are read of one file.
    private static let most = 256 << 10

    /// Returns the newest decisions of all files, the newest first. A file that cannot be read has none.
    static func of(_ logs: [DecisionLog], count: Int) -> [PluginDecision] {
        guard count > 0 else { return [] }
        return Array(logs.flatMap { newest(of: $0.path, count) }.sorted { $0.at > $1.at }.prefix(count))
    }

    private static func newest(of path: String, _ count: Int) -> [PluginDecision] {
        guard let file = try? OpenFile(path, .filesOnly), let size = try? file.status().size,
            let bytes = try? file.read(upTo: most, at: max(0, size - most))
        else { return [] }
        // The first line is cut where the file is longer, and the last one while it is written: neither is a decision.
        return bytes.split(separator: 0x0A).suffix(count).compactMap { line in
            (try? JSON(parsing: line)).flatMap { try? PluginDecision($0, document: path) }
        }
    }
}
