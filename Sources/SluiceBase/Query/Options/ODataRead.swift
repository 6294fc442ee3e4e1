/// How the options of a request for records are answered: the query that a store runs, and what is made of its records.
///
/// ```swift
/// let read = try ODataRead(ODataOptions("$compute=Price mul 2 as Double&$filter=Double gt 10&$select=Double"), of: schema)
/// let answer = try read.answer(try await store.read { try $0.records(matching: read.query) })
/// ```
///
/// `$filter`, `$search`, `$orderby`, `$skip` and `$top` are part of the query, with computed properties replaced by what
/// they are computed from. Where there is an `$apply`, the store gives the records that it begins with, and everything
/// else is done in memory. `$expand` is left to whoever knows the related records.
public struct ODataRead: Sendable {
    /// What to ask the store.
    public let query: Query
    private let options: ODataOptions
    private let schema: TableSchema?
    private let transformations: [QueryTransformation]
    private let selection: QuerySelection

    /// Checks what can be checked without records.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` or `unsupported`.
    public init(_ options: ODataOptions, of schema: TableSchema) throws(SluiceError) {
        self.options = options
        self.schema = schema
        selection = try QuerySelection(options.select, computed: options.compute.map(\.name))
        var query = Query(schema.name)
        guard options.apply.isEmpty else {
            // What comes first, and only filters, the store does.
            let first = options.apply.prefix { transformation in
                if case .filter = transformation { true } else { false }
            }
            for case .filter(let condition) in first { query = query.where(QueryTerm(condition)) }
            transformations = Array(options.apply.dropFirst(first.count))
            self.query = query
            return
        }
        transformations = []
        let computed = Self.computed(options.compute)
        query.filter = options.filter.map(computed)
        if let search = options.search { query = query.where(QueryTerm(search.filter(for: schema))) }
        query.order = options.order.map {
            Query.SortKey(expression: computed($0.expression), descending: $0.descending)
        }
        query.skip = options.skip ?? 0
        query.top = options.top
        query.includesCount = options.count ?? false
        self.query = query
        _ = try QueryEvaluator(query, schema: schema)
    }

    /// The records of the answer, made from what the store found for ``query``.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` or `unsupported`.
    public func answer(_ records: [JSON]) throws(SluiceError) -> [JSON] {
        var records = records
        if options.apply.isEmpty {
            records = try ComputedProperty.adding(options.compute, to: records, schema)
        } else {
            records = try QueryTransformation.apply(transformations, to: records, schema: schema)
            records = try ComputedProperty.adding(options.compute, to: records, nil)
            if let search = options.search { records = records.filter(search.matches) }
            let rest = Query(
                "", filter: options.filter, order: options.order, skip: options.skip ?? 0, top: options.top)
            records = try QueryEvaluator(rest, schema: nil).page(of: records)
        }
        return try selection.selected(records)
    }

    /// Replaces names of computed properties by what these are computed from.
    private static func computed(_ properties: [ComputedProperty]) -> (QueryExpression) -> QueryExpression {
        var known: [PropertyName: QueryExpression] = [:]
        func replacing(_ expression: QueryExpression) -> QueryExpression {
            if case .column(let name) = expression { return known[name] ?? expression }
            return expression.mappingChildren(replacing)
        }
        if properties.isEmpty { return { $0 } }
        for property in properties { known[property.name] = replacing(property.expression) }
        return { [known] expression in
            func replacing(_ expression: QueryExpression) -> QueryExpression {
                if case .column(let name) = expression { return known[name] ?? expression }
                return expression.mappingChildren(replacing)
            }
            return replacing(expression)
        }
    }
}
