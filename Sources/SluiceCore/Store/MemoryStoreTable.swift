/// One table of a ``MemoryStore``.
struct MemoryStoreTable: Sendable {
    private(set) var schema: TableSchema
    private(set) var records: [MemoryStoreState.Key: JSON] = [:]
    private var indexes: [MemoryStoreIndex] = []

    init(_ schema: TableSchema) {
        self.schema = schema
        define(schema)
    }

    mutating func define(_ schema: TableSchema) {
        self.schema = schema
        indexes = schema.indexes.map { columns in
            var index = MemoryStoreIndex(columns, schema: schema)
            for (key, record) in records { index.add(record, key) }
            return index
        }
    }

    /// Puts the record, or takes away what is under the key if it is nil.
    ///
    /// - Returns: what was there before.
    mutating func set(_ record: JSON?, at key: MemoryStoreState.Key) -> JSON? {
        let before = records.removeValue(forKey: key)
        for index in indexes.indices {
            if let before { indexes[index].remove(before, key) }
            if let record { indexes[index].add(record, key) }
        }
        if let record { records[key] = record }
        return before
    }

    /// The records that match, as the query wants them.
    func records(matching query: Query, _ evaluator: QueryEvaluator) -> [JSON] {
        if let found = first(of: query, evaluator) { return found }
        guard let candidates = candidates(query.filter) else { return evaluator.apply(to: Array(records.values)) }
        return evaluator.apply(to: candidates.compactMap { records[$0] })
    }

    /// The keys of the records that match the query's filter.
    func keys(matching query: Query, _ evaluator: QueryEvaluator) -> [MemoryStoreState.Key] {
        guard let candidates = candidates(query.filter) else {
            return records.filter { evaluator.matches($0.value) }.map(\.key)
        }
        return candidates.filter { records[$0].map(evaluator.matches) ?? false }
    }

    /// The first records in an index's order, without a look at the others; nil if the query does not want those.
    private func first(of query: Query, _ evaluator: QueryEvaluator) -> [JSON]? {
        guard let top = query.top, query.order.count == 1, let order = query.order.first,
            let index = indexes.first(where: { $0.columns == [order.column] })
        else { return nil }
        guard top > 0 else { return [] }
        var found: [JSON] = []
        var left = query.skip
        let isWalked = index.walk(order, above: Terms(query.filter).bounds[order.column]) { key in
            guard let record = records[key], evaluator.matches(record) else { return true }
            if left > 0 {
                left -= 1
                return true
            }
            found.append(QueryEvaluator.selecting(query.select, from: record))
            return found.count < top
        }
        return isWalked ? found : nil
    }

    /// The records among which those are that the filter takes; nil if no index tells.
    private func candidates(_ filter: QueryExpression?) -> Set<MemoryStoreState.Key>? {
        guard filter != nil, !indexes.isEmpty else { return nil }
        let terms = Terms(filter)
        return terms.texts.isEmpty ? nil : indexes.lazy.compactMap { $0.candidates(terms.texts) }.first
    }

    /// What a filter asks of every record: all the parts that `and` joins.
    private struct Terms {
        /// The text that a column has to have.
        private(set) var texts: [String: String] = [:]
        /// The number that a column's has to be greater than.
        private(set) var bounds: [String: Int64] = [:]

        init(_ filter: QueryExpression?) { if let filter { add(filter) } }

        private mutating func add(_ filter: QueryExpression) {
            switch filter {
            case .binary(.and, let left, let right):
                add(left)
                add(right)
            case .binary(.eq, .column(let name), .literal(.string(let text))): texts[name] = text
            case .binary(.gt, .column(let name), .literal(.number(let number))): bounds[name] = number.int
            default: break
            }
        }
    }
}
