internal import SluiceBase

// Records that were loaded without a property that a filter names.
extension CoverageChecker {
    /// A source of a table's records in the store.
    private struct Source {
        var name: String
        var columns: CoverageColumns
        /// The filter of the records that it brings; nil for all.
        var filter: QueryExpression?
        /// Whether it brings every record that matches the filter, and not only some of them.
        var isWhole: Bool
        /// The columns in the request's filter that the source does not bring.
        var absent: Set<PropertyName> = []
    }

    /// Returns the reason why another record of the store could be taken for a requested one, with an example; nil if
    /// none can.
    ///
    /// A record lacks the properties that none of its sources brings, and they look like null. So for every set of
    /// properties that a record may lack, the check searches a record that: matches the filter without them, is brought
    /// by a source without them, and by no source with one of them.
    func strayRecords(_ options: ODataOptions, in table: String) -> (reason: String, example: String?)? {
        guard let filter = options.filter else { return nil }
        let named = filter.columns
        let sources = sources(of: table).map { source in
            var source = source
            source.absent = named.filter { !source.columns.has($0) }
            return source
        }
        var lacking: Set<Set<PropertyName>> = []
        for source in sources where !source.absent.isEmpty {
            lacking.formUnion(lacking.map { $0.intersection(source.absent) } + [source.absent])
            if lacking.count > 64 { return ("the requests give too many different sets of properties", nil) }
        }
        for absent in lacking.subtracting([[]]) {
            switch search(filter, absent, sources, in: table) {
            case .none: continue
            case .some(let example):
                let without = sources.filter { absent.isSubset(of: $0.absent) }.map(\.name).joined(separator: ", ")
                let names = absent.map(\.text).sorted().joined(separator: ", ")
                return ("records of \(without) have no \(names), and could be taken for others", example)
            case .tooManyCases: return ("there are too many cases of records that lack a property", nil)
            }
        }
        return nil
    }

    private func search(
        _ filter: QueryExpression, _ absent: Set<PropertyName>, _ sources: [Source], in table: String
    ) -> CoverageSearch.Result {
        let schema = schemas[table]
        let whole = CoverageFormulas(schema: schema)
        var formulas = [CoverageFormulas(schema: schema, absent: absent).formula(filter, is: .isTrue)]
        var brought: [CoverageFormula] = []
        for source in sources {
            if absent.isSubset(of: source.absent) {
                brought.append(source.filter.map { whole.formula($0, is: .isTrue) } ?? .truth(true))
            } else if source.isWhole {
                formulas.append(source.filter.map { whole.formula($0, is: [.isFalse, .isNull]) } ?? .truth(false))
            }
        }
        return CoverageSearch.search(formulas + [.or(brought)], schema: schema)
    }

    /// Returns the sources of the table's records: its defining requests, and expansions of others.
    private func sources(of table: String) -> [Source] {
        var sources: [Source] = []
        func add(_ options: ODataOptions, _ name: String, isWhole: Bool) {
            let isFixed = !options.mentionsNow && options.search == nil && options.apply.isEmpty
            let isPage = options.top != nil || options.skip != nil || options.index != nil
            sources.append(
                Source(
                    name: name, columns: CoverageColumns(loadedBy: options.select),
                    filter: isFixed ? options.filter : nil, isWhole: isWhole && isFixed && !isPage))
        }
        func add(_ items: [ODataOptions.ExpandItem], of parent: String, in request: DefiningRequest, _ depth: Int) {
            for item in items where depth < 16 {
                guard let reference = item.name.flatMap({ schemas[parent]?.reference($0) }) else { continue }
                if reference.table == table, item.part == .records {
                    add(item.options, "\(item.path.odata) of \"\(request.name)\"", isWhole: false)
                }
                add(item.options.expand, of: reference.table, in: request, depth + 1)
            }
        }
        for request in requests {
            if request.table == table { add(request.options, "\"\(request.name)\"", isWhole: true) }
            add(request.options.expand, of: request.table, in: request, 0)
        }
        return sources
    }
}
