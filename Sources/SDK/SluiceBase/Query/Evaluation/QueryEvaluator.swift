extension TableQuery {
    /// Runs queries over records in memory. It defines the results that every store must return, and stores without a query
    /// language use it.
    ///
    /// ```swift
    /// let evaluator = try TableQuery.Evaluator(query, schema: schema)
    /// let records = evaluator.apply(to: allRecords)
    /// ```
    public struct Evaluator: Sendable {
        private let query: TableQuery
        private let filter: TypedExpression?
        private let keys: [TypedExpression]
        private let relations: (any TableQuery.Relations)?

        /// Checks the query once, for any number of records.
        ///
        /// - Throws: ``SluiceError`` of code `invalidQuery` for an invalid query: a function with the wrong number of
        ///   arguments, an operator on a declared column of an unfit type, nesting deeper than 64, a negative `skip` or
        ///   `top`; of code `unsupported` for a valid query that is not run.
        public init(_ query: TableQuery, schema: TableSchema?) throws(SluiceError) {
            try self.init(query, schema: schema, undeclared: .allowed)
        }

        /// Checks the query as ``init(_:schema:)`` does. Its paths follow the schemas' references to the records from
        /// `relations`.
        ///
        /// - Throws: as ``init(_:schema:)``.
        public init(_ query: TableQuery, schema: TableSchema?, relations: any TableQuery.Relations) throws(SluiceError)
        {
            try self.init(query, schema: schema, undeclared: .allowed, relations: relations)
        }

        /// Checks the query as ``init(_:schema:)`` does, and can also refuse undeclared columns.
        ///
        /// - Throws: ``SluiceError`` of code `invalidQuery` also for a filter, an order or a selection that names an
        ///   undeclared column, if those are refused.
        package init(
            _ query: TableQuery, schema: TableSchema?, undeclared: UndeclaredColumns,
            relations: (any TableQuery.Relations)? = nil
        ) throws(SluiceError) {
            try self.init(query, QueryChecker(schema: schema, undeclared: undeclared, relations: relations))
        }

        private init(_ query: TableQuery, _ checker: QueryChecker) throws(SluiceError) {
            self.query = query
            relations = checker.relations
            do throws(QueryFault) {
                if query.skip < 0 { throw QueryFault("skip is negative: \(query.skip)") }
                if let top = query.top, top < 0 { throw QueryFault("top is negative: \(top)") }
                if let filter = query.filter {
                    self.filter = try checker.filter(filter)
                } else {
                    self.filter = nil
                }
                var keys: [TypedExpression] = []
                for key in query.order { keys.append(try checker.key(key.expression)) }
                self.keys = keys
                for name in query.select { _ = try checker.column(name) }
            } catch {
                throw error.error(table: query.table)
            }
        }

        /// Whether the record passes the query's filter.
        public func matches(_ record: JSON) -> Bool {
            guard let filter else { return true }
            return QueryEvaluation.value(of: filter, record, nil, relations).bool == true
        }

        /// Checks a query on the elements of a collection, with `$this` as the element.
        init(elements query: TableQuery) throws(SluiceError) {
            var checker = QueryChecker(schema: nil)
            (checker.item, checker.isAboutElement) = (.element, true)
            try self.init(query, checker)
        }

        /// Returns the matching records, in the query's order and then by id, with `skip`, `top` and `select` applied.
        public func apply(to records: [JSON]) -> [JSON] {
            found(records, thenBy: { $0["id"]?.string ?? "" })
        }

        /// Returns the matching records, in the query's order and then in their present order.
        func page(of records: [JSON]) -> [JSON] { found(records, thenBy: { _ in "" }) }

        private func found(_ records: [JSON], thenBy id: (JSON) -> String) -> [JSON] {
            let matching = records.filter(matches).map { record in
                (
                    record: record, values: keys.map { QueryEvaluation.value(of: $0, record, nil, relations) },
                    id: id(record)
                )
            }
            let sorted = matching.enumerated().sorted { left, right in
                for (index, key) in query.order.enumerated() {
                    let order = QueryOperators.sortOrder(left.element.values[index], right.element.values[index])
                    if order != 0 { return key.descending ? order > 0 : order < 0 }
                }
                let order = QueryOperators.order(left.element.id, right.element.id)
                return order == 0 ? left.offset < right.offset : order < 0
            }
            let page = sorted.dropFirst(query.skip).prefix(query.top ?? .max)
            return page.map { Self.selecting(query.select, from: $0.element.record) }
        }

        /// Returns the record with only those of its properties; all of them if the list is empty.
        package static func selecting(_ names: [PropertyName], from record: JSON) -> JSON {
            if names.isEmpty { return record }
            var selected = JSON.object
            for name in names {
                if let value = record[name] { selected[name] = value }
            }
            return selected
        }
    }
}
