/// Determines the types in an expression, and refuses invalid expressions.
struct QueryChecker {
    /// The deepest allowed nesting of expressions. A chain of `and` or of `or` counts as one level.
    static let maximumDepth = 64

    let schema: TableSchema?
    var undeclared = UndeclaredColumns.allowed
    /// The other tables, if paths may follow navigation properties.
    var relations: (any TableQuery.Relations)?
    /// The value that names refer to.
    var item: Item
    /// Whether names refer to an element of a collection and not to the record.
    var isAboutElement = false
    /// The variables of the surrounding `any` and `all`, with their values.
    var variables: [(name: PropertyName, item: Item)] = []

    /// A value that names may refer to.
    enum Item: Sendable {
        /// A record of a table with those columns, or of a table without declared columns.
        case record(TableSchema?)
        /// A value inside a record.
        case element
    }

    init(
        schema: TableSchema?, undeclared: UndeclaredColumns = .allowed, relations: (any TableQuery.Relations)? = nil
    ) {
        self.schema = schema
        self.undeclared = undeclared
        self.relations = relations
        item = .record(schema)
    }

    /// Checks a filter: an expression that is true or false.
    ///
    /// - Parameter places: the positions of the filter's parts in its text, for the fault.
    func filter(_ expression: QueryExpression, at places: ODataPlaces? = nil) throws(QueryFault) -> TypedExpression {
        let typed = try check(expression, at: places, depth: 1)
        try expect(typed, .bool, "a filter", at: places)
        return typed
    }

    /// Checks an expression of any type.
    func expression(
        _ expression: QueryExpression, at places: ODataPlaces? = nil
    ) throws(QueryFault) -> TypedExpression { try check(expression, at: places, depth: 1) }

    /// Checks a sort key.
    func key(_ expression: QueryExpression, at places: ODataPlaces? = nil) throws(QueryFault) -> TypedExpression {
        let typed = try check(expression, at: places, depth: 1)
        let isOfRecord =
            switch typed.node {
            case .column, .path: true
            default: false
            }
        switch typed.type {
        case .null, .bool, .number, .string, .date: return typed
        case .any where isOfRecord, .json where isOfRecord: return typed
        default: throw unsupported("sorting by a value of the kind \(typed.type.rawValue)", at: places)
        }
    }

    /// Returns the column of that name.
    func column(_ name: PropertyName, at place: Int? = nil) throws(QueryFault) -> TypedExpression {
        guard case .record(let schema) = item else { return TypedExpression(.column(name, nil), .any) }
        if let reference = schema?.reference(name) {
            throw QueryFault(
                unsupported: "\(name) is a navigation property, which needs a property of \(reference.table) after it",
                at: place)
        }
        if undeclared == .refused, name != "id", schema?.column(name) == nil {
            throw QueryFault("there is no column \"\(name)\"", at: place)
        }
        return TypedExpression(column: name, of: schema)
    }

    func check(
        _ expression: QueryExpression, at places: ODataPlaces?, depth: Int
    ) throws(QueryFault) -> TypedExpression {
        guard depth <= Self.maximumDepth else {
            throw QueryFault("the query nests expressions deeper than \(Self.maximumDepth) levels", at: places?.place)
        }
        switch comparingIDsAsTexts(expression) {
        case .literal(let literal):
            return TypedExpression(constant: try value(literal, at: places))
        case .column(let name):
            return try column(name, at: places?.place)
        case .unary(let operation, let operand):
            let operand = try check(operand, at: places?[0], depth: depth + 1)
            switch operation {
            case .not:
                try expect(operand, .bool, "not", at: places?[0])
                return TypedExpression(.not, .bool, [operand])
            case .negate:
                if operand.type == .duration { return TypedExpression(.negate, .duration, [operand]) }
                try expect(operand, .number, "the sign -", at: places?[0])
                return TypedExpression(.negate, .number, [operand])
            }
        case .binary(let operation, _, _) where operation == .and || operation == .or:
            return try chain(of: operation, expression, at: places, depth: depth)
        case .binary(.isIn, let left, let right):
            return try element(left, in: right, expression, at: places, depth: depth)
        case .binary(let operation, let left, let right):
            let operands = [
                try check(left, at: places?[0], depth: depth + 1), try check(right, at: places?[1], depth: depth + 1),
            ]
            return TypedExpression(.binary(operation), try type(of: operation, operands, at: places), operands)
        // An empty list contains nothing.
        case .membership(_, let literals) where literals.isEmpty: return TypedExpression(constant: .bool(false))
        case .membership(let operand, let literals):
            let operand = try check(operand, at: places?[0], depth: depth + 1)
            var values: [QueryValue] = []
            for (index, literal) in literals.enumerated() {
                values.append(try value(literal, at: places?[index + 1]))
                let value = values[index]
                try expectComparable("in", operand, TypedExpression(constant: value), at: places?[index + 1])
            }
            return TypedExpression(.membership(values), .bool, [operand])
        case .call(let function, let arguments):
            var typed: [TypedExpression] = []
            for (index, argument) in arguments.enumerated() {
                typed.append(try check(argument, at: places?[index], depth: depth + 1))
            }
            return try called(function, typed, at: places)
        case .path(let path): return try self.path(path, of: expression, at: places, depth: depth)
        case .choice(let choices): return try choice(choices, at: places, depth: depth)
        case .list: throw unsupported("a list", at: places)
        case .object: throw unsupported("an object", at: places)
        case .typed(let operation, _, let type):
            throw unsupported("\(operation.rawValue) with the type \(type)", at: places)
        }
    }

    /// Returns the value of a constant.
    private func value(_ literal: TableQuery.Literal, at places: ODataPlaces?) throws(QueryFault) -> QueryValue {
        switch literal {
        case .binary: throw unsupported("a constant of bytes", at: places)
        case .shape: throw unsupported("a shape that is no point of the Earth", at: places)
        case .notANumber: throw unsupported("NaN", at: places)
        default: return QueryValue(literal)
        }
    }

    private func choice(
        _ choices: [TableQuery.Choice], at places: ODataPlaces?, depth: Int
    ) throws(QueryFault) -> TypedExpression {
        var operands: [TypedExpression] = []
        for (index, choice) in choices.enumerated() {
            let condition = try check(choice.condition, at: places?[index * 2], depth: depth + 1)
            try expect(condition, .bool, "a condition of case", at: places?[index * 2])
            operands += [condition, try check(choice.value, at: places?[index * 2 + 1], depth: depth + 1)]
        }
        let types = stride(from: 1, to: operands.count, by: 2).map { operands[$0].type }.filter { $0 != .null }
        let isOfOneType = types.dropFirst().allSatisfy { $0 == types[0] } && types.first != .json
        return TypedExpression(.choice, isOfOneType ? types.first ?? .null : .any, operands)
    }

    /// Checks a chain of one logical operator, and returns a tree of the smallest depth. The grouping of the terms does
    /// not matter, and conditions are often added one by one.
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

    func balanced(
        _ terms: ArraySlice<TypedExpression>, _ operation: QueryExpression.BinaryOperator
    ) -> TypedExpression {
        if terms.count == 1, let only = terms.first { return only }
        let middle = terms.startIndex + (terms.count + 1) / 2
        return TypedExpression(
            .binary(operation), .bool, [balanced(terms[..<middle], operation), balanced(terms[middle...], operation)])
    }
}

extension QueryChecker {
    /// Returns the expression with numbers as texts where it compares them with a record's id, because ids are texts.
    /// So a service with numeric keys can be queried by `5` as well as by `'5'`. Order comparisons stay, because texts
    /// have another order than numbers.
    func comparingIDsAsTexts(_ expression: QueryExpression) -> QueryExpression {
        guard case .record = item else { return expression }
        return switch expression {
        case .binary(let comparison, .column("id"), .literal(let literal)) where comparison == .eq || comparison == .ne:
            .binary(comparison, .column("id"), .literal(Self.text(literal)))
        case .binary(let comparison, .literal(let literal), .column("id")) where comparison == .eq || comparison == .ne:
            .binary(comparison, .literal(Self.text(literal)), .column("id"))
        case .membership(.column("id"), let literals): .membership(.column("id"), literals.map(Self.text))
        default: expression
        }
    }

    private static func text(_ literal: TableQuery.Literal) -> TableQuery.Literal {
        if case .number(let number) = literal { .string(number.description) } else { literal }
    }
}
