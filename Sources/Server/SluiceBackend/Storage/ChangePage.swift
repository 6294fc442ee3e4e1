internal import SluiceCore

/// A page of a table's changes.
struct ChangePage: Sendable {
    /// The current state of the changed records that match.
    var records: [JSON] = []
    /// The id, version and state of the changed records that no longer match.
    var gone: [JSON] = []
    /// The last change of the page: the next one begins after it.
    var position: Timestamp
    /// The number of changes from this page on; nil if it was not requested.
    var count: Int?
    /// Whether no change comes after the page.
    var isLast = true
}

/// The changes of a table that one request reads.
struct ChangeQuery: Sendable {
    /// The condition on the records: the client's filter within the request's scope.
    var about: QueryExpression?
    /// The condition on the user's records, inside the table's view or not.
    var owned: QueryExpression?
    /// The table's view.
    var view: QueryExpression?
    /// The change after which the page begins.
    var position: Timestamp
    /// The latest change at the beginning of the initial run. A record that did not match then and has not changed
    /// since was never sent, so it is not reported as gone.
    var base: Timestamp
    /// The bounds of the page.
    var size: PageSize
    var includesCount = false

    /// The condition on the page's changes: a range of times, and of these the records that match or may have matched.
    var filter: QueryExpression? {
        let known = max(position, base)
        // A record that left the view before the client's last read was invisible then: its id must not be revealed.
        let couldBeSeen = view.map { QueryExpression.binary(.or, $0, .later(SystemColumn.left, than: known)) }
        let wasKnown = QueryExpression.all(.later(SystemColumn.updatedAt, than: known), couldBeSeen)
        let told = about.map { about in QueryExpression.binary(.or, about, wasKnown ?? .literal(.bool(true))) }
        return .all(after, owned, told)
    }

    /// The condition on the page's records that match now.
    var kept: QueryExpression? { .all(owned, about) }

    private var after: QueryExpression { .later(SystemColumn.updatedAt, than: position) }
}

extension BackendTable {
    /// Returns the next page of changes, in the order of their commits. Each record occurs once, in its current state;
    /// a change during the paging brings it again on a later page.
    ///
    /// - Parameter latest: the table's latest change.
    func changes(
        _ query: ChangeQuery, latest: Timestamp, _ connection: any StorageConnection
    ) throws -> ChangePage {
        let filter = query.filter
        let asked = TableQuery(
            name, filter: filter, order: [.init(SystemColumn.updatedAt)], top: query.size.records)
        let found = try self.page(asked, query.size, connection)
        let rows = found.records
        let last = rows.last?[SystemColumn.updatedAt]?.string.flatMap { Timestamp($0) }
        let isLast = !found.hasMore && rows.count < query.size.records
        var page = ChangePage(position: isLast ? latest : last ?? query.position)
        page.isLast = isLast
        if query.includesCount { page.count = try count(matching: TableQuery(name, filter: filter), connection) }
        let kept = try TableQuery.Evaluator(TableQuery(name, filter: query.kept), schema: stored(connection).schema)
        for row in rows {
            if kept.matches(row) { page.records.append(row) } else { page.gone.append(row) }
        }
        return page
    }
}

extension QueryExpression {
    /// Returns the condition that a column's time is later than another.
    static func later(_ column: PropertyName, than time: Timestamp) -> QueryExpression {
        .binary(.gt, .column(column), .literal(.date(time)))
    }

    /// Joins the given conditions with `and`; nil for none.
    static func all(_ conditions: QueryExpression?...) -> QueryExpression? {
        conditions.compactMap { $0 }.reduce(nil) { all, next in all.map { .binary(.and, $0, next) } ?? next }
    }
}
