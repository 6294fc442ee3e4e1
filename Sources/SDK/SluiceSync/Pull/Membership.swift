package import SluiceBase

/// Which rows a named query holds.
///
/// A row stays while a query holds it. A query of a whole table holds all of its rows, and nothing is noted for it; for
/// any other each row is noted that the server sent for it, by an id made of the cursor's key and the row's id. A
/// record made here is noted by no query until a pull brings it, so none lets it go.
package struct Membership {
    /// The table of the store in which members are noted. It has no column but the id.
    package static let schema = TableSchema("sluice_members")

    private let store: any StoreWriter
    private let cursor: Cursor
    /// The cursors of the same server, user and table, this one left out: those that hold rows now.
    private let others: [Cursor]

    package init(of cursor: Cursor, in store: any StoreWriter) throws {
        self.store = store
        self.cursor = cursor
        others = try Cursor.all(of: cursor.owner.table, in: store).filter {
            $0.owner != cursor.owner && $0.owner.source == cursor.owner.source
        }
    }

    private static func id(_ key: Int64, _ recordID: RecordID) -> RecordID { "\(key)/\(recordID)" }

    /// The query holds those rows from now on.
    package func claim(_ ids: [RecordID]) throws {
        if cursor.isOfAll || ids.isEmpty { return }
        // As a page, so that the store binds the ids without a document for each.
        var bytes = Array("[".utf8)
        for id in ids {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes += "{\"id\":\"\(cursor.key)/".utf8
            bytes += JSON(id).bytes().dropFirst()
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
        let page = try RowPage(bytes: bytes)
        try store.put(RowPage.Selection(page, Array(page.rows.indices)), in: Self.schema.name)
    }

    /// The rows are gone from the server: no query holds them any more.
    package func forget(_ ids: [RecordID]) throws { try Self.forget(ids, of: [cursor] + others, in: store) }

    /// The rows are gone: none of the queries holds them any more.
    static func forget(_ ids: [RecordID], of cursors: [Cursor], in store: any StoreWriter) throws {
        if ids.isEmpty { return }
        for holder in cursors where !holder.isOfAll {
            try store.delete(ids.map { id(holder.key, $0) }, from: schema.name)
        }
    }

    /// Whether the query of that cursor holds a row.
    static func holds(_ cursor: Cursor, _ recordID: RecordID, in store: any StoreReader) throws -> Bool {
        if cursor.isOfAll || cursor.heldAll { return true }
        return try store.record(id(cursor.key, recordID), in: schema.name) != nil
    }

    /// The query lets those rows go.
    ///
    /// - Returns: the ids that no other query holds.
    package func release(_ ids: [RecordID]) throws -> [RecordID] {
        try store.delete(ids.map { Self.id(cursor.key, $0) }, from: Self.schema.name)
        return try ids.filter { try !Self.isHeld($0, by: others, in: store) }
    }

    /// Those of the ids that the queries hold are let go by them.
    ///
    /// - Returns: the ids of those that none of `others` holds.
    package static func release(
        _ ids: [RecordID], of cursors: [Cursor], besides others: [Cursor], in store: any StoreWriter
    ) throws -> [RecordID] {
        let held = try ids.filter { recordID in try cursors.contains { try holds($0, recordID, in: store) } }
        for cursor in cursors { try store.delete(held.map { id(cursor.key, $0) }, from: schema.name) }
        return try held.filter { try !isHeld($0, by: others, in: store) }
    }

    /// What one query holds is held by another one from now on.
    static func move(from former: Cursor, to cursor: Cursor, in store: any StoreWriter) throws {
        let membership = try Membership(of: cursor, in: store)
        var last: RecordID?
        while true {
            let ids = try ids(heldBy: former, after: last, top: 500, in: store)
            guard let end = ids.last else { break }
            last = end
            try membership.claim(ids)
        }
        try Membership(of: former, in: store).forgetAll()
    }

    /// Has the queries that hold a record hold it under its new id.
    static func rename(_ old: RecordID, to new: RecordID, in table: String, _ store: any StoreWriter) throws {
        for cursor in try Cursor.all(of: table, in: store) where !cursor.isOfAll {
            let former = id(cursor.key, old)
            guard try store.record(former, in: schema.name) != nil else { continue }
            try store.delete([former], from: schema.name)
            try store.put(["id": JSON(id(cursor.key, new))], in: schema.name)
        }
    }

    /// Those of the ids that no named query holds.
    static func unheld(_ ids: [RecordID], of table: String, in store: any StoreReader) throws -> [RecordID] {
        if ids.isEmpty { return [] }
        let cursors = try Cursor.all(of: table, in: store)
        return try ids.filter { try !isHeld($0, by: cursors, in: store) }
    }

    private static func isHeld(_ recordID: RecordID, by cursors: [Cursor], in store: any StoreReader) throws -> Bool {
        try cursors.contains { try $0.isOfAll || store.record(id($0.key, recordID), in: schema.name) != nil }
    }

    /// Forgets all that the query holds.
    func forgetAll() throws {
        _ = try store.delete(matching: Query(Self.schema.name, filter: Self.range(cursor.key)))
    }

    /// The ids that a query of a part of a table holds, in the order of their bytes.
    package static func ids(heldBy cursor: Cursor, after last: RecordID?, top: Int, in store: any StoreReader) throws
        -> [RecordID]
    {
        var query = Query(schema.name, filter: range(cursor.key, after: last), order: [.init("id")], top: top)
        query.select = ["id"]
        let prefix = "\(cursor.key)/"
        return try store.records(matching: query).compactMap { record in
            record["id"]?.string.map { .string(String($0.unicodeScalars.dropFirst(prefix.unicodeScalars.count))) }
        }
    }

    /// The ids from `key/` up to `key0`, without that one: `0` is the character after the slash.
    private static func range(_ key: Int64, after last: RecordID? = nil) -> QueryExpression {
        let start = QueryExpression.binary(
            last == nil ? .ge : .gt, .column("id"), .literal(.string("\(key)/\(last ?? "")")))
        return .binary(.and, start, .binary(.lt, .column("id"), .literal(.string("\(key)0"))))
    }
}
