public import SluiceBase

/// A server row that could not be stored, with the reason. It stopped neither its page nor the pull. The entry is
/// removed when the server sends the row in a valid form. The commit of a page writes the entries;
/// ``SyncContext/quarantine(table:)`` lists them.
public struct QuarantinedRow: Sendable, Hashable, Identifiable, JSONPrinted {
    /// The entry's id.
    public let id: RecordID
    /// The table.
    public let table: String
    /// The row's id, if it is readable.
    public let recordID: RecordID?
    /// The reason why the row could not be stored.
    public let reason: String
    /// The row as the server wrote it, cut off at 64 KiB.
    public let raw: String
    /// The time of its last arrival, by the local clock.
    public let at: Timestamp

    private enum CodingKeys: String, CodingKey { case id, table, recordID = "record", reason, raw, at }

    static let mostRawBytes = 65_536

    /// Returns the entry's id, from the row's id or, without one, from another distinguishing value.
    static func id(_ table: String, _ distinction: RecordID) -> RecordID { "\(table)/\(distinction)" }

    init(table: String, recordID: RecordID?, distinction: RecordID, reason: String, raw: String, at: Timestamp) {
        id = Self.id(table, distinction)
        self.table = table
        self.recordID = recordID
        self.reason = reason
        self.raw =
            raw.utf8.count > Self.mostRawBytes
            ? String(decoding: raw.utf8.prefix(Self.mostRawBytes), as: UTF8.self) : raw
        self.at = at
    }

    /// The sync table of the entries.
    package static let schema = TableSchema(
        "sluice_quarantine",
        columns: [
            .init("table", .string), .init("record", .string), .init("reason", .string), .init("raw", .string),
            .init("at", .date),
        ],
        indexes: [["table"]])

    var record: JSON {
        [
            "id": JSON(id), "table": JSON(table), "record": recordID.map { JSON($0) } ?? .null,
            "reason": JSON(reason), "raw": JSON(raw), "at": JSON(at.description),
        ]
    }

    init?(record: JSON) {
        guard let id = record["id"]?.textID, let table = record["table"]?.string,
            let reason = record["reason"]?.string, let raw = record["raw"]?.string,
            let at = record["at"]?.string.flatMap({ Timestamp($0) })
        else { return nil }
        self.id = id
        self.table = table
        recordID = record["record"]?.textID
        self.reason = reason
        self.raw = raw
        self.at = at
    }
}
