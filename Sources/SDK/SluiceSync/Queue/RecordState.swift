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

/// Tracks which records of a table changed, and when, so that a page requested earlier cannot overwrite them.
///
/// Changes made by queued operations are not tracked here: the queue already protects those records. Completing an
/// operation or moving a record's base writes the record's id under the table's next stamp. Storing a page increments
/// the page counter. All of it is in the store, so it holds between contexts and processes too.
package struct ChangeStamps {
    /// The table of the store. It has one record for each table, and one for each recently noted record. That one also
    /// lists the record's versions that this device replaced: see ``ReplacedVersions``.
    package static let schema = TableSchema(
        "sluice_changes",
        columns: [
            .init("table", .string), .init("stamp", .integer), .init("pages", .integer), .init("replaced", .json),
            .init("at", .date),
        ],
        indexes: [["table", "stamp"]])
    /// The minimum number of notes kept for a table.
    package static let kept: Int64 = 1024

    /// A moment of a table: its number of changes and pages so far.
    struct Moment: Sendable, Hashable {
        package var stamp: Int64 = 0
        package var pages: Int64 = 0

        package init() {}
    }

    /// Returns the current moment.
    static func mark(of table: String, in store: any StoreReader) throws -> Moment {
        var mark = Moment()
        guard let record = try store.record(RecordID(table), in: schema.name) else { return mark }
        mark.stamp = record["stamp"]?.int ?? 0
        mark.pages = record["pages"]?.int ?? 0
        return mark
    }

    /// Notes that a record has changed.
    package static func note(_ recordID: RecordID, in table: String, _ store: any StoreWriter) throws {
        var mark = try mark(of: table, in: store)
        mark.stamp += 1
        try put(mark, of: table, store)
        let id = id(of: recordID, in: table)
        let former = try store.record(id, in: schema.name)
        let replaced = former?["replaced"].flatMap { $0.isNull ? nil : ColumnValue.json($0) }
        let at = former?["at"]?.string.map(ColumnValue.text)
        let values = [.text(table), .integer(mark.stamp), .null, replaced ?? .null, at ?? .null] as [ColumnValue]
        try store.put(StoreRow(id, values, in: schema))
        guard mark.stamp % kept == 0 else { return }
        let old = QueryExpression.binary(
            .and, .binary(.eq, .column("table"), .literal(.string(table))),
            .binary(.le, .column("stamp"), .literal(.number(JSON.Number(mark.stamp - kept)))))
        _ = try store.delete(
            matching: TableQuery(
                schema.name, filter: .binary(.and, old, .binary(.ne, .column("id"), .literal(.string(table))))))
    }

    /// Returns the id of a record's note. A table's name holds no slash, so the parts cannot be confused.
    static func id(of recordID: RecordID, in table: String) -> RecordID { "\(table)/\(recordID)" }

    /// Counts a page.
    ///
    /// - Returns: the moment after it.
    static func notePage(of table: String, _ store: any StoreWriter) throws -> Moment {
        var mark = try mark(of: table, in: store)
        mark.pages += 1
        try put(mark, of: table, store)
        return mark
    }

    private static func put(_ mark: Moment, of table: String, _ store: any StoreWriter) throws {
        let values = [.text(table), .integer(mark.stamp), .integer(mark.pages), .null, .null] as [ColumnValue]
        try store.put(StoreRow(RecordID(table), values, in: schema))
    }

    /// Returns the ids of the records that may have changed since `mark`.
    static func changed(
        _ ids: [RecordID], in table: String, since mark: Moment, _ store: any StoreReader
    ) throws -> Set<RecordID> {
        let now = try self.mark(of: table, in: store)
        if now == mark { return [] }
        // Pages of another pull are not noted row by row, and old notes are not kept.
        guard now.pages == mark.pages, now.stamp - mark.stamp < kept else { return Set(ids) }
        return try Set(
            ids.filter { id in
                guard let stamp = try store.record(Self.id(of: id, in: table), in: schema.name)?["stamp"]?.int else {
                    return false
                }
                return stamp > mark.stamp
            })
    }
}
