extension QueryExpression {
    /// The expression with each of those directly in it replaced by what `change` makes of it.
    package func mappingChildren(_ change: (QueryExpression) -> QueryExpression) -> QueryExpression {
        switch self {
        case .literal, .column: self
        case .unary(let operation, let operand): .unary(operation, change(operand))
        case .binary(let operation, let left, let right): .binary(operation, change(left), change(right))
        case .call(let function, let arguments): .call(function, arguments.map(change))
        case .membership(let operand, let literals): .membership(change(operand), literals)
        case .list(let elements): .list(elements.map(change))
        case .object(let members): .object(members.map { $0.mapping(change) })
        case .choice(let choices):
            .choice(choices.map { QueryChoice(when: change($0.condition), change($0.value)) })
        case .typed(let operation, let operand, let type): .typed(operation, operand.map(change), type)
        case .path(let path): .path(QueryPath(path.root, path.steps.map { $0.mapping(change) }))
        }
    }

    /// The expressions directly in this one.
    package var children: [QueryExpression] {
        var children: [QueryExpression] = []
        _ = mappingChildren { child in
            children.append(child)
            return child
        }
        return children
    }

    /// The names that the expression may take from the record: those of its columns, and of what paths begin with.
    ///
    /// Names that are about the elements of a collection are among them.
    package var columns: Set<PropertyName> {
        var columns = children.reduce(into: Set<PropertyName>()) { $0.formUnion($1.columns) }
        switch self {
        case .column(let name): columns.insert(name)
        case .path(let path) where path.root == .record || path.root == .it:
            if case .property(let name)? = path.steps.first { columns.insert(name) }
        default: break
        }
        return columns
    }

    /// The expression with a constant in the place of each `now()`.
    ///
    /// A query with `now()` is refused as `unsupported` wherever it is run: whoever runs it says first what time it is.
    public func at(_ now: Timestamp) -> QueryExpression {
        if case .call(.now, _) = self { return .literal(.date(now)) }
        return mappingChildren { $0.at(now) }
    }

    /// Whether the expression is about the element that is asked about where it stands.
    var mentionsThis: Bool {
        if case .path(let path) = self, path.root == .this { return true }
        return children.contains { $0.mentionsThis }
    }
}

extension QueryArgument {
    fileprivate func mapping(_ change: (QueryExpression) -> QueryExpression) -> QueryArgument {
        QueryArgument(name, change(value))
    }
}

extension QueryPath.Step {
    fileprivate func mapping(_ change: (QueryExpression) -> QueryExpression) -> QueryPath.Step {
        switch self {
        case .property, .type, .annotation: self
        case .key(let values): .key(values.map { $0.mapping(change) })
        case .function(let name, let values): .function(name, values.map { $0.mapping(change) })
        case .filter(let condition): .filter(change(condition))
        case .count(let condition, let search): .count(condition.map(change), search)
        case .any(let lambda): .any(lambda.map { QueryLambda($0.variable, change($0.condition)) })
        case .all(let lambda): .all(QueryLambda(lambda.variable, change(lambda.condition)))
        }
    }
}
