/// How closely a transaction's changes are watched: as closely as somebody listens.
enum ChangeDetail: Int, Sendable, Comparable {
    case nothing, tables, records

    static func < (left: ChangeDetail, right: ChangeDetail) -> Bool { left.rawValue < right.rawValue }
}

/// What a transaction has changed of the application's tables so far, with a record that is changed twice counted once.
struct RecordedChanges: Sendable {
    /// Of more changed records of one table only the table is named.
    static let limit = 10_000

    private struct Key: Hashable {
        var table: String
        var id: ExactText
    }
    private struct Presence {
        var id: String
        var before: Bool
        var after: Bool
    }

    private(set) var tables: Set<String> = []
    private var records: [Key: Presence] = [:]
    private var order: [Key] = []
    private var counts: [String: Int] = [:]

    /// Whether the records of the table are told one by one.
    func lists(_ table: String) -> Bool { !tables.contains(table) }

    mutating func note(table: String) { tables.insert(table) }

    /// Notes a record's change; `existed` is asked where the record has not been changed before.
    mutating func note(_ id: String, in table: String, isThere: Bool, existed: () throws -> Bool) rethrows {
        let key = Key(table: table, id: ExactText(id))
        if records[key] == nil {
            records[key] = Presence(id: id, before: try existed(), after: isThere)
            order.append(key)
            counts[table, default: 0] += 1
            if counts[table, default: 0] > Self.limit { tables.insert(table) }
        } else {
            records[key]?.after = isThere
        }
    }

    /// The changes as a batch; nil if nothing of the application's tables has changed.
    func batch(_ id: UInt64, from source: ChangeSource) -> ChangeBatch? {
        let changes = order.compactMap { key -> StoreChange? in
            guard lists(key.table), let record = records[key], record.before || record.after else { return nil }
            let kind: StoreChange.Kind = !record.before ? .inserted : record.after ? .updated : .removed
            return StoreChange(table: key.table, recordID: record.id, kind: kind, source: source)
        }
        if changes.isEmpty && tables.isEmpty { return nil }
        return ChangeBatch(id: id, changes: changes, reloads: .tables(tables))
    }
}

/// Writes through to a store's writer and notes what was changed. A page's rows stay bytes on their way.
final class ChangeRecorder: StoreWriter {
    private let writer: any StoreWriter
    private let detail: ChangeDetail
    private(set) var changes = RecordedChanges()

    init(_ writer: any StoreWriter, _ detail: ChangeDetail) {
        self.writer = writer
        self.detail = detail
    }

    func record(_ id: String, in table: String) throws -> JSON? { try writer.record(id, in: table) }
    func records(matching query: Query) throws -> [JSON] { try writer.records(matching: query) }
    func count(matching query: Query) throws -> Int { try writer.count(matching: query) }

    func put(_ record: JSON, in table: String) throws {
        if notesRecords(of: table), let id = record["id"]?.string { try note(id, in: table, isThere: true) }
        try writer.put(record, in: table)
    }

    func put(_ rows: RowPage.Selection, in table: String) throws {
        if !rows.indices.isEmpty, notesRecords(of: table) {
            for index in rows.indices { try note(rows.page.rows[index].id, in: table, isThere: true) }
        }
        try writer.put(rows, in: table)
    }

    func delete(_ ids: [String], from table: String) throws {
        if !ids.isEmpty, notesRecords(of: table) {
            for id in ids { try note(id, in: table, isThere: false) }
        }
        try writer.delete(ids, from: table)
    }

    func delete(matching query: Query) throws -> Int {
        if notesRecords(of: query.table) {
            let limit = RecordedChanges.limit + 1
            let leaving = Query(query.table, filter: query.filter, top: limit, select: ["id"])
            let ids = try writer.records(matching: leaving).compactMap { $0["id"]?.string }
            for id in ids { try note(id, in: query.table, isThere: false) }
        }
        return try writer.delete(matching: query)
    }

    /// Whether the table's records are to be noted one by one; the table itself is noted if it is not the engine's.
    private func notesRecords(of table: String) -> Bool {
        if table.hasPrefix(SyncTables.prefix) { return false }
        if detail == .tables { changes.note(table: table) }
        return detail == .records && changes.lists(table)
    }

    private func note(_ id: String, in table: String, isThere: Bool) throws {
        try changes.note(id, in: table, isThere: isThere) { try writer.record(id, in: table) != nil }
    }
}
