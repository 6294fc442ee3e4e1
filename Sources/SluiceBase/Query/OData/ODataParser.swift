/// Reads an OData expression by descent, never deeper than its limit.
struct ODataParser {
    /// An expression, how many levels it has, itself included, how many nodes at the most as v3 writes it, and where
    /// its parts stand.
    private struct Part {
        var expression: QueryExpression
        var depth: Int
        var size: Int
        var places: ODataPlaces
    }

    /// The most nodes of a tree. Only lists, whose left side may have to stand for each value, come near.
    private static let maximumSize = 40_000

    private var scanner: ODataScanner
    private let maximumDepth: Int
    private let columns: ODataColumns

    init(
        _ text: String, maximumLength: Int, maximumDepth: Int, columns: @escaping ODataColumns = { $0 }
    ) throws(QuerySyntaxError) {
        scanner = try ODataScanner(text, maximumLength: maximumLength)
        self.maximumDepth = maximumDepth
        self.columns = columns
    }

    /// The whole text as one expression, and where its parts stand.
    mutating func parse() throws(QuerySyntaxError) -> (QueryExpression, ODataPlaces) {
        let part = try expression(.logicalOr, level: 1)
        scanner.skipSpace()
        guard scanner.atEnd else {
            throw scanner.error("expected an operator or the end, found \(scanner.found)")
        }
        return (part.expression, part.places)
    }

    /// How tightly an operator binds. (OData v4.01 part 2, 5.1.1.16.)
    private enum Binding: Int {
        case logicalOr, logicalAnd, equality, relation, sum, product, operand

        init(_ operation: QueryExpression.BinaryOperator) {
            switch operation {
            case .or: self = .logicalOr
            case .and: self = .logicalAnd
            case .eq, .ne: self = .equality
            case .gt, .ge, .lt, .le: self = .relation
            case .add, .sub: self = .sum
            case .mul, .div, .mod: self = .product
            }
        }

        var tighter: Binding { Binding(rawValue: rawValue + 1) ?? .operand }
    }

    /// An expression of operators that bind at least so tightly.
    private mutating func expression(_ binding: Binding, level: Int) throws(QuerySyntaxError) -> Part {
        if binding == .operand { return try operand(level: level) }
        var left = try expression(binding.tighter, level: level)
        var terms = [left]
        while true {
            scanner.skipSpace()
            let start = scanner
            guard let word = scanner.identifier() else { break }
            if word == "in" && binding == .relation {
                left = try membership(of: left, level: level, at: start.position)
            } else if let operation = QueryExpression.BinaryOperator(rawValue: word), Binding(operation) == binding {
                let right = try expression(binding.tighter, level: level)
                if binding == .logicalOr || binding == .logicalAnd {
                    terms.append(right)
                    continue
                }
                left = try joined(left, operation, right, at: start.position)
            } else {
                scanner = start
                break
            }
        }
        if terms.count == 1 { return left }
        return try balanced(terms[...], binding == .logicalOr ? .or : .and, at: scanner.position)
    }

    private func joined(
        _ left: Part, _ operation: QueryExpression.BinaryOperator, _ right: Part, at place: Int
    ) throws(QuerySyntaxError) -> Part {
        let depth = max(left.depth, right.depth) + 1
        guard depth <= maximumDepth else { throw tooDeep(at: place) }
        let size = left.size + right.size + 1
        guard size <= Self.maximumSize else { throw repeatsTooMuch(at: place) }
        return Part(
            expression: .binary(operation, left.expression, right.expression), depth: depth, size: size,
            places: ODataPlaces(place: place, operands: [left.places, right.places]))
    }

    /// A chain of `or` or `and`, as a tree no deeper than need be: how the terms are grouped changes nothing, and a
    /// chain of a hundred ids is usual.
    private func balanced(
        _ terms: ArraySlice<Part>, _ operation: QueryExpression.BinaryOperator, at place: Int
    ) throws(QuerySyntaxError) -> Part {
        if terms.count == 1, let only = terms.first { return only }
        let middle = terms.startIndex + (terms.count + 1) / 2
        return try joined(
            try balanced(terms[..<middle], operation, at: place), operation,
            try balanced(terms[middle...], operation, at: place), at: place)
    }

    /// `x in (a,b)`, which is `x eq a or x eq b`, and becomes that if one in the list is no constant; the word is
    /// passed already.
    private mutating func membership(of left: Part, level: Int, at place: Int) throws(QuerySyntaxError) -> Part {
        try scanner.expect("(")
        var values: [Part] = []
        var literals: [QueryLiteral] = []
        repeat {
            let value = try nested(level)
            values.append(value)
            if case .literal(let literal) = value.expression { literals.append(literal) }
            scanner.skipSpace()
        } while scanner.skip(",")
        try scanner.expect(")")
        if literals.count == values.count {
            guard left.depth < maximumDepth else { throw tooDeep(at: place) }
            // v3 has no `in`: there each value is compared with the left side, so that a list in a list multiplies.
            let size = (left.size + 3) * literals.count - 1
            guard left.size == 1 || size <= Self.maximumSize else { throw repeatsTooMuch(at: place) }
            return Part(
                expression: .membership(left.expression, literals), depth: left.depth + 1, size: size,
                places: ODataPlaces(place: place, operands: [left.places] + values.map(\.places)))
        }
        var terms: [Part] = []
        for value in values { terms.append(try joined(left, .eq, value, at: place)) }
        return try balanced(terms[...], .or, at: place)
    }

    private mutating func nested(_ level: Int) throws(QuerySyntaxError) -> Part {
        guard level < maximumDepth else { throw tooDeep(at: scanner.position) }
        return try expression(.logicalOr, level: level + 1)
    }

    private func tooDeep(at place: Int) -> QuerySyntaxError {
        scanner.error("nested deeper than \(maximumDepth) levels", at: place)
    }

    private func repeatsTooMuch(at place: Int) -> QuerySyntaxError {
        scanner.error("the lists of the query repeat too much", at: place)
    }

    private func leaf(_ expression: QueryExpression, at place: Int, size: Int = 1) -> Part {
        Part(expression: expression, depth: 1, size: size, places: ODataPlaces(place: place))
    }

    private mutating func operand(level: Int) throws(QuerySyntaxError) -> Part {
        scanner.skipSpace()
        let start = scanner.position
        if scanner.skip("(") {
            let part = try nested(level)
            try scanner.expect(")")
            return part
        }
        if scanner.next == "-" { return try signed(level: level) }
        if let next = scanner.next, next == "'" || ("0"..."9").contains(next) {
            return leaf(.literal(try scanner.literal()), at: start)
        }
        guard let name = scanner.identifier() else {
            throw scanner.error("expected a value, found \(scanner.found)")
        }
        switch name {
        case "not": return try applied(.not, level: level, at: start)
        case "null": return leaf(.literal(.null), at: start)
        // A comparison in v3, where it is a condition.
        case "true": return leaf(.literal(.bool(true)), at: start, size: 3)
        case "false": return leaf(.literal(.bool(false)), at: start, size: 3)
        default: break
        }
        if scanner.next == "'" {
            return leaf(.literal(try scanner.prefixedLiteral(name, at: start)), at: start)
        }
        if name == "geo", scanner.skip(".") {
            let function = "geo." + (scanner.identifier() ?? "")
            try scanner.expect("(")
            return try call(function, level: level, at: start)
        }
        if scanner.skip("(") {
            if name == "cast" { return leaf(.literal(try scanner.castLiteral(at: start)), at: start) }
            return try call(name, level: level, at: start)
        }
        return leaf(.column(try scanner.column(name, columns, at: start)), at: start)
    }

    /// What begins with a minus: a number, or an operator on what follows.
    private mutating func signed(level: Int) throws(QuerySyntaxError) -> Part {
        let start = scanner
        _ = scanner.skip("-")
        if let next = scanner.next, ("0"..."9").contains(next) {
            scanner = start
            return leaf(.literal(try scanner.literal()), at: start.position)
        }
        return try applied(.negate, level: level, at: start.position)
    }

    private mutating func applied(
        _ operation: QueryExpression.UnaryOperator, level: Int, at place: Int
    ) throws(QuerySyntaxError) -> Part {
        scanner.skipSpace()
        // A parenthesis counts as a level itself.
        let inner = scanner.next == "(" ? level : level + 1
        guard inner <= maximumDepth else { throw tooDeep(at: place) }
        let part = try operand(level: inner)
        guard part.depth < maximumDepth else { throw tooDeep(at: place) }
        return Part(
            expression: .unary(operation, part.expression), depth: part.depth + 1, size: part.size + 1,
            places: ODataPlaces(place: place, operands: [part.places]))
    }

    /// A function's call, after its opening parenthesis.
    private mutating func call(_ name: String, level: Int, at place: Int) throws(QuerySyntaxError) -> Part {
        guard let function = name == "substringof" ? .contains : QueryFunction(rawValue: name) else {
            throw scanner.error("there is no function \"\(name)\"", at: place)
        }
        var arguments: [Part] = []
        scanner.skipSpace()
        if scanner.next != ")" {
            repeat {
                arguments.append(try nested(level))
                scanner.skipSpace()
            } while scanner.skip(",")
        }
        try scanner.expect(")")
        let counts = QueryFunctions.argumentCounts(function)
        guard counts.contains(arguments.count) else {
            let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) or \(counts.upperBound)"
            throw scanner.error("\(name) takes \(wanted) arguments, not \(arguments.count)", at: place)
        }
        // v3 names the part first.
        if name == "substringof" { arguments.reverse() }
        let depth = (arguments.map(\.depth).max() ?? 0) + 1
        guard depth <= maximumDepth else { throw tooDeep(at: place) }
        return Part(
            expression: .call(function, arguments.map(\.expression)), depth: depth,
            size: arguments.reduce(1) { $0 + $1.size },
            places: ODataPlaces(place: place, operands: arguments.map(\.places)))
    }
}
