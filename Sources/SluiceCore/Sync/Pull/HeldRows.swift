/// The rows that a query holds here, by id, each with the version of the server's record.
struct HeldRows: Sendable {
    private(set) var versions: [ExactText: String?] = [:]
    /// In the order of their bytes.
    private(set) var ids: [String] = []

    private static let chunk = 2000

    /// Reads them, some at a time.
    init(of cursor: Cursor, version: String, in store: any LocalStore) async throws {
        var last: String?
        let isAll = cursor.isOfAll || cursor.heldAll
        while true {
            let from = last
            let rows = try await store.read { reader in
                try isAll
                    ? Self.all(of: cursor.owner.table, behind: from, version, reader)
                    : Self.members(of: cursor, behind: from, version, reader)
            }
            guard let end = rows.last else { break }
            last = end.id
            for row in rows where row.isHere {
                ids.append(row.id)
                versions[ExactText(row.id)] = .some(row.version)
            }
        }
        ids.sort(by: Self.precedes)
    }

    private struct Row: Sendable {
        var id: String
        var version: String?
        var isHere = true
    }

    private static func all(
        of table: String, behind last: String?, _ version: String, _ reader: any StoreReader
    ) throws -> [Row] {
        var query = Query(table, order: [.init("id")], top: chunk, select: ["id", version])
        if let last { query.filter = .binary(.gt, .column("id"), .literal(.string(last))) }
        return try reader.records(matching: query).compactMap { record in
            record["id"]?.string.map { Row(id: $0, version: record[version]?.string) }
        }
    }

    private static func members(
        of cursor: Cursor, behind last: String?, _ version: String, _ reader: any StoreReader
    ) throws -> [Row] {
        try Membership.ids(heldBy: cursor, behind: last, top: chunk, in: reader).map { id in
            guard let record = try reader.record(id, in: cursor.owner.table) else {
                return Row(id: id, version: nil, isHere: false)
            }
            return Row(id: id, version: record[version]?.string)
        }
    }

    /// Those whose ids are in a range.
    func ids(in range: TableDigest.Range) -> ArraySlice<String> {
        let start = firstIndex { !Self.precedes($0, range.from) }
        return ids[start..<max(start, firstIndex { Self.precedes(range.to, $0) })]
    }

    /// The first place whose id is so; those behind it are so too.
    private func firstIndex(where isSo: (String) -> Bool) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if isSo(ids[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// The sum over some.
    func sum(of ids: some Sequence<String>) -> RowDigest {
        var sum = RowDigest()
        for id in ids { sum.add(id: id, version: versions[ExactText(id)] ?? nil) }
        return sum
    }
}
