/// Finds an expression's types and refuses what means nothing.
struct QueryChecker {
    /// The deepest nesting of expressions that is accepted.
    static let maximumDepth = 64

    let schema: TableSchema?
    var table: String?

    /// A filter: an expression that is true or false.
    func filter(_ expression: QueryExpression) throws(SluiceError) -> TypedExpression {
        let typed = try check(expression, depth: 1)
        try expect(typed, .bool, "a filter")
        return typed
    }

    private func check(_ expression: QueryExpression, depth: Int) throws(SluiceError) -> TypedExpression {
        guard depth <= Self.maximumDepth else {
            throw invalid("the query nests expressions deeper than \(Self.maximumDepth) levels")
        }
        switch expression {
        case .literal(let literal):
            let value = QueryValue(literal)
            return TypedExpression(.constant(value), QueryType(value))
        case .column(let name):
            return TypedExpression(column: name, of: schema)
        case .unary(let operation, let operand):
            let operand = try check(operand, depth: depth + 1)
            switch operation {
            case .not:
                try expect(operand, .bool, "not")
                return TypedExpression(.not, .bool, [operand])
            case .negate:
                try expect(operand, .number, "the sign -")
                return TypedExpression(.negate, .number, [operand])
            }
        case .binary(let operation, let left, let right):
            let left = try check(left, depth: depth + 1)
            let right = try check(right, depth: depth + 1)
            return TypedExpression(.binary(operation), try type(of: operation, left, right), [left, right])
        case .call(let function, let arguments):
            var typed: [TypedExpression] = []
            for argument in arguments { typed.append(try check(argument, depth: depth + 1)) }
            return TypedExpression(.call(function), try type(of: function, typed), typed)
        }
    }

    private func type(
        of operation: QueryExpression.BinaryOperator, _ left: TypedExpression, _ right: TypedExpression
    ) throws(SluiceError) -> QueryType {
        switch operation {
        case .or, .and:
            try expect(left, .bool, operation.rawValue)
            try expect(right, .bool, operation.rawValue)
            return .bool
        case .add, .sub, .mul, .div, .mod:
            try expect(left, .number, operation.rawValue)
            try expect(right, .number, operation.rawValue)
            return .number
        case .eq, .ne, .gt, .ge, .lt, .le:
            let comparable =
                left.type.mayBe(right.type) || right.type.mayBe(left.type)
                || (left.type == .date && right.type == .string) || (left.type == .string && right.type == .date)
            guard comparable else {
                throw invalid(
                    "\(operation.rawValue) compares a \(left.type.rawValue) with a \(right.type.rawValue)"
                        + name(of: left) + name(of: right))
            }
            return .bool
        }
    }

    private func type(
        of function: QueryFunction, _ arguments: [TypedExpression]
    ) throws(SluiceError) -> QueryType {
        let counts = QueryFunctions.argumentCounts(function)
        guard counts.contains(arguments.count) else {
            let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) or \(counts.upperBound)"
            throw invalid("\(function.rawValue) takes \(wanted) arguments, not \(arguments.count)")
        }
        for (index, argument) in arguments.enumerated() {
            let wanted: QueryType =
                switch function {
                case .floor, .ceiling, .round: .number
                case .substring where index > 0: .number
                case .day, .month, .year, .hour, .minute, .second: argument.type == .string ? .string : .date
                default: .string
                }
            try expect(argument, wanted, function.rawValue)
        }
        return switch function {
        case .contains, .startswith, .endswith: .bool
        case .replace, .tolower, .toupper, .trim, .concat, .substring: .string
        case .indexof, .length, .day, .month, .year, .hour, .minute, .second, .floor, .ceiling, .round: .number
        }
    }

    private func expect(_ expression: TypedExpression, _ type: QueryType, _ user: String) throws(SluiceError) {
        if expression.type.mayBe(type) { return }
        throw invalid("\(user) wants a \(type.rawValue), not a \(expression.type.rawValue)" + name(of: expression))
    }

    private func name(of expression: TypedExpression) -> String {
        if case .column(let name, _) = expression.node { " (column \(name))" } else { "" }
    }

    func invalid(_ message: String) -> SluiceError {
        SluiceError(.invalidQuery, message, table: table ?? schema?.name)
    }
}
