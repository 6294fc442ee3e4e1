extension ODataOptions {
    /// The options as `$filter=…&$top=…`, not percent-encoded: names and values in the order of the specification.
    ///
    /// Aliases are left out, because their values have replaced them.
    public var parameters: [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { parameters.append((name, value)) }
        }
        add("$apply", QueryTransformation.odata(apply))
        add("$compute", compute.map(\.odata).joined(separator: ","))
        add("$filter", filter?.odata(.v4))
        add("$search", search?.odata)
        add("$select", select.map(\.odata).joined(separator: ","))
        add("$expand", expand.map(\.odata).joined(separator: ","))
        add("$orderby", Self.odata(order))
        add("$levels", levels?.odata)
        add("$skip", skip.map(String.init))
        add("$top", top.map(String.init))
        add("$index", index.map(String.init))
        add("$count", count.map { $0 ? "true" : "false" })
        add("$format", format)
        add("$skiptoken", skipToken)
        add("$deltatoken", deltaToken)
        add("$schemaversion", schemaVersion)
        add("$id", id)
        return parameters + custom.map { ($0.name, $0.value) }
    }

    /// The text of the options in parentheses after an item; empty without options.
    fileprivate var nested: String {
        let parts = parameters.map { "\($0.name)=\($0.value)" }
        return parts.isEmpty ? "" : "(\(parts.joined(separator: ";")))"
    }

    static func odata(_ order: [TableQuery.SortKey]) -> String {
        var query = TableQuery("")
        query.order = order
        return query.odataOrder
    }
}

extension ODataOptions.Levels {
    fileprivate var odata: String {
        switch self {
        case .max: "max"
        case .times(let number): String(number)
        }
    }
}

extension ODataOptions.ComputedProperty {
    fileprivate var odata: String { "\(expression.text(.v4)) as \(ODataName.encoded(name))" }
}

extension ODataOptions.SelectItem {
    /// The item as OData text.
    public var odata: String { path.odata + options.nested }
}

extension ODataOptions.ExpandItem {
    /// The item as OData text.
    public var odata: String {
        let suffix =
            switch part {
            case .records: ""
            case .references: "/$ref"
            case .count: "/$count"
            }
        return path.odata + suffix + options.nested
    }
}

extension [ODataOptions.SelectStep] {
    package var odata: String { map(\.odata).joined(separator: "/") }
}

extension ODataOptions.SelectStep {
    fileprivate var odata: String {
        switch self {
        case .property(let name): ODataName.encoded(name)
        case .all: "*"
        case .type(let name): ODataName.plain(name)
        case .function(let name, let parameters):
            "\(ODataName.plain(name))(\(parameters.map { ODataName.plain($0) }.joined(separator: ",")))"
        case .operations(let namespace): ODataName.plain(namespace) + ".*"
        case .annotation(let name): "@" + ODataName.plain(name)
        case .stream: "$value"
        }
    }
}

extension QuerySearch {
    /// The search as OData text.
    public var odata: String {
        switch self {
        case .phrase(let text):
            "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        case .not(let search): "NOT \(search.operand)"
        case .and(let left, let right): "\(left.operand) AND \(right.operand)"
        case .or(let left, let right): "\(left.operand) OR \(right.operand)"
        }
    }

    private var operand: String {
        if case .phrase = self { odata } else { "(\(odata))" }
    }
}

extension QueryTransformation {
    /// Returns the transformations as OData text.
    static func odata(_ transformations: [QueryTransformation]) -> String {
        transformations.map(\.odata).joined(separator: "/")
    }

    private var odata: String {
        switch self {
        case .identity: return "identity"
        case .filter(let condition): return "filter(\(condition.odata(.v4)))"
        case .search(let search): return "search(\(search.odata))"
        case .aggregate(let aggregates): return "aggregate(\(aggregates.map(\.odata).joined(separator: ",")))"
        case .group(let paths, let then):
            let names = paths.map { $0.map { ODataName.encoded($0) }.joined(separator: "/") }.joined(separator: ",")
            return "groupby((\(names))\(then.isEmpty ? "" : "," + Self.odata(then)))"
        case .compute(let properties): return "compute(\(properties.map(\.odata).joined(separator: ",")))"
        case .order(let keys): return "orderby(\(ODataOptions.odata(keys)))"
        case .top(let number): return "top(\(number))"
        case .skip(let number): return "skip(\(number))"
        case .concat(let sequences): return "concat(\(sequences.map(Self.odata).joined(separator: ",")))"
        case .other(let name, let text): return "\(name)(\(text))"
        }
    }
}

extension TableQuery.Aggregate {
    fileprivate var odata: String {
        let value = expression?.text(.v4) ?? "$count"
        let method =
            switch self.method {
            case .count, .other(""): ""
            case .sum: " with sum"
            case .min: " with min"
            case .max: " with max"
            case .average: " with average"
            case .countDistinct: " with countdistinct"
            case .other(let name): " with \(ODataName.plain(name))"
            }
        return "\(value)\(method) as \(ODataName.encoded(name))"
    }
}
