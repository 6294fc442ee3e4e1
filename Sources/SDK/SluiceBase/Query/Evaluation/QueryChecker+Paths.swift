extension QueryChecker {
    /// Checks a path, which must lead to a value that records can hold.
    func path(
        _ path: TableQuery.Path, of expression: QueryExpression, at places: ODataPlaces?, depth: Int
    ) throws(QueryFault) -> TypedExpression {
        let typed = try typed(path, at: places, depth: depth)
        if typed.steps.count == 1, case .property(let name, let type) = typed.steps[0], path.root != .this {
            let isOfRecord = if case .variable = typed.root { false } else { !isInside }
            if isOfRecord { return TypedExpression(.column(name, type), type.map { QueryType($0) } ?? .any) }
        }
        if typed.steps.isEmpty, case .it = typed.root {
            throw QueryFault(unsupported: "$it is run only with a property after it", at: places?.place)
        }
        return TypedExpression(.path(typed, expression), typed.type)
    }

    /// Whether names and variables may refer to something other than the record.
    private var isInside: Bool { !variables.isEmpty || isAboutElement }

    /// Checks a test whether a value is an element of a collection.
    func element(
        _ left: QueryExpression, in right: QueryExpression, _ expression: QueryExpression, at places: ODataPlaces?,
        depth: Int
    ) throws(QueryFault) -> TypedExpression {
        let path: TypedPath
        switch right {
        case .path(let right): path = try typed(right, at: places?[1], depth: depth + 1)
        case .column(let name):
            path = try typed(TableQuery.Path(.record, [.property(name)]), at: nil, depth: depth + 1)
        case .list(let elements): return try element(left, among: elements, at: places, depth: depth)
        default: throw QueryFault("in wants a list or a collection", at: places?[1]?.place)
        }
        guard path.type == .any || path.type == .json else {
            throw QueryFault("in wants a list or a collection, not a \(path.type.rawValue)", at: places?[1]?.place)
        }
        let operand = try check(left, at: places?[0], depth: depth + 1)
        return TypedExpression(.isElement(path, expression), .bool, [operand])
    }

    /// Checks `x in [a,b]`, which is `x eq a or x eq b`.
    private func element(
        _ left: QueryExpression, among elements: [QueryExpression], at places: ODataPlaces?, depth: Int
    ) throws(QueryFault) -> TypedExpression {
        let operand = try check(left, at: places?[0], depth: depth + 1)
        var terms: [TypedExpression] = []
        for (index, element) in elements.enumerated() {
            let element = try check(element, at: places?[1]?[index], depth: depth + 2)
            try expectComparable("in", operand, element, at: places?[1]?[index])
            terms.append(TypedExpression(.binary(.eq), .bool, [operand, element]))
        }
        if terms.isEmpty { return TypedExpression(constant: .bool(false)) }
        return balanced(terms[...], .or)
    }

    private func typed(_ path: TableQuery.Path, at places: ODataPlaces?, depth: Int) throws(QueryFault) -> TypedPath {
        var typed = TypedPath(root: .record, steps: [])
        var item = self.item
        switch path.root {
        case .record: break
        case .it: (typed.root, item) = (.it, .record(schema))
        case .this:
            guard isAboutElement else { throw unsupported("$this", at: places) }
        case .variable(let name):
            guard let variable = variables.last(where: { $0.name == name }) else {
                throw QueryFault("there is no variable \"\(name)\"", at: places?.place)
            }
            (typed.root, item) = (.variable(name), variable.item)
        case .alias(let name): throw QueryFault("@\(name) has no value", at: places?.place)
        case .service: throw unsupported("$root", at: places)
        }
        for (index, step) in path.steps.enumerated() {
            let place = places?[index]
            guard typed.type == .any || typed.type == .json else {
                throw QueryFault("nothing follows a \(typed.type.rawValue) in a path", at: place?.place)
            }
            try append(step, to: &typed, &item, at: place ?? places, depth: depth)
        }
        return typed
    }

    private func append(
        _ step: TableQuery.Path.Step, to path: inout TypedPath, _ item: inout Item, at places: ODataPlaces?,
        depth: Int
    ) throws(QueryFault) {
        switch step {
        case .property(let name):
            guard case .record(let schema) = item else {
                path.type = .any
                return path.steps.append(.property(name, nil))
            }
            if let reference = schema?.reference(name) {
                guard let relations else {
                    throw QueryFault(
                        unsupported: "the navigation property \(name) is not followed here", at: places?.place)
                }
                let target = relations.schema(of: reference.table)
                path.steps.append(.navigation(reference, target))
                path.type = .any
                item = .record(target)
                return
            }
            let column = try about(item).column(name, at: places?.place)
            guard case .column(_, let type) = column.node else { return }
            path.steps.append(.property(name, type))
            path.type = column.type
            item = .element
        case .filter(let condition):
            path.steps.append(.filter(try about(item).condition(condition, at: places?[0], depth: depth + 1)))
        case .count(let condition, let search):
            var typed: TypedExpression?
            if let condition { typed = try about(item).condition(condition, at: places?[0], depth: depth + 1) }
            path.steps.append(.count(typed, search))
            path.type = .number
        case .any(let lambda):
            guard let lambda else {
                path.steps.append(.any("", nil))
                path.type = .bool
                return
            }
            path.steps.append(.any(lambda.variable, try check(lambda, of: item, at: places, depth: depth)))
            path.type = .bool
        case .all(let lambda):
            path.steps.append(.all(lambda.variable, try check(lambda, of: item, at: places, depth: depth)))
            path.type = .bool
        case .type(let name): throw unsupported("the type \(name)", at: places)
        case .key: throw unsupported("a key in a path", at: places)
        case .function(let name, _): throw unsupported("the function \(name)", at: places)
        case .annotation(let name): throw unsupported("the annotation @\(name)", at: places)
        }
    }

    private func condition(
        _ expression: QueryExpression, at places: ODataPlaces?, depth: Int
    ) throws(QueryFault) -> TypedExpression {
        let typed = try check(expression, at: places, depth: depth)
        try expect(typed, .bool, "a condition", at: places)
        return typed
    }

    private func check(
        _ lambda: TableQuery.Lambda, of item: Item, at places: ODataPlaces?, depth: Int
    ) throws(QueryFault) -> TypedExpression {
        var inner = self
        inner.variables.append((lambda.variable, item))
        return try inner.condition(lambda.condition, at: places?[0], depth: depth + 1)
    }

    /// Returns the checker for expressions about an element of a collection.
    private func about(_ item: Item) -> QueryChecker {
        var inner = self
        inner.item = item
        inner.isAboutElement = true
        return inner
    }

    func unsupported(_ what: String, at places: ODataPlaces?) -> QueryFault {
        QueryFault(unsupported: "\(what) is read, but not run", at: places?.place)
    }
}
