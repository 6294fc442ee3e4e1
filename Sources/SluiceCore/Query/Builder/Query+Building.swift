extension Query {
    /// The query with a further condition: records must match it and those given before.
    public func `where`(_ condition: QueryTerm) -> Query {
        var query = self
        query.filter = filter.map { .binary(.and, $0, condition.expression) } ?? condition.expression
        return query
    }

    /// The query with a further key to sort by, behind those given before.
    public func sorted(by column: String, descending: Bool = false) -> Query {
        var query = self
        query.order.append(SortKey(column, descending: descending))
        return query
    }

    /// The query without the first `count` of its records, besides those left out before.
    public func skipping(_ count: Int) -> Query {
        var query = self
        let (sum, overflow) = skip.addingReportingOverflow(count)
        query.skip = overflow ? (count < 0 ? .min : .max) : sum
        return query
    }

    /// The query for `count` records at the most; the least such number counts.
    public func taking(_ count: Int) -> Query {
        var query = self
        query.top = min(top ?? count, count)
        return query
    }

    /// The query for these properties only, besides those given before.
    public func selecting(_ columns: String...) -> Query {
        var query = self
        query.select += columns
        return query
    }
}
