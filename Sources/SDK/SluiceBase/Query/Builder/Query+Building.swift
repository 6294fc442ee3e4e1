extension Query {
    /// The query with a further condition: records must match it and those given before.
    public func `where`(_ condition: QueryTerm) -> Query {
        var query = self
        query.filter = filter.map { .binary(.and, $0, condition.expression) } ?? condition.expression
        return query
    }

    /// The query with a further key to sort by, after those given before.
    public func sorted(by column: PropertyName, descending: Bool = false) -> Query {
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

    /// The query with the number of all records that match asked for too, whatever the page is.
    public func includingCount() -> Query {
        var query = self
        query.includesCount = true
        return query
    }

    /// The query for records that are marked as deleted too.
    public func includingDeleted() -> Query {
        var query = self
        query.includesDeleted = true
        return query
    }

    /// The query with a further parameter for the server. A name may come more than once; one that begins with `$`
    /// cannot be sent.
    public func parameter(_ name: String, _ value: String) -> Query {
        var query = self
        query.parameters.append(Parameter(name, value))
        return query
    }

    /// The query for these properties only, besides those given before.
    public func selecting(_ columns: PropertyName...) -> Query {
        var query = self
        query.select += columns
        return query
    }
}
