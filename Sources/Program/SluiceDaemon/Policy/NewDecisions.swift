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
        // After a rotation, or where the file was emptied, all of it is new. Lines that came before it are lost.
        if now != identity || (FileStatus(path)?.size ?? 0) < offset { (identity, offset) = (now, 0) }
        guard let bytes = try? file.read(upTo: Self.most, at: offset) else { return [] }
        guard let last = bytes.lastIndex(of: 0x0A) else {
            // A line that is longer than any decision is passed over.
            if bytes.count == Self.most { offset += bytes.count }
            return []
        }
        offset += last + 1
        return bytes[..<last].split(separator: 0x0A).compactMap { line in
            (try? JSON(parsing: line)).flatMap { try? PluginDecision($0, document: path) }
        }
    }
}
