package import SluiceBase

/// The rows of a named query.
///
/// A row stays while a query holds it. A query of a whole table holds all rows, and nothing is noted for it. For any
/// other query, each row sent by the server is noted, by an id of the cursor's key and the row's id. A record made here
/// is noted for no query until a pull brings it, so no query releases it.
package struct Membership {
    /// The sync table of the members. It has no column except the id.
    package static let schema = TableSchema("sluice_members")

    private let store: any StoreWriter
    private let cursor: Cursor
    /// The other cursors of the same server, user and table.
    private let others: [Cursor]

    package init(of cursor: Cursor, in store: any StoreWriter) throws {
        self.store = store
        self.cursor = cursor
        others = try Cursor.all(of: cursor.owner.table, in: store).filter {
            $0.owner != cursor.owner && $0.owner.source == cursor.owner.source
        }
    }

    private static func id(_ key: Int64, _ recordID: RecordID) -> RecordID { "\(key)/\(recordID)" }

    /// Notes that the query holds the rows from now on.
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

    /// Notes that no query holds the rows any more, because they are gone from the server.
    package func forget(_ ids: [RecordID]) throws { try Self.forget(ids, of: [cursor] + others, in: store) }

    /// Notes that none of the queries holds the rows any more.
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

    /// Releases the rows from the query.
    ///
    /// - Returns: the ids that no other query holds.
    package func release(_ ids: [RecordID]) throws -> [RecordID] {
        try store.delete(ids.map { Self.id(cursor.key, $0) }, from: Self.schema.name)
        return try ids.filter { try !Self.isHeld($0, by: others, in: store) }
    }

    /// Releases the ids from those queries that hold them.
    ///
    /// - Returns: the released ids that none of `others` holds.
    package static func release(
        _ ids: [RecordID], of cursors: [Cursor], besides others: [Cursor], in store: any StoreWriter
    ) throws -> [RecordID] {
        let held = try ids.filter { recordID in try cursors.contains { try holds($0, recordID, in: store) } }
        for cursor in cursors { try store.delete(held.map { id(cursor.key, $0) }, from: schema.name) }
        return try held.filter { try !isHeld($0, by: others, in: store) }
    }

    /// Moves the rows of one query to another.
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

    /// Renames a record in all queries that hold it.
    static func rename(_ old: RecordID, to new: RecordID, in table: String, _ store: any StoreWriter) throws {
        for cursor in try Cursor.all(of: table, in: store) where !cursor.isOfAll {
            let former = id(cursor.key, old)
            guard try store.record(former, in: schema.name) != nil else { continue }
            try store.delete([former], from: schema.name)
            try store.put(["id": JSON(id(cursor.key, new))], in: schema.name)
        }
    }

    /// Returns the ids that no named query holds.
    static func unheld(_ ids: [RecordID], of table: String, in store: any StoreReader) throws -> [RecordID] {
        if ids.isEmpty { return [] }
        let cursors = try Cursor.all(of: table, in: store)
        return try ids.filter { try !isHeld($0, by: cursors, in: store) }
    }

    private static func isHeld(_ recordID: RecordID, by cursors: [Cursor], in store: any StoreReader) throws -> Bool {
        try cursors.contains { try $0.isOfAll || store.record(id($0.key, recordID), in: schema.name) != nil }
    }

    /// Forgets all rows of the query.
    func forgetAll() throws {
        _ = try store.delete(matching: TableQuery(Self.schema.name, filter: Self.range(cursor.key)))
    }

    /// Returns the ids held by a query of part of a table, in the order of their bytes.
    package static func ids(heldBy cursor: Cursor, after last: RecordID?, top: Int, in store: any StoreReader) throws
        -> [RecordID]
    {
        var query = TableQuery(schema.name, filter: range(cursor.key, after: last), order: [.init("id")], top: top)
        query.select = ["id"]
        let prefix = "\(cursor.key)/"
        return try store.records(matching: query).compactMap { record in
            record["id"]?.string.map { .string(String($0.unicodeScalars.dropFirst(prefix.unicodeScalars.count))) }
        }
    }

    /// Returns the range of ids from `key/` up to but excluding `key0`: `0` is the character after the slash.
    private static func range(_ key: Int64, after last: RecordID? = nil) -> QueryExpression {
        let start = QueryExpression.binary(
            last == nil ? .ge : .gt, .column("id"), .literal(.string("\(key)/\(last ?? "")")))
        return .binary(.and, start, .binary(.lt, .column("id"), .literal(.string("\(key)0"))))
    }
}

/// Prevents a pull from emptying a table without permission: a server that lost its data, or a forged answer, must not
/// delete the local copy.
struct RemovalGuard: Sendable {
    package let options: PullOptions
    package let isAllowed: Bool
    /// The number of rows removed by the pull so far.
    package var removed = 0

    package init(_ options: PullOptions, isAllowed: Bool) {
        self.options = options
        self.isAllowed = isAllowed
    }

    /// Allows the removal of more rows of the table, or throws.
    ///
    /// - Throws: ``SluiceError`` of code `removalsHeld`.
    package func check(_ count: Int, of table: String, in store: any StoreReader) throws {
        let total = removed + count
        guard !isAllowed, total > options.maximumRemovedRows else { return }
        let rows = try store.count(matching: TableQuery(table)) + removed
        guard total * 100 > rows * options.maximumRemovedPercent else { return }
        throw SluiceError(
            .removalsHeld,
            "the server would have \(total.grouped) of \(rows.counted("row")) removed here, more than \(options.maximumRemovedPercent) %; "
                + "allow it if that is right", table: table)
    }
}
