public import SluiceBase

/// Decides whether a local store can answer a request completely, from the defining requests that fill it.
///
/// A request is covered if three things are proved:
///
/// 1. 1. Every requested record is brought by a defining request of the table, or by several together. The proof: its
///    filter being true and theirs not being true must exclude each other, for every value that properties may have.
/// 2. 2. These defining requests bring every property that is selected, filtered or sorted by, and the expansions.
/// 3. 3. No other record of the store matches only because one of its properties was not loaded, which looks like null.
///
/// The proof is complete for comparisons of a property with a constant, `in`, `startswith`, tests for null, and `and`,
/// `or`, `not` of these. Every other condition counts as one that may be true or not, but is the same wherever it is
/// written. Without a proof a request is not covered.
public struct CoverageChecker: Sendable {
    /// The defining requests of the store.
    public var requests: [DefiningRequest]
    /// The tables' columns and references, by the tables' names.
    public var schemas: [String: TableSchema]

    /// Creates a checker for a store that those requests fill.
    ///
    /// A table without a schema has properties of any kind. An expansion is followed to its table only along a declared
    /// reference.
    public init(_ requests: [DefiningRequest], schemas: [TableSchema] = []) {
        self.requests = requests
        self.schemas = Dictionary(schemas.map { ($0.name, $0) }) { $1 }
    }

    /// Returns whether the store has the whole answer to a request, with the reasons.
    public func coverage(of options: ODataOptions, in table: String) -> Coverage {
        coverage(of: options, in: table, depth: 0)
    }

    private func coverage(of options: ODataOptions, in table: String, depth: Int) -> Coverage {
        let own = requests.filter { $0.table == table }
        guard !own.isEmpty else { return .uncovered(because: ["no defining request reads \(table)"], example: nil) }
        if let obstacle = obstacle(to: options, in: table) {
            return .uncovered(because: [obstacle], example: nil)
        }
        // The records of a request are found again by its own filter, if they have the filter's properties.
        if let same = own.first(where: { $0.options.isExactly(options) && !$0.options.mentionsNow }),
            options.namedColumns.allSatisfy(CoverageColumns(loadedBy: options.select).has),
            options.expand.isEmpty, strayRecords(options, in: table) == nil
        {
            return .covered(by: [same.name], because: ["\"\(same.name)\" is this very request"])
        }
        guard let needed = CoverageColumns(neededBy: options.select) else {
            return .uncovered(because: ["$select names something else than properties"], example: nil)
        }
        var reasons: [String] = []
        var expansions: [String] = []
        let usable = own.filter { request in
            if let reason = unusable(request, options, needed, in: table, depth, &expansions) {
                reasons.append("\"\(request.name)\" \(reason)")
                return false
            }
            return true
        }
        guard let (proof, used) = proof(options, usable, in: table, &reasons) else {
            let example = usable.isEmpty ? nil : example(options, usable, in: table)
            if reasons.isEmpty { reasons = ["the defining requests leave some records out"] }
            return .uncovered(because: reasons, example: example)
        }
        if let (reason, example) = strayRecords(options, in: table) {
            return .uncovered(because: [reason], example: example)
        }
        let names = used.map(\.name)
        return .covered(by: names, because: [proof] + Set(expansions).sorted())
    }

    /// Returns the reason why no local store can answer the request.
    private func obstacle(to options: ODataOptions, in table: String) -> String? {
        if options.search != nil { return "what $search finds is the server's to say" }
        if !options.apply.isEmpty { return "$apply is answered by the server" }
        if !options.compute.isEmpty { return "$compute is answered by the server" }
        if options.mentionsNow { return "what time it is now is the server's to say" }
        if options.deltaToken != nil || options.skipToken != nil { return "the server's tokens say nothing here" }
        do {
            let query = TableQuery(
                table, filter: options.filter, order: options.order, skip: options.skip ?? 0, top: options.top)
            _ = try TableQuery.Evaluator(query, schema: schemas[table])
            return nil
        } catch {
            return error.message
        }
    }

    /// Returns the reason why a defining request cannot contribute to the answer.
    private func unusable(
        _ request: DefiningRequest, _ options: ODataOptions, _ needed: CoverageColumns, in table: String, _ depth: Int,
        _ proofs: inout [String]
    ) -> String? {
        let given = request.options
        if given.top != nil || given.skip != nil { return "gives only a page" }
        if given.search != nil || !given.apply.isEmpty || given.index != nil {
            return "gives what only the server knows"
        }
        if given.mentionsNow { return "depends on when it is asked" }
        let loaded = CoverageColumns(loadedBy: given.select)
        let missing = needed.missing(from: loaded)
        if !missing.isEmpty { return "does not give \(missing.joined(separator: ", "))" }
        for name in options.namedColumns.sorted(by: { $0.text < $1.text }) where !loaded.has(name) {
            return "does not give \(name), which is asked about"
        }
        for item in options.expand {
            switch expansion(item, by: given.expand, in: table, depth) {
            case .covered(_, let reasons): proofs += reasons
            case .uncovered(let reasons, _):
                return "does not give \(item.odata): \(reasons.joined(separator: "; "))"
            }
        }
        return nil
    }

    /// Whether an item's expansion is in the store, with the records or in its table.
    private func expansion(
        _ item: ODataOptions.ExpandItem, by given: [ODataOptions.ExpandItem], in table: String, _ depth: Int
    ) -> Coverage {
        guard depth < 8 else { return .uncovered(because: ["it is nested too deep"], example: nil) }
        let reference = item.name.flatMap { schemas[table]?.reference($0) }
        let target = reference.map(\.table)
        for other in given where other.path == item.path && other.part == .records {
            if other.odata.utf8.elementsEqual(item.odata.utf8) {
                return .covered(by: [], because: ["\(item.odata) is expanded just so"])
            }
            // The expanded records are those of a separate request for one parent.
            let name = "\(item.path.odata)"
            let inner = CoverageChecker(
                [DefiningRequest(name, of: name, other.options.withoutLevels)],
                schemas: target.flatMap { schemas[$0] }.map { [$0.named(name)] } ?? [])
            let levels = item.options.levels.isWithin(other.options.levels)
            let coverage = inner.coverage(of: item.options.withoutLevels, in: name, depth: depth + 1)
            if levels, coverage.isCovered {
                return .covered(by: [], because: ["\(item.odata) is within \(other.odata)"])
            }
        }
        guard let target, item.options.levels == nil else {
            return .uncovered(because: ["it is not expanded there"], example: nil)
        }
        switch coverage(of: item.options, in: target, depth: depth + 1) {
        case .covered(let names, _):
            let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
            return .covered(by: names, because: ["the records of \(item.odata) are in \(list)"])
        case .uncovered(let reasons, let example): return .uncovered(because: reasons, example: example)
        }
    }

    /// Proves that every record is in one of the requests, or in several together.
    private func proof(
        _ options: ODataOptions, _ usable: [DefiningRequest], in table: String, _ reasons: inout [String]
    ) -> (String, [DefiningRequest])? {
        let formulas = CoverageFormulas(schema: schemas[table])
        let asked = options.filter.map { formulas.formula($0, is: .isTrue) } ?? .truth(true)
        func outside(_ request: DefiningRequest) -> CoverageFormula {
            request.options.filter.map { formulas.formula($0, is: [.isFalse, .isNull]) } ?? .truth(false)
        }
        let question = options.filter.map { "where \($0.odata(.v4))" } ?? "of the table"
        for request in usable {
            guard let given = request.options.filter else {
                return ("\"\(request.name)\" gives every record of \(table)", [request])
            }
            switch CoverageSearch.search([asked, outside(request)], schema: schemas[table]) {
            case .none:
                return (
                    "every record \(question) is one where \(given.odata(.v4)), which \"\(request.name)\" gives",
                    [request]
                )
            case .some: continue
            case .tooManyCases: reasons.append("\"\(request.name)\" would need too many cases to compare")
            }
        }
        guard usable.count > 1 else { return nil }
        var used = usable
        guard case .none = CoverageSearch.search([asked] + used.map(outside), schema: schemas[table]) else {
            return nil
        }
        // Only as many as the proof needs.
        for index in usable.indices.reversed() {
            var fewer = used
            fewer.remove(at: index)
            if case .none = CoverageSearch.search([asked] + fewer.map(outside), schema: schemas[table]) { used = fewer }
        }
        let list = used.map { request in
            "\"\(request.name)\"" + (request.options.filter.map { " (\($0.odata(.v4)))" } ?? "")
        }
        return ("every record \(question) is in \(list.joined(separator: " or "))", used)
    }

    /// Describes a requested record that none of the requests is certain to bring.
    private func example(_ options: ODataOptions, _ usable: [DefiningRequest], in table: String) -> String? {
        let formulas = CoverageFormulas(schema: schemas[table])
        let asked = options.filter.map { [formulas.formula($0, is: .isTrue)] } ?? []
        let outside = usable.map { request in
            request.options.filter.map { formulas.formula($0, is: [.isFalse, .isNull]) } ?? .truth(false)
        }
        guard case .some(let text) = CoverageSearch.search(asked + outside, schema: schemas[table]) else { return nil }
        return text
    }
}

extension ODataOptions {
    /// Whether both have the same options, byte for byte.
    fileprivate func isExactly(_ other: ODataOptions) -> Bool {
        parameters.elementsEqual(other.parameters) { left, right in
            left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
        }
    }

    /// Whether a part depends on the time of the request.
    var mentionsNow: Bool {
        let expressions = [filter].compactMap { $0 } + order.map(\.expression)
        return expressions.contains { $0.mentionsNow } || expand.contains { $0.options.mentionsNow }
    }

    /// The properties in the filter and the order.
    fileprivate var namedColumns: Set<PropertyName> {
        order.reduce(into: filter?.columns ?? []) { $0.formUnion($1.expression.columns) }
    }

    fileprivate var withoutLevels: ODataOptions {
        var options = self
        options.levels = nil
        return options
    }
}

extension ODataOptions.Levels? {
    /// Whether the levels are within the given ones.
    fileprivate func isWithin(_ given: ODataOptions.Levels?) -> Bool {
        switch (self ?? .times(1), given ?? .times(1)) {
        case (.times(let asked), .times(let given)): asked <= given
        case (.times, .max), (.max, .max): true
        case (.max, .times): false
        }
    }
}

extension QueryExpression {
    fileprivate var mentionsNow: Bool {
        if case .call(.now, _) = self { return true }
        return children.contains { $0.mentionsNow }
    }
}

extension TableSchema {
    fileprivate func named(_ name: String) -> TableSchema {
        var schema = self
        schema.name = name
        return schema
    }
}
