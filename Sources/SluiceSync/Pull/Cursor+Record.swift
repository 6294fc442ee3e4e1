package import SluiceBase
internal import SluiceWire

extension Cursor {
    /// The table of the store in which cursors are kept.
    package static let schema = TableSchema(
        "sluice_cursors",
        columns: [
            .init("endpoint", .string), .init("user", .string), .init("wire", .string), .init("table", .string),
            .init("name", .string), .init("query", .string), .init("updatedAt", .string), .init("untimed", .boolean),
            .init("grade", .string), .init("token", .string), .init("lastID", .string), .init("key", .integer),
            .init("reconcile", .boolean), .init("heldAll", .boolean), .init("pulls", .integer),
            .init("owed", .json), .init("clock", .json),
            .init("pulledAt", .date),
        ],
        indexes: [["table"]])

    package var record: JSON {
        [
            "id": JSON(owner.id), "endpoint": JSON(owner.endpoint), "user": JSON(owner.user),
            "wire": JSON(owner.wire), "table": JSON(owner.table), "name": JSON(owner.name), "query": JSON(query),
            "updatedAt": position.map { JSON($0.updatedAt) } ?? .null,
            "untimed": JSON(position?.hasUntimed ?? false), "grade": position.map { JSON($0.grade.rawValue) } ?? .null,
            "token": position?.token.map { JSON($0) } ?? .null, "lastID": position?.id.map { JSON($0) } ?? .null,
            "key": JSON(key), "reconcile": JSON(needsReconcile), "heldAll": JSON(heldAll), "pulls": JSON(pulls),
            "owed": toRecheck.isEmpty ? .null : JSON(toRecheck.map { JSON($0) }),
            "clock": position?.clock?.json ?? .null,
            "pulledAt": pulledAt.map { JSON($0.description) } ?? .null,
        ]
    }

    package init?(record: JSON) {
        func text(_ name: String) -> String? { record[name]?.string }
        guard let endpoint = text("endpoint"), let user = text("user"), let wire = text("wire"),
            let table = text("table"), let name = text("name"), let query = text("query")
        else { return nil }
        // A store of before there were grades has times only.
        let grade = text("grade").flatMap(PullGrade.init) ?? .timestamps
        let position = text("updatedAt").map {
            CursorPosition(
                grade: grade, token: text("token"), updatedAt: $0, id: record["lastID"]?.textID,
                hasUntimed: record["untimed"]?.bool ?? false,
                clock: record["clock"].flatMap(ServerClock.init(json:)))
        }
        self.init(
            owner: Owner(endpoint: endpoint, user: user, wire: wire, table: table, name: name), query: query,
            position: position, key: record["key"]?.int ?? 0)
        needsReconcile = record["reconcile"]?.bool ?? false
        heldAll = record["heldAll"]?.bool ?? false
        pulls = record["pulls"]?.int ?? 0
        pulledAt = record["pulledAt"]?.string.flatMap { Timestamp($0) }
        recheckLater(record["owed"]?.elements?.compactMap(\.textID) ?? [])
    }

    /// The cursors of a table, or of them those for which a condition holds.
    package static func all(
        of table: String, where condition: QueryExpression? = nil, in store: any StoreReader
    ) throws -> [Cursor] {
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        let filter = condition.map { QueryExpression.binary(.and, ofTable, $0) } ?? ofTable
        return try store.records(matching: Query(schema.name, filter: filter)).compactMap(Cursor.init(record:))
    }

    /// A key that no cursor has.
    static func nextKey(in store: any StoreReader) throws -> Int64 {
        let newest = Query(schema.name, order: [.init("key", descending: true)], top: 1)
        return try (store.records(matching: newest).first?["key"]?.int ?? 0) + 1
    }
}
