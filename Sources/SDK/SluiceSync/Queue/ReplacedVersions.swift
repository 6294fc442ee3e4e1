internal import SluiceBase

/// The versions of a table's records that this device has recently replaced by its own writes.
///
/// A server may answer reads from a copy of its database that is some seconds old. A row with a replaced version is
/// then older than the local record. After `lag` the row counts again, because a server restored from a backup shows
/// old versions, too.
struct ReplacedVersions {
    /// The time for which a version counts as replaced after the server has accepted the write.
    static let lag = Duration.seconds(30)
    /// The number of versions of one record that are remembered.
    private static let most = 8

    /// The versions by ids, GUIDs in small letters.
    private let versions: [RecordID: [String]]

    /// - Parameters:
    ///   - server: the endpoint of the versions: a store may be synchronised with several.
    ///   - now: the time at which the page to check was requested.
    init(of table: String, on server: String, at now: Timestamp, in store: any StoreReader) throws {
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        let isWritten = QueryExpression.binary(.ne, .column("at"), .literal(.null))
        let notes = TableQuery(ChangeStamps.schema.name, filter: .binary(.and, ofTable, isWritten))
        var versions: [RecordID: [String]] = [:]
        for note in try store.records(matching: notes) where Self.counts(note, at: now) {
            guard let id = note["id"]?.string?.utf8.dropFirst(table.utf8.count + 1) else { continue }
            let here = RecordID(String(decoding: id, as: UTF8.self))
            versions[here.caseless] = Self.versions(note, of: server)
        }
        self.versions = versions
    }

    /// Reads the versions of one record, by its local spelling.
    init(of id: RecordID, in table: String, on server: String, at now: Timestamp, in store: any StoreReader) throws {
        let note = try store.record(ChangeStamps.id(of: id, in: table), in: Self.schema.name)
        versions = note.map { Self.counts($0, at: now) ? [id.caseless: Self.versions($0, of: server)] : [:] } ?? [:]
    }

    /// Whether the row has a replaced version.
    func contains(_ row: RowPage.Row) -> Bool { contains(row.version, of: row.id) }

    /// Whether the version is a replaced one of that record.
    func contains(_ version: String?, of id: RecordID) -> Bool {
        guard !versions.isEmpty, let version, let replaced = versions[id.caseless] else { return false }
        return replaced.contains { $0.hasSameBytes(as: version) }
    }

    /// Notes that a write of this device has replaced those versions. The record's change must be noted already.
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

    /// Whether the lag has passed since a write of this device replaced a version of the record; nil if none did.
    static func hasPassed(
        _ id: RecordID, in table: String, at now: Timestamp, in store: any StoreReader
    ) throws -> Bool? {
        let note = try store.record(ChangeStamps.id(of: id, in: table), in: schema.name)
        guard let note, note["at"]?.isNull == false else { return nil }
        return !counts(note, at: now)
    }

    private static let schema = ChangeStamps.schema

    private static func counts(_ note: JSON, at now: Timestamp) -> Bool {
        note["at"]?.string.flatMap { Timestamp($0) }.map { isWithinLag($0, of: now) } ?? false
    }

    /// Whether the moment is less than the lag away, in either direction, because the clock may have been set back.
    static func isWithinLag(_ moment: Timestamp, of now: Timestamp) -> Bool {
        let passed = moment.duration(to: now)
        return passed < lag && passed > .zero - lag
    }

    private static func versions(_ note: JSON, of server: String) -> [String] {
        (note["replaced"]?.elements ?? []).compactMap { $0[0]?.string == server ? $0[1]?.string : nil }
    }
}
