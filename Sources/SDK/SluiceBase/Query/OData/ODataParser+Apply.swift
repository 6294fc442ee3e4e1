// `$apply`. (OData Extension for Data Aggregation 4.0, 3.)
extension ODataParser {
    /// Reads transformations with `/` between them.
    mutating func transformations(level: Int) throws(TableQuery.SyntaxError) -> [QueryTransformation] {
        guard level < maximumDepth else { throw tooDeep(at: scanner.position) }
        var transformations: [QueryTransformation] = []
        repeat {
            scanner.skipSpace()
            transformations.append(try transformation(level: level + 1))
            scanner.skipSpace()
        } while scanner.skip("/")
        return transformations
    }

    private mutating func transformation(level: Int) throws(TableQuery.SyntaxError) -> QueryTransformation {
        guard let first = scanner.identifier() else {
            throw scanner.error("expected a transformation, found \(scanner.found)")
        }
        let name = try scanner.qualifiedName(first)
        if name == "identity" { return .identity }
        try scanner.expect("(")
        let start = scanner
        scanner.skipSpace()
        switch name {
        case "filter":
            let condition = try nested(level).expression
            try scanner.expect(")")
            return .filter(condition)
        case "search":
            let search = try search(isNested: true)
            try scanner.expect(")")
            return .search(search)
        case "compute":
            let properties = try compute(level: level)
            try scanner.expect(")")
            return .compute(properties)
        case "orderby":
            let keys = try order(level: level).map(\.key)
            try scanner.expect(")")
            return .order(keys)
        case "top", "skip":
            let number = try wholeNumber()
            try scanner.expect(")")
            return name == "top" ? .top(number) : .skip(number)
        case "aggregate": if let aggregates = try aggregates(level: level) { return .aggregate(aggregates) }
        case "groupby": if let group = try group(level: level) { return group }
        case "concat":
            var sequences: [[QueryTransformation]] = []
            repeat {
                sequences.append(try transformations(level: level))
                scanner.skipSpace()
            } while scanner.skip(",")
            try scanner.expect(")")
            return .concat(sequences)
        default: break
        }
        scanner = start
        return .other(name, try balancedText())
    }

    /// Reads `Amount with sum as Total,$count as Number`, and the parenthesis; nil for any other syntax.
    private mutating func aggregates(level: Int) throws(TableQuery.SyntaxError) -> [TableQuery.Aggregate]? {
        var aggregates: [TableQuery.Aggregate] = []
        repeat {
            scanner.skipSpace()
            if scanner.skip("$") {
                guard scanner.skip(word: "count") else { throw scanner.error("expected $count") }
                aggregates.append(TableQuery.Aggregate(nil, .count, as: try alias()))
            } else {
                let part = try nested(level)
                scanner.skipSpace()
                if scanner.skip(caseBlind: "with") {
                    scanner.skipSpace()
                    guard let first = scanner.identifier() else {
                        throw scanner.error("expected a method, found \(scanner.found)")
                    }
                    let method = TableQuery.Aggregate.Method(name: try scanner.qualifiedName(first))
                    scanner.skipSpace()
                    if scanner.skip(caseBlind: "from") { return nil }
                    aggregates.append(TableQuery.Aggregate(part.expression, method, as: try alias()))
                } else {
                    // An aggregate that the service defines, or a path that ends in /$count.
                    guard scanner.skip(caseBlind: "as") else { return nil }
                    guard
                        let name = {
                            scanner.skipSpace()
                            return scanner.identifier()
                        }()
                    else { return nil }
                    aggregates.append(TableQuery.Aggregate(part.expression, .other(""), as: ODataName.decoded(name)))
                }
            }
            scanner.skipSpace()
        } while scanner.skip(",")
        try scanner.expect(")")
        return aggregates
    }

    /// Reads `(a,b/c),aggregate(…)`, and the parenthesis; nil for other groupings, such as `rollup`.
    private mutating func group(level: Int) throws(TableQuery.SyntaxError) -> QueryTransformation? {
        try scanner.expect("(")
        var paths: [[PropertyName]] = []
        repeat {
            scanner.skipSpace()
            var path: [PropertyName] = []
            repeat {
                let place = scanner.position
                guard let name = scanner.identifier() else { return nil }
                path.append(path.isEmpty ? try scanner.column(name, columns, at: place) : ODataName.decoded(name))
            } while scanner.skip("/")
            paths.append(path)
            scanner.skipSpace()
            if scanner.next == "(" || scanner.next == "." { return nil }
        } while scanner.skip(",")
        try scanner.expect(")")
        scanner.skipSpace()
        let then = scanner.skip(",") ? try transformations(level: level) : []
        try scanner.expect(")")
        return .group(paths, then)
    }

    /// Reads the text up to the closing parenthesis of an open one, and that parenthesis.
    private mutating func balancedText() throws(TableQuery.SyntaxError) -> String {
        let start = scanner.position
        var depth = 0
        while let next = scanner.next {
            if next == "'" {
                _ = try scanner.quoted()
                continue
            }
            if next == ")" && depth == 0 {
                let text = scanner.text(from: start, to: scanner.position)
                scanner.skipAny()
                return text
            }
            depth += next == "(" ? 1 : next == ")" ? -1 : 0
            scanner.skipAny()
        }
        throw scanner.error("expected \")\", found the end")
    }
}

extension TableQuery.Aggregate.Method {
    init(name: String) {
        switch name.lowercased() {
        case "sum": self = .sum
        case "min": self = .min
        case "max": self = .max
        case "average": self = .average
        case "countdistinct": self = .countDistinct
        default: self = .other(name)
        }
    }
}
