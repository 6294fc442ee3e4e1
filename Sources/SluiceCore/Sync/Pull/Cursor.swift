/// How far a named query has been pulled.
///
/// A cursor belongs to one server, user, wire, table and query name, and remembers the query's text: another server or
/// user never inherits it, and a query that has changed starts afresh.
package struct Cursor: Sendable, Hashable {
    /// Whose cursor it is.
    package struct Owner: Sendable, Hashable {
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

        /// The owner as a record id: a JSON array, so that no part can run into the next.
        package var id: String {
            JSON([endpoint, user, wire, table, name].map { JSON($0) }).description
        }
    }

    package var owner: Owner
    /// The query's filter, as OData text.
    package var query: String
    package var position: CursorPosition

    package init(owner: Owner, query: String, position: CursorPosition) {
        self.owner = owner
        self.query = query
        self.position = position
    }

    /// The table of the store in which cursors are kept.
    package static let schema = TableSchema(
        "sluice_cursors",
        columns: [
            .init("endpoint", .string), .init("user", .string), .init("wire", .string), .init("table", .string),
            .init("name", .string), .init("query", .string), .init("updatedAt", .string), .init("untimed", .boolean),
        ],
        indexes: [["table"]])

    package var record: JSON {
        [
            "id": JSON(owner.id), "endpoint": JSON(owner.endpoint), "user": JSON(owner.user),
            "wire": JSON(owner.wire), "table": JSON(owner.table), "name": JSON(owner.name), "query": JSON(query),
            "updatedAt": JSON(position.updatedAt), "untimed": JSON(position.hasUntimed),
        ]
    }

    package init?(record: JSON) {
        func text(_ name: String) -> String? { record[name]?.string }
        guard let endpoint = text("endpoint"), let user = text("user"), let wire = text("wire"),
            let table = text("table"), let name = text("name"), let query = text("query"),
            let updatedAt = text("updatedAt")
        else { return nil }
        self.init(
            owner: Owner(endpoint: endpoint, user: user, wire: wire, table: table, name: name), query: query,
            position: CursorPosition(updatedAt: updatedAt, hasUntimed: record["untimed"]?.bool ?? false))
    }
}

/// How far a pull has come.
package struct CursorPosition: Sendable, Hashable {
    /// The `updatedAt` up to which all is here, as the server wrote it.
    package var updatedAt: String
    /// Whether there are rows without a time, which have to be asked for by themselves.
    package var hasUntimed: Bool

    package init(updatedAt: String, hasUntimed: Bool = false) {
        self.updatedAt = updatedAt
        self.hasUntimed = hasUntimed
    }
}
