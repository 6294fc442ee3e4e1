package import SluiceBase
internal import SluiceWire

/// The progress of a named query's pulls, and the key of its rows.
///
/// A cursor belongs to one server, user, wire, table and query name, and remembers the query's text: another server or
/// user never inherits it, and a changed query starts again from the beginning.
package struct Cursor: Sendable, Hashable {
    /// The owner of a cursor. Names are compared by their bytes, as in the id.
    struct Owner: Sendable, Hashable {
        package var endpoint: String
        package var user: String
        package var wire: String
        package var table: String
        package var name: String

        package init(endpoint: String, user: String, wire: String, table: String, name: String) {
            self.endpoint = endpoint
            self.user = user
            self.wire = wire
            self.table = table
            self.name = name
        }

        private var texts: [String] { [endpoint, user, wire, table, name] }

        package static func == (left: Owner, right: Owner) -> Bool {
            zip(left.texts, right.texts).allSatisfy { $0.hasSameBytes(as: $1) }
        }

        package func hash(into hasher: inout Hasher) { for text in texts { text.hashBytes(into: &hasher) } }

        /// The owner as a record id: a JSON array, so that no part can run into the next.
        package var id: RecordID {
            RecordID(JSON(texts.map { JSON($0) }).description)
        }
    }

    var owner: Owner
    /// The query's filter and further parameters, as OData text; empty for all rows of the table.
    package var query: String
    /// The position of the pull; nil where it has to start from the beginning.
    package var position: CursorPosition?
    /// The number under which the query's rows are noted.
    package var key: Int64
    /// Whether rows that have left the query may still be held although no page will report them: a reconcile has to
    /// find them.
    package var needsReconcile = false
    /// The time of the last answer that could not report all changes, or of a list that missed rows; nil for none, or if
    /// a reconcile has followed that a copy with the same lag could not have answered.
    var gapAt: Timestamp?
    /// Whether the query held all rows of the table before it was changed.
    var heldAll = false
    /// The shape of the records that its pulls store: see ``RecordShape``.
    var shape: String?
    /// Whether rows in a former shape may be held: no pull has ended since.
    var isReshaping = false
    /// The time at which a page was last stored under it; nil if unknown.
    package var pulledAt: Timestamp?
    /// The number of pulls since the last reconcile.
    package var pulls: Int64 = 0
    /// Rows that the query may have lost while changes of them waited, or while they changed here. The server has
    /// reported this once and will not again. Each is requested by its id at the end of the first pull without waiting
    /// changes of it. Rows that were removed without a tombstone are requested once more by a pull that brings rows.
    private(set) var toRecheck: [RecordID] = []
    /// Rows that a comparison has brought or removed. They are rechecked once more when no copy of the data that lags and
    /// answered the comparison can answer that, too.
    private(set) var compared: [RecordID] = []
    /// The time of the last such comparison.
    private var comparedAt: Timestamp?

    init(owner: Owner, query: String, position: CursorPosition?, key: Int64 = 0) {
        self.owner = owner
        self.query = query
        self.position = position
        self.key = key
    }

    /// Adds rows to recheck.
    mutating func recheckLater(_ ids: some Sequence<RecordID>) {
        var known = Set(toRecheck)
        for id in ids where known.insert(id).inserted { toRecheck.append(id) }
    }

    /// Notes the rows that a comparison has changed.
    mutating func recheckCompared(_ ids: some Sequence<RecordID>, at now: Timestamp) {
        var known = Set(compared)
        for id in ids where compared.count < Self.mostCompared && known.insert(id).inserted { compared.append(id) }
        if !compared.isEmpty { comparedAt = now }
    }

    private static let mostCompared = 10_000

    /// Adds the compared rows to those to recheck once their time has come, and returns them.
    mutating func takeCompared(at now: Timestamp) -> Set<RecordID> {
        guard let comparedAt, !ReplacedVersions.isWithinLag(comparedAt, of: now) else { return [] }
        let taken = compared
        recheckLater(taken)
        (compared, self.comparedAt) = ([], nil)
        return Set(taken)
    }

    /// Whether a comparison has to follow at that time.
    func needsComparison(at now: Timestamp) -> Bool {
        needsReconcile || gapAt.map { !ReplacedVersions.isWithinLag($0, of: now) } ?? false
    }

    /// Removes and returns the rows to recheck.
    ///
    /// - Parameter waiting: the rows with waiting changes, which stay.
    /// - Returns: the other rows.
    mutating func takeRechecks(_ waiting: Set<RecordID> = []) -> [RecordID] {
        let taken = toRecheck.filter { !waiting.contains($0) }
        toRecheck.removeAll { !waiting.contains($0) }
        return taken
    }

    /// Whether the query covers the whole table: then it holds every row, and none is noted.
    var isOfAll: Bool { query.isEmpty }

    /// Returns the filter and parameters of a query as text.
    package static func text(of query: TableQuery, _ style: ODataOptions.Style) -> String {
        let filter = query.filter?.odata(style) ?? ""
        if query.parameters.isEmpty { return filter }
        let parameters = query.parameters.map {
            "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))"
        }
        return "\(filter)?\(parameters.joined(separator: "&"))"
    }
}

extension Cursor {
    /// The sync table of the cursors.
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
        let record: JSON = [
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
        // Few cursors have these, so they are no columns.
        var whole = record
        if let shape { whole["shape"] = JSON(shape) }
        if isReshaping { whole["reshaping"] = true }
        if let gapAt { whole["gapAt"] = JSON(gapAt.description) }
        if let comparedAt {
            whole["comparedAt"] = JSON(comparedAt.description)
            whole["compared"] = JSON(compared.map { JSON($0) })
        }
        return whole
    }

    package init?(record: JSON) {
        func text(_ name: String) -> String? { record[name]?.string }
        guard let endpoint = text("endpoint"), let user = text("user"), let wire = text("wire"),
            let table = text("table"), let name = text("name"), let query = text("query")
        else { return nil }
        // Stores written before grades existed have times only.
        let grade = text("grade").flatMap(PullResult.Grade.init) ?? .timestamps
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
        shape = record["shape"]?.string
        isReshaping = record["reshaping"]?.bool ?? false
        gapAt = record["gapAt"]?.string.flatMap { Timestamp($0) }
        comparedAt = record["comparedAt"]?.string.flatMap { Timestamp($0) }
        compared = record["compared"]?.elements?.compactMap(\.textID) ?? []
        heldAll = record["heldAll"]?.bool ?? false
        pulls = record["pulls"]?.int ?? 0
        pulledAt = record["pulledAt"]?.string.flatMap { Timestamp($0) }
        recheckLater(record["owed"]?.elements?.compactMap(\.textID) ?? [])
    }

    /// Returns the cursors of a table, or those that match a condition.
    package static func all(
        of table: String, where condition: QueryExpression? = nil, in store: any StoreReader
    ) throws -> [Cursor] {
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        let filter = condition.map { QueryExpression.binary(.and, ofTable, $0) } ?? ofTable
        return try store.records(matching: TableQuery(schema.name, filter: filter)).compactMap(Cursor.init(record:))
    }

    /// Returns an unused key.
    static func nextKey(in store: any StoreReader) throws -> Int64 {
        let newest = TableQuery(schema.name, order: [.init("key", descending: true)], top: 1)
        return try (store.records(matching: newest).first?["key"]?.int ?? 0) + 1
    }
}

/// The source of rows: a server as seen by one user. Names are compared by their bytes.
struct RowSource: Sendable, Hashable {
    package var endpoint: String
    package var user: String

    package init(endpoint: String, user: String) {
        self.endpoint = endpoint
        self.user = user
    }

    package static func == (left: RowSource, right: RowSource) -> Bool {
        left.user.hasSameBytes(as: right.user) && left.endpoint.hasSameBytes(as: right.endpoint)
    }

    package func hash(into hasher: inout Hasher) { for text in [endpoint, user] { text.hashBytes(into: &hasher) } }
}

extension Cursor.Owner {
    package var source: RowSource { RowSource(endpoint: endpoint, user: user) }

    /// The cursor's owner in a prefilled store: the same query, without server and user.
    var ofNobody: Cursor.Owner {
        var owner = self
        (owner.endpoint, owner.user) = ("", "")
        return owner
    }

    /// Whether the other owner is the same query of the same server and user, by another wire.
    func isSameByOtherWire(_ other: Cursor.Owner) -> Bool {
        var same = other
        same.wire = wire
        return self == same && self != other
    }
}

extension Cursor {
    /// Makes the query start from the beginning. The server then does not report rows that left before, so a reconcile
    /// has to find them.
    package mutating func restart() {
        position = nil
        needsReconcile = true
    }

    /// Whether it came with a prefilled store and has not been used with a server yet.
    var isOfNobody: Bool { owner == owner.ofNobody }

    /// Returns the cursor as owned by the first user to pull or push, who continues from the position of the prefilled
    /// store.
    func adopted(by source: RowSource) -> Cursor {
        guard isOfNobody else { return self }
        var adopted = self
        (adopted.owner.endpoint, adopted.owner.user) = (source.endpoint, source.user)
        return adopted
    }

    /// Restarts the queries of a table that belong to other servers or users. This source is about to replace or remove
    /// their rows, and their servers would not send these again. Cursors of a prefilled store are adopted by this
    /// source.
    static func restartOthers(
        than source: RowSource, of table: String, in store: any StoreWriter
    ) throws {
        let isOther = QueryExpression.binary(
            .or, .binary(.ne, .column("endpoint"), .literal(.string(source.endpoint))),
            .binary(.ne, .column("user"), .literal(.string(source.user))))
        for var cursor in try all(of: table, where: isOther, in: store) where cursor.isAfter(source) {
            if cursor.isOfNobody {
                try store.delete([cursor.owner.id], from: schema.name)
                cursor = cursor.adopted(by: source)
                guard try store.record(cursor.owner.id, in: schema.name) == nil else { continue }
            } else {
                cursor.restart()
            }
            try store.put(cursor.record, in: schema.name)
        }
    }

    /// Whether the query has to restart when rows of that source are stored.
    func isAfter(_ source: RowSource) -> Bool {
        owner.source != source && !(position == nil && needsReconcile)
    }

    /// Whether another user of the server has pulled the table, and so left rows here.
    ///
    /// - Parameter orWasRestarted: whether a query counts that has to start from the beginning.
    func isOfOtherUser(than source: RowSource, orWasRestarted: Bool) -> Bool {
        owner.endpoint.hasSameBytes(as: source.endpoint) && owner.source != source
            && (position != nil || orWasRestarted && needsReconcile)
    }

    /// Takes over the rows of the same query by another wire, and deletes that cursor. All these rows are held until a
    /// pull of the whole query has ended with a reconcile, which removes rows no longer in it.
    mutating func takeOver(_ former: Cursor, in store: any StoreWriter) throws {
        heldAll = heldAll || former.isOfAll || former.heldAll
        recheckLater(former.toRecheck)
        restart()
        if key == 0 {
            key = former.key
        } else if former.key != 0 {
            try Membership.move(from: former, to: self, in: store)
        }
        try store.delete([former.owner.id], from: Self.schema.name)
    }
}
