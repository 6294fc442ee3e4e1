extension RowPage {
    /// Which members of a row the engine reads.
    package struct SystemColumns: Sendable, Hashable {
        /// The name of the member that identifies a row.
        package var id: PropertyName
        /// The name of the member that holds the server's version.
        package var version: PropertyName
        /// the name of the member that has the time when the row was last changed.
        package var updatedAt: PropertyName
        /// The name of the member that is `true` in a tombstone.
        package var deleted: PropertyName

        package init(
            id: PropertyName = "id", version: PropertyName = "version", updatedAt: PropertyName = "updatedAt",
            deleted: PropertyName = "deleted"
        ) {
            self.id = id
            self.version = version
            self.updatedAt = updatedAt
            self.deleted = deleted
        }
    }

    /// Where the rows stand in an answer. A bare array of rows is read with every shape; an answer that is an object
    /// holds them under a name.
    package struct Shape: Sendable, Hashable {
        /// The names under which the rows may stand; if several do, the first of this list counts.
        package var rows: [String]
        /// The name of the member with the number of all rows.
        package var count: String
        /// The name of the member with the address of the next page.
        package var nextLink: String
        /// The names of members that say that the rows are not all.
        static let errors = ["error", "errors"]

        package init(rows: [String], count: String = "count", nextLink: String = "nextLink") {
            self.rows = rows
            self.count = count
            self.nextLink = nextLink
        }

        /// Any of the two below: the answer shows which it is.
        package static let tables = Shape(rows: ["items", "results"])
        /// Mobile Services and Mobile Apps: `{"results": […], "count": N}` where a count was asked for.
        package static let results = Shape(rows: ["results"])
        /// Datasync: `{"items": […], "count": N, "nextLink": "…"}`.
        package static let items = Shape(rows: ["items"])
    }
}
