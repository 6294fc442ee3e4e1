internal import SluiceCore

/// A page of what changed in a table.
struct ChangePage: Sendable {
    /// The records that the run is about, as they are now.
    var records: [JSON] = []
    /// The id, version and state of those that it is about no more.
    var gone: [JSON] = []
    /// The last change of the page: the next one begins after it.
    var position: Timestamp
    /// How many changes there are from this page on; nil where it was not asked for.
    var count: Int?
    /// Whether no change comes behind the page.
    var isLast = true
}

/// Which changes of a table somebody is told of.
struct ChangeQuery: Sendable {
    /// The records that the run is about: the client's filter within what the user may see.
    var about: QueryExpression?
    /// The user's records, whether the table's view shows them or not.
    var owned: QueryExpression?
    /// The table's view.
    var view: QueryExpression?
    /// The change after which the page begins.
    var position: Timestamp
    /// The latest change at the beginning of the run that sent all. What was no part of it then and has not changed
    /// since was never sent, so nobody is told that it is gone.
    var base: Timestamp
    /// The bounds of the page.
    var size: PageSize
    var includesCount = false

    /// What is told: a range of the index of times, and of these what the run is about or was about.
    var filter: QueryExpression? {
        let known = max(position, base)
        // What left the view earlier could not be seen when the client last heard of the table: its id is no news.
        let couldBeSeen = view.map { QueryExpression.binary(.or, $0, .later(SystemColumn.left, than: known)) }
        let wasKnown = QueryExpression.all(.later(SystemColumn.updatedAt, than: known), couldBeSeen)
        let told = about.map { about in QueryExpression.binary(.or, about, wasKnown ?? .literal(.bool(true))) }
        return .all(after, owned, told)
    }

    /// Of those, the records that the run is about.
    var kept: QueryExpression? { .all(owned, about) }

    private var after: QueryExpression { .later(SystemColumn.updatedAt, than: position) }
}

extension BackendTable {
    /// The next page of changes, in the order in which they were committed. Each record is in it once, as it is now:
    /// what changes again while somebody pages comes again after.
    ///
    /// - Parameter latest: the table's latest change.
    func changes(
        _ query: ChangeQuery, latest: Timestamp, _ connection: any StorageConnection
    ) throws -> ChangePage {
        let filter = query.filter
        let asked = Query(
            name, filter: filter, order: [.init(SystemColumn.updatedAt)], top: query.size.records)
        let found = try self.page(asked, query.size, connection)
        let rows = found.records
        let last = rows.last?[SystemColumn.updatedAt]?.string.flatMap { Timestamp($0) }
        let isLast = !found.hasMore && rows.count < query.size.records
        var page = ChangePage(position: isLast ? latest : last ?? query.position)
        page.isLast = isLast
        if query.includesCount { page.count = try count(matching: Query(name, filter: filter), connection) }
        let kept = try QueryEvaluator(Query(name, filter: query.kept), schema: stored(connection).schema)
        for row in rows {
            if kept.matches(row) { page.records.append(row) } else { page.gone.append(row) }
        }
        return page
    }
}

extension QueryExpression {
    /// Whether a column's time is later than another.
    static func later(_ column: PropertyName, than time: Timestamp) -> QueryExpression {
        .binary(.gt, .column(column), .literal(.date(time)))
    }

    /// Those of the conditions that there are, together; nil for none.
    static func all(_ conditions: QueryExpression?...) -> QueryExpression? {
        conditions.compactMap { $0 }.reduce(nil) { all, next in all.map { .binary(.and, $0, next) } ?? next }
    }
}
