/// Finds an expression's types and refuses what means nothing.
struct QueryChecker {
    /// The deepest nesting of expressions that is accepted. A chain of `and` or of `or` is one level, however long.
    static let maximumDepth = 64

    let schema: TableSchema?
    var undeclared = UndeclaredColumns.allowed

    /// A filter: an expression that is true or false.
    ///
    /// - Parameter places: where the filter's parts stand in its text, for the fault.
    func filter(_ expression: QueryExpression, at places: ODataPlaces? = nil) throws(QueryFault) -> TypedExpression {
        let typed = try check(expression, at: places, depth: 1)
        try expect(typed, .bool, "a filter", at: places)
        return typed
    }

    /// The column of that name, to sort by or to select.
    func column(_ name: PropertyName, at place: Int? = nil) throws(QueryFault) -> TypedExpression {
        if undeclared == .refused, name != "id", schema?.column(name) == nil {
            throw QueryFault("there is no column \"\(name)\"", at: place)
        }
        return TypedExpression(column: name, of: schema)
    }

    private func check(
        _ expression: QueryExpression, at places: ODataPlaces?, depth: Int
    ) throws(QueryFault) -> TypedExpression {
        guard depth <= Self.maximumDepth else {
            throw QueryFault("the query nests expressions deeper than \(Self.maximumDepth) levels", at: places?.place)
        }
        switch expression {
        case .literal(let literal):
            return TypedExpression(constant: QueryValue(literal))
        case .column(let name):
            return try column(name, at: places?.place)
        case .unary(let operation, let operand):
            let operand = try check(operand, at: places?[0], depth: depth + 1)
            switch operation {
            case .not:
                try expect(operand, .bool, "not", at: places?[0])
                return TypedExpression(.not, .bool, [operand])
            case .negate:
                try expect(operand, .number, "the sign -", at: places?[0])
                return TypedExpression(.negate, .number, [operand])
            }
        case .binary(let operation, _, _) where operation == .and || operation == .or:
            return try chain(of: operation, expression, at: places, depth: depth)
        case .binary(let operation, let left, let right):
            let operands = [
                try check(left, at: places?[0], depth: depth + 1), try check(right, at: places?[1], depth: depth + 1),
            ]
            return TypedExpression(.binary(operation), try type(of: operation, operands, at: places), operands)
        case .membership(let operand, let literals):
            let operand = try check(operand, at: places?[0], depth: depth + 1)
            let values = literals.map { QueryValue($0) }
            for (index, value) in values.enumerated() {
                try expectComparable("in", operand, TypedExpression(constant: value), at: places?[index + 1])
            }
            return TypedExpression(.membership(values), .bool, [operand])
        case .call(let function, let arguments):
            var typed: [TypedExpression] = []
            for (index, argument) in arguments.enumerated() {
                typed.append(try check(argument, at: places?[index], depth: depth + 1))
            }
            return TypedExpression(.call(function), try type(of: function, typed, at: places), typed)
        }
    }

    /// A chain of one logical operator as a tree that is no deeper than need be: how the terms are grouped changes
    /// nothing, and conditions are often put together one by one.
    private func chain(
        of operation: QueryExpression.BinaryOperator, _ expression: QueryExpression, at places: ODataPlaces?, depth: Int
    ) throws(QueryFault) -> TypedExpression {
        var terms: [TypedExpression] = []
        var waiting = [(expression, places)]
        while let (next, places) = waiting.popLast() {
            if case .binary(operation, let left, let right) = next {
                waiting.append((right, places?[1]))
                waiting.append((left, places?[0]))
            } else {
                let term = try check(next, at: places, depth: depth + 1)
                try expect(term, .bool, operation.rawValue, at: places)
                terms.append(term)
            }
        }
        return balanced(terms[...], operation)
    }

    private func balanced(
        _ terms: ArraySlice<TypedExpression>, _ operation: QueryExpression.BinaryOperator
    ) -> TypedExpression {
        if terms.count == 1, let only = terms.first { return only }
        let middle = terms.startIndex + (terms.count + 1) / 2
        return TypedExpression(
            .binary(operation), .bool, [balanced(terms[..<middle], operation), balanced(terms[middle...], operation)])
    }
}
