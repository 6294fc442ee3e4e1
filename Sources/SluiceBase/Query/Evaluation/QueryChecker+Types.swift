extension QueryChecker {
    /// The type of an operator's result.
    func type(
        of operation: QueryExpression.BinaryOperator, _ operands: [TypedExpression], at places: ODataPlaces?
    ) throws(QueryFault) -> QueryType {
        switch operation {
        case .or, .and, .add, .sub, .mul, .div, .mod:
            let type: QueryType = operation == .or || operation == .and ? .bool : .number
            for (index, operand) in operands.enumerated() {
                try expect(operand, type, operation.rawValue, at: places?[index])
            }
            return type
        case .eq, .ne, .gt, .ge, .lt, .le:
            guard let left = operands.first, let right = operands.last else { return .bool }
            try expectComparable(operation.rawValue, left, right, at: places)
            return .bool
        }
    }

    /// The type of a function's result.
    func type(
        of function: QueryFunction, _ arguments: [TypedExpression], at places: ODataPlaces?
    ) throws(QueryFault) -> QueryType {
        let counts = QueryFunctions.argumentCounts(function)
        guard counts.contains(arguments.count) else {
            let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) or \(counts.upperBound)"
            throw QueryFault(
                "\(function.rawValue) takes \(wanted) arguments, not \(arguments.count)", at: places?.place)
        }
        for (index, argument) in arguments.enumerated() {
            let wanted: QueryType =
                switch function {
                case .floor, .ceiling, .round: .number
                case .substring where index > 0: .number
                case .hour, .minute, .second: [.string, .time].contains(argument.type) ? argument.type : .date
                case .day, .month, .year: argument.type == .string ? .string : .date
                case .distance: .json
                default: .string
                }
            try expect(argument, wanted, function.rawValue, at: places?[index])
        }
        return switch function {
        case .contains, .startswith, .endswith: .bool
        case .replace, .tolower, .toupper, .trim, .concat, .substring: .string
        case .indexof, .length, .day, .month, .year, .hour, .minute, .second, .floor, .ceiling, .round,
            .distance:
            .number
        }
    }

    /// Refuses two values that can never be equal or in an order.
    func expectComparable(
        _ operation: String, _ left: TypedExpression, _ right: TypedExpression, at places: ODataPlaces?
    ) throws(QueryFault) {
        if left.type.isComparable(with: right.type) { return }
        throw QueryFault(
            "\(operation) compares a \(left.type.rawValue) with a \(right.type.rawValue)" + name(of: left)
                + name(of: right), at: places?.place)
    }

    /// Refuses an expression that can never be of the type that its user wants.
    func expect(
        _ expression: TypedExpression, _ type: QueryType, _ user: String, at places: ODataPlaces?
    ) throws(QueryFault) {
        if expression.type.mayBe(type) { return }
        throw QueryFault(
            "\(user) wants a \(type.rawValue), not a \(expression.type.rawValue)" + name(of: expression),
            at: places?.place)
    }

    private func name(of expression: TypedExpression) -> String {
        if case .column(let name, _) = expression.node { " (column \(name))" } else { "" }
    }
}
