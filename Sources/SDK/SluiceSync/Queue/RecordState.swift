package import SluiceBase

/// The engine's state of a record that has operations, besides the local record itself.
///
/// A settled record has no such state: it is stored once.
package struct RecordState: Sendable, Hashable {
    /// The table.
    package var table: String
    /// The record.
    package var recordID: RecordID
    /// The server's record on which the oldest pending edit was made; nil if the server had none. It moves only when a
    /// server's answer or a handler's decision commits.
    package var base: JSON?
    /// The newest record known from the server; nil if it has none. A pull moves it while operations wait.
    package var mirror: JSON?

    package init(table: String, recordID: RecordID, base: JSON?, mirror: JSON?) {
        self.table = table
        self.recordID = recordID
        self.base = base
        self.mirror = mirror
    }

    /// The table of the store for these states.
    package static let schema = TableSchema(
        "sluice_records",
        columns: [
            .init("table", .string), .init("record", .string), .init("base", .json), .init("mirror", .json),
        ],
        indexes: [["table"]])

    /// Returns the state's id. A table's name holds no slash, so the two parts cannot be confused.
    package static func id(_ table: String, _ recordID: RecordID) -> RecordID { "\(table)/\(recordID)" }

    package var record: JSON {
        [
            "id": JSON(Self.id(table, recordID)), "table": JSON(table), "record": JSON(recordID),
            "base": base ?? .null, "mirror": mirror ?? .null,
        ]
    }

    /// - Throws: ``SluiceError`` of code `storeCorrupt` for anything that ``record`` does not give: an unreadable base
    ///   must not count as a missing record on the server.
    package init(record: JSON) throws(SluiceError) {
        guard let table = record["table"]?.string, let recordID = record["record"]?.textID,
            let base = record["base"], base.isNull || base.kind == .object,
            let mirror = record["mirror"], mirror.isNull || mirror.kind == .object
        else {
            throw SluiceError(.storeCorrupt, "the store holds a record's state that cannot be read")
        }
        self.init(
            table: table, recordID: recordID, base: base.isNull ? nil : base, mirror: mirror.isNull ? nil : mirror)
    }
}
