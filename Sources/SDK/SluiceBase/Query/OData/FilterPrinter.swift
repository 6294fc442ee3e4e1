extension QueryExpression {
    /// Returns the expression as an OData `$filter`, not percent-encoded.
    public func odata(_ style: ODataOptions.Style) -> String {
        switch self {
        case .literal(.bool(let value)) where style == .v3: value ? "(1 eq 1)" : "(1 eq 0)"
        default: text(style)
        }
    }

    /// Returns the text inside the `any` and `all` of those variables.
    func text(_ style: ODataOptions.Style, in variables: [PropertyName] = []) -> String {
        FilterPrinter(style: style, variables: variables).text(self)
    }
}

/// Writes expressions as OData.
struct FilterPrinter {
    let style: ODataOptions.Style
    /// The variables of the surrounding `any` and `all`.
    var variables: [PropertyName] = []

    func text(_ expression: QueryExpression) -> String {
        switch expression {
        case .literal(let literal): literal.odata(style)
        case .column(let name): ODataName.encoded(name, taken: variables)
        case .path(let path): text(path)
        case .list(let elements): "[\(joined(elements))]"
        case .object(let members): "{\(members.map(member).joined(separator: ","))}"
        case .choice(let choices):
            "case(\(choices.map { "\(text($0.condition)):\(text($0.value))" }.joined(separator: ",")))"
        case .typed(let operation, let operand, let type):
            "\(operation.rawValue)(\(operand.map { text($0) + "," } ?? "")\(ODataName.plain(type)))"
        case .unary(.not, .literal(.bool(let value))) where style == .v3:
            "not\(QueryExpression.literal(.bool(value)).odata(style))"
        case .unary(.not, let operand): "not(\(text(operand)))"
        case .unary(.negate, let operand): "-(\(text(operand)))"
        case .binary(let operation, let left, let right) where operation == .and || operation == .or:
            if let terms = expression.longChain(of: operation) {
                "(\(terms.map(condition).joined(separator: " \(operation.rawValue) ")))"
            } else {
                "(\(condition(left)) \(operation.rawValue) \(condition(right)))"
            }
        case .binary(.isIn, let left, let right): "(\(operand(left)) in \(list(right)))"
        case .binary(let operation, let left, let right):
            "(\(operand(left)) \(operation.rawValue) \(operand(right)))"
        case .call(.contains, let arguments) where style == .v3: "substringof(\(joined(arguments.reversed())))"
        case .call(let function, let arguments): "\(function.rawValue)(\(joined(arguments)))"
        case .membership(_, let literals) where literals.isEmpty: QueryExpression.literal(.bool(false)).odata(style)
        case .membership(let operand, let literals) where style == .v4:
            "\(self.operand(operand)) in (\(literals.map { $0.odata(style) }.joined(separator: ",")))"
        case .membership(let operand, let literals): comparisons(of: operand, with: literals)
        }
    }

    /// Returns the text of a condition: v3 needs a comparison in the place of `true`.
    private func condition(_ expression: QueryExpression) -> String {
        if case .literal(.bool) = expression, style == .v3 { expression.odata(style) } else { text(expression) }
    }

    private func joined(_ expressions: [QueryExpression]) -> String {
        expressions.map(text).joined(separator: ",")
    }

    /// Returns the text beside an operator with the precedence of `in` or higher.
    private func operand(_ expression: QueryExpression) -> String {
        if case .membership = expression, style == .v4 { "(\(text(expression)))" } else { text(expression) }
    }

    /// Returns the right side of `in`. A constant gets parentheses, because it would be read as a list of constants.
    private func list(_ expression: QueryExpression) -> String {
        switch expression {
        case .list, .path, .column: text(expression)
        default: "(\(text(expression)))"
        }
    }

    private func member(_ member: TableQuery.Argument) -> String {
        "\(JSON(member.name ?? "").description):\(text(member.value))"
    }

    private func arguments(_ arguments: [TableQuery.Argument]) -> String {
        let texts = arguments.map { ($0.name.map { ODataName.plain($0) + "=" } ?? "") + text($0.value) }
        return "(\(texts.joined(separator: ",")))"
    }

    /// Returns v3's substitute for `in`.
    private func comparisons(of operand: QueryExpression, with literals: [TableQuery.Literal]) -> String {
        let operand = text(operand)
        let terms = literals.map { "(\(operand) eq \($0.odata(.v3)))" }
        guard terms.count <= QueryExpression.longestNestedChain else { return "(\(terms.joined(separator: " or ")))" }
        return terms.dropFirst().reduce(terms[0]) { "(\($0) or \($1))" }
    }

    private func text(_ path: TableQuery.Path) -> String {
        var text =
            switch path.root {
            case .record: ""
            case .it: "$it"
            case .this: "$this"
            case .service: "$root"
            case .variable(let name): ODataName.plain(name.text)
            case .alias(let name): "@" + ODataName.plain(name.text)
            }
        for (index, step) in path.steps.enumerated() {
            if case .key(let values) = step {
                text += arguments(values)
                continue
            }
            if index > 0 || path.root != .record { text += "/" }
            text += self.text(step, isFirst: index == 0 && path.root == .record)
        }
        return text
    }

    private func text(_ step: TableQuery.Path.Step, isFirst: Bool) -> String {
        switch step {
        case .property(let name): return ODataName.encoded(name, taken: isFirst ? variables : [])
        case .type(let name): return ODataName.plain(name)
        case .key(let values): return arguments(values)
        case .filter(let condition): return "$filter(\(text(condition)))"
        case .count(let filter, let search):
            let options =
                (filter.map { ["$filter=" + text($0)] } ?? []) + (search.map { ["$search=" + $0.odata] } ?? [])
            return options.isEmpty ? "$count" : "$count(\(options.joined(separator: ";")))"
        case .any(let lambda): return "any(\(lambda.map(text) ?? ""))"
        case .all(let lambda): return "all(\(text(lambda)))"
        case .function(let name, let values): return ODataName.plain(name) + arguments(values)
        case .annotation(let name): return "@" + ODataName.plain(name)
        }
    }

    private func text(_ lambda: TableQuery.Lambda) -> String {
        var inner = self
        inner.variables.append(lambda.variable)
        return "\(ODataName.plain(lambda.variable.text)):\(inner.text(lambda.condition))"
    }
}

extension QueryExpression {
    /// The most terms of an `and` or `or` that keep their nesting when printed. Longer chains are printed without
    /// parentheses, so that conditions that were added one by one do not reach a reader's nesting limit.
    fileprivate static let longestNestedChain = 32

    /// Returns the terms of a chain of that logical operator, if there are more than that.
    fileprivate func longChain(of operation: BinaryOperator) -> [QueryExpression]? {
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
