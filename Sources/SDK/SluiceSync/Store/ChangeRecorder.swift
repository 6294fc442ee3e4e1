public import SluiceBase
internal import SluiceWire

/// The detail of a transaction's recorded changes: as much as some subscriber needs.
enum ChangeDetail: Int, Sendable, Comparable {
    case nothing, tables, records

    static func < (left: ChangeDetail, right: ChangeDetail) -> Bool { left.rawValue < right.rawValue }
}

/// A transaction's changes to the application's tables so far. A record changed twice counts once.
struct RecordedChanges: Sendable {
    /// The largest number of changed records listed for one table; with more, only the table is named.
    static let limit = 10_000

    private struct Key: Hashable {
        var table: String
        var id: RecordID
    }
    private struct Presence {
        var id: RecordID
        var before: Bool
        /// Nil until a change of it has succeeded.
        var after: Bool?
    }

    private(set) var tables: Set<String> = []
    private var records: [Key: Presence] = [:]
    private var order: [Key] = []
    private var counts: [String: Int] = [:]

    /// Whether changes of the table are reported record by record.
    func lists(_ table: String) -> Bool { !tables.contains(table) }

    mutating func note(table: String) { tables.insert(table) }

    /// Notes whether a record exists before its first change; `exists` is called only the first time.
    mutating func look(at id: RecordID, in table: String, exists: () throws -> Bool) rethrows {
        let key = Key(table: table, id: id)
        if records[key] == nil { records[key] = Presence(id: id, before: try exists()) }
    }

    /// Notes a change of a record that was looked at before.
    mutating func note(_ id: RecordID, in table: String, isThere: Bool) {
        let key = Key(table: table, id: id)
        guard let former = records[key]?.after else {
            records[key]?.after = isThere
            order.append(key)
            counts[table, default: 0] += 1
            if counts[table, default: 0] > Self.limit { tables.insert(table) }
            return
        }
        if former != isThere { records[key]?.after = isThere }
    }

    /// The changes as a batch; nil if none of the application's tables has changed.
    func batch(_ id: UInt64, from source: StoreChange.Source) -> ChangeBatch? {
        let changes = order.compactMap { key -> StoreChange? in
            guard lists(key.table), let record = records[key], let after = record.after, record.before || after else {
                return nil
            }
            let kind: StoreChange.Kind = !record.before ? .inserted : after ? .updated : .removed
            return StoreChange(table: key.table, recordID: record.id, kind: kind, source: source)
        }
        if changes.isEmpty && tables.isEmpty { return nil }
        return ChangeBatch(id: id, changes: changes, reloads: .tables(tables))
    }
}

/// Writes through to a store's writer and records the changes. A page's rows are passed on as bytes.
final class ChangeRecorder: StoreWriter {
    private let writer: any StoreWriter
    private let detail: ChangeDetail
    private(set) var changes = RecordedChanges()

    init(_ writer: any StoreWriter, _ detail: ChangeDetail) {
        self.writer = writer
        self.detail = detail
    }

    func record(_ id: RecordID, in table: String) throws -> JSON? { try writer.record(id, in: table) }
    func records(matching query: TableQuery) throws -> [JSON] { try writer.records(matching: query) }
    func records(
        in table: String, where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName
    ) throws -> [JSON] { try writer.records(in: table, where: texts, orderedBy: order) }
    func largest(_ column: PropertyName, in table: String) throws -> Int64? { try writer.largest(column, in: table) }
    func count(matching query: TableQuery) throws -> Int { try writer.count(matching: query) }
    func tables() throws -> [TableSchema] { try writer.tables() }
    func redeclare(_ table: TableSchema) throws { try writer.redeclare(table) }
    func drop(_ table: String) throws { try writer.drop(table) }

    func put(_ record: JSON, in table: String) throws {
        try change([record["id"]?.textID].compactMap(\.self), in: table, isThere: true) {
            try writer.put(record, in: table)
        }
    }

    func put(_ rows: RowPage.Selection, in table: String) throws {
        try change(rows.indices.lazy.map { rows.page.rows[$0].id }, in: table, isThere: true) {
            try writer.put(rows, in: table)
        }
    }

    func put(_ row: StoreRow) throws {
        try change([row.id], in: row.schema.name, isThere: true) { try writer.put(row) }
    }

    func delete(_ ids: [RecordID], from table: String) throws {
        try change(ids, in: table, isThere: false) { try writer.delete(ids, from: table) }
    }

    func delete(matching query: TableQuery) throws -> Int {
        var ids: [RecordID] = []
        if notesRecords(of: query.table) {
            let limit = RecordedChanges.limit + 1
            let leaving = TableQuery(query.table, filter: query.filter, top: limit, select: ["id"])
            ids = try writer.records(matching: leaving).compactMap { $0["id"]?.textID }
        }
        return try change(ids, in: query.table, isThere: false) { try writer.delete(matching: query) }
    }

    /// Carries out a change of those records and notes it. A failed change is not noted, because a page may continue
    /// without it.
    private func change<Result>(
        _ ids: some Collection<RecordID>, in table: String, isThere: Bool, _ body: () throws -> Result
    ) throws -> Result {
        guard !ids.isEmpty, notesRecords(of: table) else { return try body() }
        for id in ids { try changes.look(at: id, in: table) { try writer.record(id, in: table) != nil } }
        let result = try body()
        for id in ids { changes.note(id, in: table, isThere: isThere) }
        return result
    }

    /// Whether the table's records are to be noted one by one; the table itself is noted if it is not the engine's.
    private func notesRecords(of table: String) -> Bool {
        if table.hasPrefix(SyncTables.prefix) { return false }
        if detail == .tables { changes.note(table: table) }
        return detail == .records && changes.lists(table)
    }
}

/// One transaction's change of one record of the local store.
public struct StoreChange: Sendable, Hashable {
    /// The kind of the change.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It was not there before.
        case inserted
        /// It was written; its properties may be the same as before.
        case updated
        /// It is gone.
        case removed
    }

    /// The table.
    public var table: String
    /// The record's id.
    public var recordID: RecordID
    /// The kind of the change.
    public var kind: Kind
    /// The cause of the change.
    public var source: StoreChange.Source

    /// A change.
    public init(table: String, recordID: RecordID, kind: Kind, source: StoreChange.Source) {
        self.table = table
        self.recordID = recordID
        self.kind = kind
        self.source = source
    }
}
