extension Query {
    /// Returns the query with a further condition: records must match it and the present ones.
    public func `where`(_ condition: QueryTerm) -> Query {
        var query = self
        query.filter = filter.map { .binary(.and, $0, condition.expression) } ?? condition.expression
        return query
    }

    /// Returns the query with a further key to sort by, after the present ones.
    public func sorted(by column: PropertyName, descending: Bool = false) -> Query {
        var query = self
        query.order.append(SortKey(column, descending: descending))
        return query
    }

    /// Returns the query without the first `count` of its records, in addition to those skipped already.
    public func skipping(_ count: Int) -> Query {
        var query = self
        let (sum, overflow) = skip.addingReportingOverflow(count)
        query.skip = overflow ? (count < 0 ? .min : .max) : sum
        return query
    }

    /// Returns the query for at most `count` records; the smallest such number counts.
    public func taking(_ count: Int) -> Query {
        var query = self
        query.top = min(top ?? count, count)
        return query
    }

    /// Returns the query that also requests the number of all matching records, with any page size.
    public func includingCount() -> Query {
        var query = self
        query.includesCount = true
        return query
    }

    /// Returns the query that includes records marked as deleted.
    public func includingDeleted() -> Query {
        var query = self
        query.includesDeleted = true
        return query
    }

    /// Returns the query with a further parameter for the server. A name may occur more than once; one that begins with
    /// `$` cannot be sent.
    public func parameter(_ name: String, _ value: String) -> Query {
        var query = self
        query.parameters.append(Parameter(name, value))
        return query
    }

    /// Returns the query for these properties only, in addition to those already selected.
    public func selecting(_ columns: PropertyName...) -> Query {
        var query = self
        query.select += columns
        return query
    }
}
