/// Answers the options of a request for records: the query for a store, and the further processing of its records.
///
/// ```swift
/// let read = try ODataRead(
///     ODataOptions("$compute=Price mul 2 as Double&$filter=Double gt 10&$select=Double"), of: schema)
/// let answer = try read.answer(try await store.read { try $0.records(matching: read.query) })
/// ```
///
/// `$filter`, `$search`, `$orderby`, `$skip` and `$top` are part of the query, with computed properties replaced by
/// their expressions. With an `$apply`, the store returns the records that it starts from, and everything else is done
/// in memory. `$expand` is left to the caller, who knows the related records.
public struct ODataRead: Sendable {
    /// The query for the store.
    public let query: TableQuery
    private let options: ODataOptions
    private let schema: TableSchema?
    private let transformations: [QueryTransformation]
    private let selection: QuerySelection

    /// Checks the options as far as possible without records.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` or `unsupported`.
    public init(_ options: ODataOptions, of schema: TableSchema) throws(SluiceError) {
        self.options = options
        self.schema = schema
        selection = try QuerySelection(options.select, computed: options.compute.map(\.name))
        var query = TableQuery(schema.name)
        guard options.apply.isEmpty else {
            // The store runs leading filters.
            let first = options.apply.prefix { transformation in
                if case .filter = transformation { true } else { false }
            }
            for case .filter(let condition) in first { query = query.where(TableQuery.Term(condition)) }
            transformations = Array(options.apply.dropFirst(first.count))
            self.query = query
            return
        }
        transformations = []
        let computed = Self.computed(options.compute)
        query.filter = options.filter.map(computed)
        if let search = options.search { query = query.where(TableQuery.Term(search.filter(for: schema))) }
        query.order = options.order.map {
            TableQuery.SortKey(expression: computed($0.expression), descending: $0.descending)
        }
        query.skip = options.skip ?? 0
        query.top = options.top
        query.includesCount = options.count ?? false
        self.query = query
        _ = try TableQuery.Evaluator(query, schema: schema)
    }

    /// Returns the records of the answer, made from the store's records for ``query``.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` or `unsupported`.
    public func answer(_ records: [JSON]) throws(SluiceError) -> [JSON] {
        var records = records
        if options.apply.isEmpty {
            records = try ODataOptions.ComputedProperty.adding(options.compute, to: records, schema)
        } else {
            records = try QueryTransformation.apply(transformations, to: records, schema: schema)
            records = try ODataOptions.ComputedProperty.adding(options.compute, to: records, nil)
            if let search = options.search { records = records.filter(search.matches) }
            let rest = TableQuery(
                "", filter: options.filter, order: options.order, skip: options.skip ?? 0, top: options.top)
            records = try TableQuery.Evaluator(rest, schema: nil).page(of: records)
        }
        return try selection.selected(records)
    }

    /// Returns a function that replaces the names of computed properties by their expressions.
    private static func computed(_ properties: [ODataOptions.ComputedProperty]) -> (QueryExpression) -> QueryExpression
    {
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

/// The effect of `$select` on records.
struct QuerySelection: Sendable {
    /// One property, and the selection from its value.
    private struct Part: Sendable {
        var path: [PropertyName]
        var elements: Elements?
    }

    /// The options for the elements of a collection, or the selection from an object.
    private struct Elements: Sendable {
        var evaluator: TableQuery.Evaluator
        var search: QuerySearch?
        var selection: Indirect
    }

    private final class Indirect: Sendable {
        let selection: QuerySelection
        init(_ selection: QuerySelection) { self.selection = selection }
    }

    private var parts: [Part] = []
    private var isWhole: Bool

    /// - Throws: ``SluiceError`` of code `unsupported` for annotations, types, operations and streams.
    init(_ items: [ODataOptions.SelectItem], computed: [PropertyName] = []) throws(SluiceError) {
        isWhole = items.isEmpty
        for item in items {
            if item.path == [.all] {
                isWhole = true
                continue
            }
            let path = item.path.compactMap(\.property)
            guard path.count == item.path.count else {
                throw SluiceError(.unsupported, "\(item.odata) is read, but not selected")
            }
            parts.append(Part(path: path, elements: try Self.elements(item.options)))
        }
        if isWhole { parts.removeAll { $0.elements == nil } }
    }

    private static func elements(_ options: ODataOptions) throws(SluiceError) -> Elements? {
        var asked = options
        asked.aliases = [:]
        asked.count = nil
        if asked == ODataOptions() { return nil }
        guard asked.expand.isEmpty, asked.compute.isEmpty, asked.apply.isEmpty else {
            throw SluiceError(.unsupported, "$expand, $compute and $apply inside of $select are read, but not run")
        }
        let query = TableQuery(
            "", filter: options.filter, order: options.order, skip: options.skip ?? 0, top: options.top)
        return Elements(
            evaluator: try TableQuery.Evaluator(elements: query), search: options.search,
            selection: Indirect(try QuerySelection(options.select)))
    }

    func selected(_ records: [JSON]) throws(SluiceError) -> [JSON] {
        if isWhole && parts.isEmpty { return records }
        return records.map(selected)
    }

    private func selected(_ record: JSON) -> JSON {
        var output = isWhole ? record : JSON.object
        for part in parts { copy(part.path[...], part.elements, from: record, to: &output) }
        return output
    }

    private func copy(
        _ path: ArraySlice<PropertyName>, _ elements: Elements?, from record: JSON, to output: inout JSON
    ) {
        guard let name = path.first, let value = record[name] else { return }
        if path.count == 1 {
            output[name] = elements.map { Self.asked($0, of: value) } ?? value
        } else if let list = value.elements {
            let partial = output[name]?.elements ?? []
            output[name] = JSON(
                list.enumerated().map { index, element in
                    var inner = index < partial.count ? partial[index] : JSON.object
                    copy(path.dropFirst(), elements, from: element, to: &inner)
                    return inner
                })
        } else if value.kind == .object {
            var inner = output[name] ?? JSON.object
            copy(path.dropFirst(), elements, from: value, to: &inner)
            output[name] = inner
        } else {
            output[name] = value
        }
    }

    private static func asked(_ elements: Elements, of value: JSON) -> JSON {
        guard var list = value.elements else {
            return value.kind == .object ? elements.selection.selection.selected(value) : value
        }
        if let search = elements.search { list = list.filter(search.matches) }
        return JSON(
            elements.evaluator.page(of: list).map { element in
                element.kind == .object ? elements.selection.selection.selected(element) : element
            })
    }
}
