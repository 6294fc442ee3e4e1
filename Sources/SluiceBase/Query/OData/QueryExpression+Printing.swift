extension QueryExpression {
    /// The expression as an OData `$filter`, not percent-encoded.
    public func odata(_ style: ODataStyle) -> String {
        switch self {
        case .literal(.bool(let value)) where style == .v3: value ? "(1 eq 1)" : "(1 eq 0)"
        default: text(style)
        }
    }

    private func text(_ style: ODataStyle) -> String {
        switch self {
        case .literal(let literal): literal.odata(style)
        case .column(let name): ODataName.encoded(name)
        case .unary(.not, .literal(.bool(let value))) where style == .v3:
            "not\(QueryExpression.literal(.bool(value)).odata(style))"
        case .unary(.not, let operand): "not(\(operand.text(style)))"
        case .unary(.negate, let operand): "-(\(operand.text(style)))"
        case .binary(let operation, let left, let right) where operation == .and || operation == .or:
            if let terms = longChain(of: operation) {
                "(\(terms.map { $0.odata(style) }.joined(separator: " \(operation.rawValue) ")))"
            } else {
                "(\(left.odata(style)) \(operation.rawValue) \(right.odata(style)))"
            }
        case .binary(let operation, let left, let right):
            "(\(left.operand(style)) \(operation.rawValue) \(right.operand(style)))"
        case .call(.contains, let arguments) where style == .v3:
            "substringof(\(arguments.reversed().map { $0.text(style) }.joined(separator: ",")))"
        case .call(let function, let arguments):
            "\(function.rawValue)(\(arguments.map { $0.text(style) }.joined(separator: ",")))"
        case .membership(_, let literals) where literals.isEmpty: QueryExpression.literal(.bool(false)).odata(style)
        case .membership(let operand, let literals) where style == .v4:
            "\(operand.operand(style)) in (\(literals.map { $0.odata(style) }.joined(separator: ",")))"
        case .membership(let operand, let literals): Self.comparisons(of: operand, with: literals)
        }
    }

    /// The text beside an operator that binds as `in` does or tighter.
    private func operand(_ style: ODataStyle) -> String {
        if case .membership = self, style == .v4 { "(\(text(style)))" } else { text(style) }
    }

    /// What v3 has instead of `in`.
    private static func comparisons(of operand: QueryExpression, with literals: [QueryLiteral]) -> String {
        let operand = operand.text(.v3)
        let terms = literals.map { "(\(operand) eq \($0.odata(.v3)))" }
        guard terms.count <= longestNestedChain else { return "(\(terms.joined(separator: " or ")))" }
        return terms.dropFirst().reduce(terms[0]) { "(\($0) or \($1))" }
    }

    /// The most terms of an `and` or `or` that are printed as they are nested. Beyond, parentheses are left out: a
    /// reader's limit of nesting must not be reached by conditions that were put together one by one.
    private static let longestNestedChain = 32

    /// The terms of a chain of that logical operator, if they are more than those.
    private func longChain(of operation: BinaryOperator) -> [QueryExpression]? {
        var terms: [QueryExpression] = []
        var waiting = [self]
        while let next = waiting.popLast() {
            if case .binary(operation, let left, let right) = next {
                waiting.append(right)
                waiting.append(left)
            } else {
                terms.append(next)
            }
        }
        return terms.count > Self.longestNestedChain ? terms : nil
    }
}
