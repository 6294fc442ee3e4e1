internal import SluiceBase

/// Tells which answers show a record older than it is known here: in a version that this device has replaced lately by a
/// write of its own, or with an earlier time of change than the record that is held.
///
/// A server may answer reads from a copy of its database that is some seconds behind. After a while such an answer counts
/// again: a server that was restored from a backup shows old versions, too.
struct ReplacedVersions {
    /// For how long a version counts as replaced after the server has taken the write.
    static let lag = Duration.seconds(20)
    /// The number of versions of one record that are remembered.
    private static let most = 8

    private let table: String
    private let server: String
    private let now: Timestamp
    private let versions: [RecordID: [String]]

    /// - Parameters:
    ///   - server: the endpoint whose versions they are: a store may be synchronised with several.
    ///   - now: when the page came that is held against them.
    init(of table: String, on server: String, at now: Timestamp, in store: any StoreReader) throws {
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        let isWritten = QueryExpression.binary(.ne, .column("at"), .literal(.null))
        let notes = Query(ChangeStamps.schema.name, filter: .binary(.and, ofTable, isWritten))
        var versions: [RecordID: [String]] = [:]
        for note in try store.records(matching: notes) where Self.counts(note, at: now) {
            guard let id = note["id"]?.string?.utf8.dropFirst(table.utf8.count + 1) else { continue }
            versions[RecordID(String(decoding: id, as: UTF8.self))] = Self.versions(note, of: server)
        }
        self.versions = versions
        (self.table, self.server, self.now) = (table, server, now)
    }

    /// Whether the row is of such a version.
    func contains(_ row: RowPage.Row) -> Bool {
        guard !versions.isEmpty, let version = row.version, let replaced = versions[row.id] else { return false }
        return replaced.contains { $0.hasSameBytes(as: version) }
    }

    /// Whether a record that was changed then, as the server shows it, is older than the one that is held here, and is to
    /// wait. The first such answer is noted; after the lag the server is believed.
    func defers(_ id: RecordID, changed: String?, held: String?, _ store: any StoreWriter) throws -> Bool {
        guard let changed = changed.flatMap({ Timestamp($0) }), let held = held.flatMap({ Timestamp($0) }),
            changed < held
        else { return false }
        let key = ChangeStamps.id(of: id, in: table)
        var note = try store.record(key, in: Self.schema.name) ?? ["id": JSON(key), "table": JSON(table), "stamp": 0]
        let entries = note["replaced"]?.elements ?? []
        let doubt = entries.first { $0[0]?.string == server && $0[2]?.string == held.description }
        if let since = doubt?[3]?.string.flatMap({ Timestamp($0) }) { return Self.isRecent(since, at: now) }
        let known = entries.filter { $0[2] == nil }
        note["replaced"] = JSON(known + [[JSON(server), .null, JSON(held.description), JSON(now.description)]])
        try store.put(note, in: Self.schema.name)
        return true
    }

    /// Notes that a write of this device has replaced those versions of a record whose change is noted already.
    static func note(
        _ replaced: [String], of id: RecordID, in table: String, on server: String, at now: Timestamp,
        _ store: any StoreWriter
    ) throws {
        guard !replaced.isEmpty, var note = try store.record(ChangeStamps.id(of: id, in: table), in: schema.name)
        else { return }
        let known = counts(note, at: now) ? versions(note, of: server) : []
        let all = (known.filter { !replaced.contains($0) } + replaced).suffix(most)
        note["replaced"] = JSON(all.map { JSON([JSON(server), JSON($0)]) })
        note["at"] = JSON(now.description)
        try store.put(note, in: schema.name)
    }

    private static let schema = ChangeStamps.schema

    private static func counts(_ note: JSON, at now: Timestamp) -> Bool {
        note["at"]?.string.flatMap { Timestamp($0) }.map { isRecent($0, at: now) } ?? false
    }

    private static func isRecent(_ moment: Timestamp, at now: Timestamp) -> Bool {
        // Either way: the clock may have been set back.
        let passed = moment.duration(to: now)
        return passed < lag && passed > .zero - lag
    }

    private static func versions(_ note: JSON, of server: String) -> [String] {
        (note["replaced"]?.elements ?? []).compactMap { $0[0]?.string == server ? $0[1]?.string : nil }
    }
}
