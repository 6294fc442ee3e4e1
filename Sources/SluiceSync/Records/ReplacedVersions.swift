internal import SluiceBase

/// The versions of a table's records that are known to be old: this device has replaced them lately, or an answer to one
/// of its operations has shown a later one.
///
/// A server may answer reads from a copy of its database that is some seconds behind. Such an answer shows a record older
/// than it is here. After a while it counts again: a server that was restored from a backup shows old versions, too.
struct ReplacedVersions {
    /// For how long a version counts as replaced after the server has taken the write.
    static let lag = Duration.seconds(20)
    /// The number of versions of one record that are remembered.
    private static let most = 8

    /// The notes of one record.
    private struct Known {
        var versions: [String] = []
        /// The time of the latest version that an answer has shown.
        var latest: Timestamp?
    }

    private let known: [RecordID: Known]

    /// - Parameters:
    ///   - server: the endpoint whose versions they are: a store may be synchronised with several.
    ///   - now: when the page came that is held against them.
    init(of table: String, on server: String, at now: Timestamp, in store: any StoreReader) throws {
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        let isWritten = QueryExpression.binary(.ne, .column("at"), .literal(.null))
        let notes = Query(Self.schema.name, filter: .binary(.and, ofTable, isWritten))
        var known: [RecordID: Known] = [:]
        for note in try store.records(matching: notes) where Self.counts(note, at: now) {
            guard let id = note["id"]?.string?.utf8.dropFirst(table.utf8.count + 1) else { continue }
            known[RecordID(String(decoding: id, as: UTF8.self))] = Self.known(note, of: server)
        }
        self.known = known
    }

    /// Those of one record.
    init(of id: RecordID, in table: String, on server: String, at now: Timestamp, in store: any StoreReader) throws {
        let note = try store.record(ChangeStamps.id(of: id, in: table), in: Self.schema.name)
        known = note.map { Self.counts($0, at: now) ? [id: Self.known($0, of: server)] : [:] } ?? [:]
    }

    /// Whether the row is of such a version.
    func contains(_ row: RowPage.Row) -> Bool {
        known.isEmpty ? false : contains(row.id, version: row.version, updatedAt: row.updatedAt)
    }

    /// Whether the record of that version, last changed then, is of such a version.
    func contains(_ id: RecordID, version: String?, updatedAt: String?) -> Bool {
        guard let known = known[id] else { return false }
        if let version, known.versions.contains(where: { $0.hasSameBytes(as: version) }) { return true }
        guard let latest = known.latest, let changed = updatedAt.flatMap({ Timestamp($0) }) else { return false }
        return changed < latest
    }

    /// Notes that those versions of a record whose change is noted already are old, and when the later one was made.
    static func note(
        _ replaced: [String], by latest: Timestamp?, of id: RecordID, in table: String, on server: String,
        at now: Timestamp, _ store: any StoreWriter
    ) throws {
        guard var note = try store.record(ChangeStamps.id(of: id, in: table), in: schema.name) else { return }
        let known = counts(note, at: now) ? known(note, of: server) : Known()
        let all = (known.versions.filter { !replaced.contains($0) } + replaced).suffix(most)
        note["replaced"] = JSON(
            all.map { JSON([JSON(server), JSON($0)]) }
                + (latest.map { [JSON([JSON(server), .null, JSON($0.description)])] } ?? []))
        note["at"] = JSON(now.description)
        try store.put(note, in: schema.name)
    }

    private static let schema = ChangeStamps.schema

    private static func counts(_ note: JSON, at now: Timestamp) -> Bool {
        guard let at = note["at"]?.string.flatMap({ Timestamp($0) }) else { return false }
        // Either way: the clock may have been set back.
        let passed = at.duration(to: now)
        return passed < lag && passed > .zero - lag
    }

    private static func known(_ note: JSON, of server: String) -> Known {
        var known = Known()
        for entry in note["replaced"]?.elements ?? [] where entry[0]?.string == server {
            if let version = entry[1]?.string { known.versions.append(version) }
            if let latest = entry[2]?.string.flatMap({ Timestamp($0) }) { known.latest = latest }
        }
        return known
    }
}
