extension QueryChecker {
    /// Returns the type of an operator's result.
    func type(
        of operation: QueryExpression.BinaryOperator, _ operands: [TypedExpression], at places: ODataPlaces?
    ) throws(QueryFault) -> QueryType {
        switch operation {
        case .or, .and, .add, .sub, .mul, .div, .divby, .mod:
            let isLogic = operation == .or || operation == .and
            if !isLogic, operation != .mod, operands.contains(where: { $0.type.isTime }) {
                return try typeOfTimes(operation, operands, at: places)
            }
            let type: QueryType = isLogic ? .bool : .number
            for (index, operand) in operands.enumerated() {
                try expect(operand, type, operation.rawValue, at: places?[index])
            }
            return type
        case .eq, .ne, .gt, .ge, .lt, .le:
            guard let left = operands.first, let right = operands.last else { return .bool }
            try expectComparable(operation.rawValue, left, right, at: places)
            return .bool
        case .has, .isIn:
            for (index, operand) in operands.enumerated() where !operand.type.mayBe(.string) {
                try expect(operand, .number, operation.rawValue, at: places?[index])
            }
            return .bool
        }
    }

    /// Returns the type of arithmetic with dates and durations. (OData v4.01 part 2, 5.1.1.2.)
    private func typeOfTimes(
        _ operation: QueryExpression.BinaryOperator, _ operands: [TypedExpression], at places: ODataPlaces?
    ) throws(QueryFault) -> QueryType {
        let (left, right) = (operands[0].type, operands[1].type)
        let mayBeDate = { (type: QueryType) in type.mayBe(.date) || type == .string }
        switch (operation, left, right) {
        case (.add, .duration, .duration), (.sub, .duration, .duration): return .duration
        case (.add, _, .duration) where left == .date || left == .string: return .date
        case (.sub, _, .duration) where left == .date || left == .string: return .date
        case (.sub, .date, _) where mayBeDate(right) && right != .any: return .duration
        case (.sub, _, .date) where mayBeDate(left): return .duration
        case (.add, .any, .duration), (.add, .duration, .any), (.sub, .any, .duration), (.sub, .date, .any),
            (.sub, .duration, .any):
            return .any
        case (.mul, .duration, _) where right.mayBe(.number): return .duration
        case (.mul, _, .duration) where left.mayBe(.number): return .duration
        case (.div, .duration, _) where right.mayBe(.number): return .duration
        case (.divby, .duration, _) where right.mayBe(.number): return .duration
        default:
            throw QueryFault(
                "\(operation.rawValue) does not go with a \(left.rawValue) and a \(right.rawValue)", at: places?.place)
        }
    }

    /// Checks a function's call.
    func called(
        _ function: TableQuery.Function, _ arguments: [TypedExpression], at places: ODataPlaces?
    ) throws(QueryFault) -> TypedExpression {
        switch function {
        case .now, .totaloffsetminutes, .hassubset, .hassubsequence, .lineLength, .intersects:
            throw unsupported("the function \(function.rawValue)", at: places)
        case .matchesPattern:
            if arguments.count == 2, case .constant(.string(let pattern)) = arguments[1].node {
                do {
                    _ = try TextPattern(pattern)
                } catch {
                    throw error.isUnsupported
                        ? QueryFault(unsupported: "the pattern: \(error.reason)", at: places?[1]?.place)
                        : QueryFault("the pattern: \(error.reason)", at: places?[1]?.place)
                }
            }
        default: break
        }
        let type = try type(of: function, arguments, at: places)
        if case .mindatetime = function { return TypedExpression(constant: .date(.earliest)) }
        if case .maxdatetime = function { return TypedExpression(constant: .date(.latest)) }
        return TypedExpression(.call(function), type, arguments)
    }

    /// Returns the type of a function's result.
    func type(
        of function: TableQuery.Function, _ arguments: [TypedExpression], at places: ODataPlaces?
    ) throws(QueryFault) -> QueryType {
        if let mistake = QueryFunctions.countMistake(function, arguments.count) {
            throw QueryFault(mistake, at: places?.place)
        }
        for (index, argument) in arguments.enumerated() {
            let wanted: QueryType =
                switch function {
                case .floor, .ceiling, .round: .number
                case .substring where index > 0: .number
                case .hour, .minute, .second: [.string, .time].contains(argument.type) ? argument.type : .date
                case .fractionalseconds, .time: [.string, .time].contains(argument.type) ? argument.type : .date
                case .totalseconds: argument.type == .string ? .string : .duration
                case .day, .month, .year, .date: argument.type == .string ? .string : .date
                case .distance: .json
                default: .string
                }
            try expect(argument, wanted, function.rawValue, at: places?[index])
        }
        return switch function {
        case .contains, .startswith, .endswith, .matchesPattern, .hassubset, .hassubsequence, .intersects: .bool
        case .date, .now, .mindatetime, .maxdatetime: .date
        case .time: .time
        case .replace, .tolower, .toupper, .trim, .concat, .substring: .string
        case .indexof, .length, .day, .month, .year, .hour, .minute, .second, .floor, .ceiling, .round,
            .distance, .fractionalseconds, .totalseconds, .totaloffsetminutes, .lineLength:
            .number
        }
    }

    /// Refuses two values that can never be equal or ordered.
    func expectComparable(
        _ operation: String, _ left: TypedExpression, _ right: TypedExpression, at places: ODataPlaces?
    ) throws(QueryFault) {
        if left.type.isComparable(with: right.type) { return }
        throw QueryFault(
            "\(operation) compares a \(left.type.rawValue) with a \(right.type.rawValue)" + name(of: left)
                + name(of: right), at: places?.place)
    }

    /// Refuses an expression that can never have the type that its context requires.
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
