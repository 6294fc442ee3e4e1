package import SluiceBase
internal import SluiceWire

/// How far a named query has been pulled, and which rows it holds.
///
/// A cursor belongs to one server, user, wire, table and query name, and remembers the query's text: another server or
/// user never inherits it, and a query that has changed starts afresh.
package struct Cursor: Sendable, Hashable {
    /// Whose cursor it is. Names are compared by their bytes, as in the id.
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
    /// What the query asks for, as OData text: its filter and its further parameters; empty for all rows of the table.
    package var query: String
    /// How far the pull has come; nil where it has to start afresh.
    package var position: CursorPosition?
    /// The number under which the rows that the query holds are noted.
    package var key: Int64
    /// Whether rows may be held that the query no longer has and that no page will report: a reconcile has to find
    /// them.
    package var needsReconcile = false
    /// Whether the query held all rows of the table before it was changed.
    var heldAll = false
    /// When a page was last stored under it; nil where that was not noted.
    package var pulledAt: Timestamp?
    /// How many pulls have ended since the last reconcile.
    package var pulls: Int64 = 0
    /// Rows that the query may have lost while changes of theirs waited, or while they changed here: the server has
    /// told or shown so, and will not again. Each is asked for by its id at the end of the first pull at which none
    /// waits.
    private(set) var toRecheck: [RecordID] = []

    init(owner: Owner, query: String, position: CursorPosition?, key: Int64 = 0) {
        self.owner = owner
        self.query = query
        self.position = position
        self.key = key
    }

    /// Adds rows to those that have to be looked at again.
    mutating func recheckLater(_ ids: [RecordID]) {
        var known = Set(toRecheck)
        for id in ids where known.insert(id).inserted { toRecheck.append(id) }
    }

    /// Takes the rows that have to be looked at again, to look at them.
    ///
    /// - Parameter waiting: those that have to wait still.
    /// - Returns: the others.
    mutating func takeRechecks(_ waiting: Set<RecordID> = []) -> [RecordID] {
        let taken = toRecheck.filter { !waiting.contains($0) }
        toRecheck.removeAll { !waiting.contains($0) }
        return taken
    }

    /// Whether the query is of the whole table: then it holds every row, and none is noted.
    var isOfAll: Bool { query.isEmpty }

    /// The text of a query.
    package static func text(of query: Query, _ style: ODataStyle) -> String {
        let filter = query.filter?.odata(style) ?? ""
        if query.parameters.isEmpty { return filter }
        let parameters = query.parameters.map {
            "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))"
        }
        return "\(filter)?\(parameters.joined(separator: "&"))"
    }
}
