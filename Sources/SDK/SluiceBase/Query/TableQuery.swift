/// A query of a table's records: the filter, the order, the page and the selected properties.
///
/// ```swift
/// var query = TableQuery("movies")
/// query.filter = try QueryExpression(odata: "year ge 1990 and rating eq 'R'")
/// query.order = [TableQuery.SortKey("title")]
/// query.top = 10
/// ```
public struct TableQuery: Sendable, Hashable {
    /// One key to sort by.
    public struct SortKey: Sendable, Hashable {
        /// The expression to sort by.
        public var expression: QueryExpression
        /// Whether the largest value comes first.
        public var descending: Bool

        /// Sorts by the property of that name.
        public init(_ column: PropertyName, descending: Bool = false) {
            self.init(expression: .column(column), descending: descending)
        }

        /// Sorts by the value of the expression.
        public init(expression: QueryExpression, descending: Bool = false) {
            self.expression = expression
            self.descending = descending
        }

        /// The property's name; nil if the key is not a property alone.
        public var column: PropertyName? {
            if case .column(let name) = expression { name } else { nil }
        }
    }

    /// The table's name.
    public var table: String
    /// The condition on the records; nil means all.
    public var filter: QueryExpression?
    /// The order; records equal in it are sorted by id.
    public var order: [SortKey]
    /// The number of records to skip at the start.
    public var skip: Int
    /// The largest number of records; nil means all.
    public var top: Int?
    /// The selected properties; empty means all.
    public var select: [PropertyName]
    /// Whether to count the matching records, independent of `skip` and `top`.
    public var includesCount: Bool
    /// Whether records marked as deleted are included. A local store holds none.
    public var includesDeleted: Bool
    /// Further parameters for the server, which a local store ignores.
    public var parameters: [Parameter]
    /// The other tables, if paths follow navigation properties and a database runs them.
    package var related: QueryRelatives?

    /// A further parameter for the server.
    public struct Parameter: Sendable, Hashable {
        /// The name; it may not begin with `$`.
        public var name: String
        /// The value, not encoded.
        public var value: String

        /// A parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a query of all records of `table`; the other arguments limit it.
    public init(
        _ table: String, filter: QueryExpression? = nil, order: [SortKey] = [], skip: Int = 0, top: Int? = nil,
        select: [PropertyName] = [], includesCount: Bool = false, includesDeleted: Bool = false,
        parameters: [Parameter] = []
    ) {
        self.table = table
        self.filter = filter
        self.order = order
        self.skip = skip
        self.top = top
        self.select = select
        self.includesCount = includesCount
        self.includesDeleted = includesDeleted
        self.parameters = parameters
    }
}

extension TableQuery {
    /// Returns the query with a further condition: records must match it and the present ones.
    public func `where`(_ condition: TableQuery.Term) -> TableQuery {
        var query = self
        query.filter = filter.map { .binary(.and, $0, condition.expression) } ?? condition.expression
        return query
    }

    /// Returns the query with a further key to sort by, after the present ones.
    public func sorted(by column: PropertyName, descending: Bool = false) -> TableQuery {
        var query = self
        query.order.append(SortKey(column, descending: descending))
        return query
    }

    /// Returns the query without the first `count` of its records, in addition to those skipped already.
    public func skipping(_ count: Int) -> TableQuery {
        var query = self
        let (sum, overflow) = skip.addingReportingOverflow(count)
        query.skip = overflow ? (count < 0 ? .min : .max) : sum
        return query
    }

    /// Returns the query for at most `count` records; the smallest such number counts.
    public func taking(_ count: Int) -> TableQuery {
        var query = self
        query.top = min(top ?? count, count)
        return query
    }

    /// Returns the query that also requests the number of all matching records, with any page size.
    public func includingCount() -> TableQuery {
        var query = self
        query.includesCount = true
        return query
    }

    /// Returns the query that includes records marked as deleted.
    public func includingDeleted() -> TableQuery {
        var query = self
        query.includesDeleted = true
        return query
    }

    /// Returns the query with a further parameter for the server. A name may occur more than once; one that begins with
    /// `$` cannot be sent.
    public func parameter(_ name: String, _ value: String) -> TableQuery {
        var query = self
        query.parameters.append(Parameter(name, value))
        return query
    }

    /// Returns the query for these properties only, in addition to those already selected.
    public func selecting(_ columns: PropertyName...) -> TableQuery {
        var query = self
        query.select += columns
        return query
    }
}
