internal import SluiceBase
internal import SluiceWire

/// The rows of a query in the local store, by id, each with the version of the server's record.
struct LocalQueryRows: Sendable {
    private(set) var versions: [RecordID: String?] = [:]
    /// The ids, in the order of their bytes.
    private(set) var ids: [RecordID] = []

    private static let chunk = 2000

    /// Makes the rows from given versions.
    init(_ versions: [RecordID: String?]) {
        self.versions = versions
        ids = versions.keys.sorted()
    }

    /// Reads the cursor's rows from the store, some at a time.
    init(of cursor: Cursor, version: PropertyName, in store: any LocalStore) async throws {
        var last: RecordID?
        let isAll = cursor.isOfAll || cursor.heldAll
        while true {
            let from = last
            let rows = try await store.read { reader in
                try isAll
                    ? Self.all(of: cursor.owner.table, after: from, version, reader)
                    : Self.members(of: cursor, after: from, version, reader)
            }
            guard let end = rows.last else { break }
            last = end.id
            for row in rows where row.isHere {
                ids.append(row.id)
                versions[row.id] = .some(row.version)
            }
        }
        ids.sort()
    }

    private struct Row: Sendable {
        var id: RecordID
        var version: String?
        var isHere = true
    }

    private static func all(
        of table: String, after last: RecordID?, _ version: PropertyName, _ reader: any StoreReader
    ) throws -> [Row] {
        var query = TableQuery(table, order: [.init("id")], top: chunk, select: ["id", version])
        if let last { query.filter = .binary(.gt, .column("id"), .literal(.id(last))) }
        return try reader.records(matching: query).compactMap { record in
            record["id"]?.textID.map { Row(id: $0, version: record[version]?.string) }
        }
    }

    private static func members(
        of cursor: Cursor, after last: RecordID?, _ version: PropertyName, _ reader: any StoreReader
    ) throws -> [Row] {
        try Membership.ids(heldBy: cursor, after: last, top: chunk, in: reader).map { id in
            guard let record = try reader.record(id, in: cursor.owner.table) else {
                return Row(id: id, version: nil, isHere: false)
            }
            return Row(id: id, version: record[version]?.string)
        }
    }

    /// Returns the ids in a range.
    func ids(in range: TableDigest.Range) -> ArraySlice<RecordID> {
        let start = firstIndex { $0 >= range.from }
        return ids[start..<max(start, firstIndex { range.to < $0 })]
    }

    /// Returns the first index whose id meets the condition; all later ids must meet it too.
    private func firstIndex(where isSo: (RecordID) -> Bool) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if isSo(ids[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Returns the digest of the given rows.
    func sum(of ids: some Sequence<RecordID>) -> RowDigest {
        var sum = RowDigest()
        for id in ids { sum.add(id: id, version: versions[id] ?? nil) }
        return sum
    }
}
