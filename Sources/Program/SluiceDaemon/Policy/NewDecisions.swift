internal import Sluice
internal import SluiceLua

/// Reads the lines that other processes add to a file of decisions.
struct NewDecisions {
    /// The most bytes that one look reads.
    private static let most = 1 << 20

    private let path: String
    private var offset: Int
    private var identity: FileIdentity?

    /// Begins at the file's end.
    init(path: String) {
        self.path = path
        identity = FileIdentity(path)
        offset = FileStatus(path)?.size ?? 0
    }

    /// Returns the decisions since the last call. A line that is not whole yet is read the next time.
    mutating func next() -> [PluginDecision] {
        guard let file = try? OpenFile(path, .filesOnly) else { return [] }
        let now = FileIdentity(path)
        // The file was rotated: the end of the former one is counted no more than a lost line would be.
        if now != identity { (identity, offset) = (now, 0) }
        guard let bytes = try? file.read(upTo: Self.most, at: offset), let last = bytes.lastIndex(of: 0x0A) else {
            return []
        }
        offset += last + 1
        return bytes[..<last].split(separator: 0x0A).compactMap { line in
            (try? JSON(parsing: line)).flatMap { try? PluginDecision($0, document: path) }
        }
    }
}
