internal import SluiceBase

/// The rows read so far, each identified by its id and version.
///
/// A server may list one id twice, in two versions. Both are kept, so that neither counts as new when it comes again.
struct RowVersions: Sendable {
    private var versions: [RecordID: [String?]] = [:]

    /// The number of different ids.
    var count: Int { versions.count }

    /// The ids, in the order of their bytes.
    var ids: [RecordID] { versions.keys.sorted() }

    func contains(_ row: RowPage.Row) -> Bool {
        versions[row.id]?.contains { Self.isSame($0, row.version) } ?? false
    }

    func contains(id: RecordID) -> Bool { versions[id] != nil }

    mutating func insert(_ row: RowPage.Row) {
        if !contains(row) { versions[row.id, default: []].append(row.version) }
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.hasSameBytes(as: right)
    }
}
