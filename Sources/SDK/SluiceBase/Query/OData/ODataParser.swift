/// Reads an OData expression by descent, never deeper than its limit.
///
/// This file reads operators, and the extensions read operands, paths and the query options of ``ODataOptions``.
struct ODataParser {
    /// An expression with its number of levels, itself included, the largest number of nodes in its v3 text, and the
    /// positions of its parts.
    struct Part {
        var expression: QueryExpression
        var depth: Int
        var size: Int
        var places: ODataPlaces
    }

    /// The most nodes of a tree. Only two kinds come near: lists, whose left side may be repeated for each value, and
    /// values of aliases, which may be used at many positions.
    private static let maximumSize = 40_000

    var scanner: ODataScanner
    let maximumDepth: Int
    /// Maps names to columns; names inside a related or contained collection are not mapped.
    var columns: ODataColumns
    /// The variables of the surrounding `any` and `all`, as written.
    var variables: [PropertyName] = []
    /// Whether a colon may follow a constant, as in `case(a:1,b:2)`.
    var isInChoice = false
    /// The values of parameter aliases.
    var aliases: ODataAliases?

    init(
        _ text: String, maximumLength: Int, maximumDepth: Int, columns: @escaping ODataColumns = { $0 }
    ) throws(TableQuery.SyntaxError) {
        self.init(
            scanner: try ODataScanner(text, maximumLength: maximumLength), maximumDepth: maximumDepth, columns: columns)
    }

    init(scanner: ODataScanner, maximumDepth: Int, columns: @escaping ODataColumns = { $0 }) {
        self.scanner = scanner
        self.maximumDepth = maximumDepth
        self.columns = columns
    }

    /// Reads the whole text as one expression, with the positions of its parts.
    mutating func parse() throws(TableQuery.SyntaxError) -> (QueryExpression, ODataPlaces) {
        let part = try expression()
        try expectEnd("an operator or the end")
        return (part.expression, part.places)
    }

    /// Refuses any remaining text.
    mutating func expectEnd(_ wanted: String) throws(TableQuery.SyntaxError) {
        scanner.skipSpace()
        guard scanner.atEnd else { throw scanner.error("expected \(wanted), found \(scanner.found)") }
    }

    /// The precedence of operators. (OData v4.01 part 2, 5.1.1.17.)
    private enum Binding: Int {
        case logicalOr, logicalAnd, equality, relation, sum, product, operand

        init(_ operation: QueryExpression.BinaryOperator) {
            switch operation {
            case .or: self = .logicalOr
            case .and: self = .logicalAnd
            case .eq, .ne: self = .equality
            case .gt, .ge, .lt, .le, .has, .isIn: self = .relation
            case .add, .sub: self = .sum
            case .mul, .div, .divby, .mod: self = .product
            }
        }

        var tighter: Binding { Binding(rawValue: rawValue + 1) ?? .operand }
    }

    /// Reads an expression; more text may follow.
    mutating func expression(level: Int = 1) throws(TableQuery.SyntaxError) -> Part {
        try expression(.logicalOr, level: level)
    }

    /// Reads an expression of operators with at least that precedence.
    private mutating func expression(_ binding: Binding, level: Int) throws(TableQuery.SyntaxError) -> Part {
        if binding == .operand { return try operand(level: level) }
        var left = try expression(binding.tighter, level: level)
        var terms = [left]
        while true {
            scanner.skipSpace()
            let start = scanner
            guard let word = scanner.identifier(),
                let operation = QueryExpression.BinaryOperator(caseBlind: word), Binding(operation) == binding
            else {
                scanner = start
                break
            }
            if operation == .isIn {
                left = try membership(of: left, level: level, at: start.position)
                terms[0] = left
                continue
            }
            let right = try expression(binding.tighter, level: level)
            if binding == .logicalOr || binding == .logicalAnd {
                terms.append(right)
            } else {
                left = try joined(left, operation, right, at: start.position)
                terms[0] = left
            }
        }
        if terms.count == 1 { return left }
        return try balanced(terms[...], binding == .logicalOr ? .or : .and, at: scanner.position)
    }

    private func joined(
        _ left: Part, _ operation: QueryExpression.BinaryOperator, _ right: Part, at place: Int
    ) throws(TableQuery.SyntaxError) -> Part {
        try part(.binary(operation, left.expression, right.expression), of: [left, right], at: place)
    }

    /// Returns an expression made of those parts, in its own order.
    func part(
        _ expression: QueryExpression, of parts: [Part], at place: Int
    ) throws(TableQuery.SyntaxError) -> Part {
        let depth = (parts.map(\.depth).max() ?? 0) + 1
        guard depth <= maximumDepth else { throw tooDeep(at: place) }
        let size = parts.reduce(1) { $0 + $1.size }
        guard size <= Self.maximumSize else { throw repeatsTooMuch(at: place) }
        return Part(
            expression: expression, depth: depth, size: size,
            places: ODataPlaces(place: place, operands: parts.map(\.places)))
    }

    func leaf(_ expression: QueryExpression, at place: Int, size: Int = 1) -> Part {
        Part(expression: expression, depth: 1, size: size, places: ODataPlaces(place: place))
    }

    /// Returns a chain of `or` or `and` as a tree of the smallest depth. The grouping of the terms does not matter, and
    /// a chain of a hundred ids is usual.
    private func balanced(
        _ terms: ArraySlice<Part>, _ operation: QueryExpression.BinaryOperator, at place: Int
    ) throws(TableQuery.SyntaxError) -> Part {
        if terms.count == 1, let only = terms.first { return only }
        let middle = terms.startIndex + (terms.count + 1) / 2
        return try joined(
            try balanced(terms[..<middle], operation, at: place), operation,
            try balanced(terms[middle...], operation, at: place), at: place)
    }

    /// Reads `x in (1,2)`, `x in [a,2]` or `x in Names`, after the operator.
    private mutating func membership(of left: Part, level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part {
        scanner.skipSpace()
        let start = scanner.position
        if scanner.next == "[" {
            let list = try list(level: level + 1)
            guard case .list(let elements) = list.expression else { return list }
            return try membership(of: left, in: list, elements, at: place)
        }
        guard scanner.skip("(") else {
            let right = try operand(level: level)
            if case .literal = right.expression { throw scanner.error("expected a list", at: start) }
            return try joined(left, .isIn, right, at: place)
        }
        scanner.skipSpace()
        if scanner.skip(")") { return try membership(of: left, in: leaf(.list([]), at: start), [], at: place) }
        var values: [Part] = []
        repeat {
            values.append(try nested(level))
            scanner.skipSpace()
            if case .literal = values[0].expression, case .literal = values[values.count - 1].expression { continue }
            if values.count > 1 || scanner.next == "," {
                throw scanner.error("a list in parentheses has constants only; others may stand in [ ]")
            }
        } while scanner.skip(",")
        try scanner.expect(")")
        if case .literal = values[0].expression {
            let list = Part(
                expression: .list(values.map(\.expression)), depth: 1, size: values.count,
                places: ODataPlaces(place: start, operands: values.map(\.places)))
            return try membership(of: left, in: list, values.map(\.expression), at: place)
        }
        return try joined(left, .isIn, values[0], at: place)
    }

    private func membership(
        of left: Part, in list: Part, _ elements: [QueryExpression], at place: Int
    ) throws(TableQuery.SyntaxError) -> Part {
        let literals = elements.compactMap { element in
            if case .literal(let literal) = element { literal } else { nil }
        }
        let isConstant = literals.count == elements.count
        let depth = isConstant ? left.depth + 1 : max(left.depth, list.depth) + 1
        guard depth <= maximumDepth else { throw tooDeep(at: place) }
        // v3 has no `in`: each value is compared with the left side, so a list in a list multiplies.
        let size = (left.size + 3) * max(1, elements.count) - 1 + (isConstant ? 0 : list.size)
        guard left.size == 1 && isConstant || size <= Self.maximumSize else { throw repeatsTooMuch(at: place) }
        let operands = isConstant ? [left.places] + list.places.operands : [left.places, list.places]
        return Part(
            expression: isConstant
                ? .membership(left.expression, literals) : .binary(.isIn, left.expression, list.expression),
            depth: depth, size: size, places: ODataPlaces(place: place, operands: operands))
    }

    mutating func nested(_ level: Int) throws(TableQuery.SyntaxError) -> Part {
        guard level < maximumDepth else { throw tooDeep(at: scanner.position) }
        return try expression(.logicalOr, level: level + 1)
    }

    func tooDeep(at place: Int) -> TableQuery.SyntaxError {
        scanner.error("nested deeper than \(maximumDepth) levels", at: place)
    }

    func repeatsTooMuch(at place: Int) -> TableQuery.SyntaxError {
        scanner.error("the lists of the query repeat too much", at: place)
    }
}

extension QueryExpression.BinaryOperator {
    /// Finds the operator of that name in any case. (OData v4.01 part 2, 5.1.1: names of operators ignore case.)
    init?(caseBlind name: String) {
        guard name.utf8.count <= 5 else { return nil }
        self.init(rawValue: name.lowercased())
    }
}
