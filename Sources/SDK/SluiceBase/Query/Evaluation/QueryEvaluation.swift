/// The value of a checked expression for a record.
enum QueryEvaluation {
    /// Returns the value of an expression.
    ///
    /// - Parameters:
    ///   - record: the record or element that names refer to.
    ///   - scope: the variables and the record itself; nil where there are none and names refer to the record.
    ///   - relations: the other tables, if the expression follows navigation properties.
    static func value(
        of expression: TypedExpression, _ record: JSON, _ scope: QueryScope?, _ relations: (any TableQuery.Relations)?
    ) -> QueryValue {
        let operands = expression.operands
        func operand(_ index: Int) -> QueryValue { value(of: operands[index], record, scope, relations) }
        switch expression.node {
        case .constant(let value): return value
        case .column(let name, let type):
            return type.map { QueryValue(record[name], declared: $0) } ?? QueryValue(record[name])
        case .not: return operand(0).bool.map { .bool(!$0) } ?? .null
        case .negate: return QueryOperators.negate(operand(0))
        case .binary(let operation):
            switch operation {
            case .and, .or:
                // Either side decides if it has that value; otherwise null on either side makes the result null.
                let deciding = operation == .or
                let left = operand(0).bool
                if left == deciding { return .bool(deciding) }
                let right = operand(1).bool
                if right == deciding { return .bool(deciding) }
                return left == nil || right == nil ? .null : .bool(!deciding)
            case .eq, .ne, .gt, .ge, .lt, .le:
                return .bool(QueryOperators.compare(operation, operand(0), operand(1)))
            case .add, .sub, .mul, .div, .divby, .mod:
                return QueryOperators.arithmetic(operation, operand(0), operand(1))
            case .has: return QueryOperators.has(operand(0), operand(1))
            case .isIn: return .null
            }
        case .membership(let values): return .bool(QueryOperators.isMember(operand(0), of: values))
        case .call(let function):
            return QueryFunctions.value(
                of: function, operands.map { value(of: $0, record, scope, relations) })
        case .choice:
            for index in stride(from: 0, to: operands.count - 1, by: 2) where operand(index).bool == true {
                return operand(index + 1)
            }
            return .null
        case .path(let path, _):
            return PathEvaluation(record, scope ?? QueryScope(record), relations).value(of: path)
        case .isElement(let path, _):
            let elements = PathEvaluation(record, scope ?? QueryScope(record), relations).elements(of: path)
            let value = operand(0)
            return .bool(elements.contains { QueryOperators.equal(value, QueryValue($0)) })
        }
    }
}

/// The context of an expression inside a path, besides its element.
final class QueryScope {
    /// The queried record.
    let record: JSON
    /// The elements of the variables, the innermost last.
    var variables: [(name: PropertyName, element: JSON)] = []
    /// The number of elements that may still be visited. Nested collections multiply, and a query must come to an end.
    var elementsLeft = 100_000

    init(_ record: JSON) { self.record = record }
}

/// Follows a path from one record.
struct PathEvaluation {
    /// The present position of a path.
    private enum Operand {
        case one(JSON?)
        case many([JSON])
        /// A final value without further steps.
        case value(QueryValue)
    }

    private let item: JSON
    private let scope: QueryScope
    private let relations: (any TableQuery.Relations)?

    init(_ item: JSON, _ scope: QueryScope, _ relations: (any TableQuery.Relations)?) {
        self.item = item
        self.scope = scope
        self.relations = relations
    }

    func value(of path: TypedPath) -> QueryValue {
        switch end(of: path) {
        case .one(let json):
            guard case .property(_, let type?) = path.steps.last else { return QueryValue(json) }
            return QueryValue(json, declared: type)
        case .many: return .other
        case .value(let value): return value
        }
    }

    /// Returns the value at the path's end as a record holds it: an object or a collection as a whole.
    func json(of path: TypedPath) -> JSON {
        switch end(of: path) {
        case .one(let json): json ?? .null
        case .many(let elements): JSON(elements)
        case .value(let value): value.json
        }
    }

    /// Returns the elements at the path's end: of a collection, or a single value.
    func elements(of path: TypedPath) -> [JSON] {
        switch end(of: path) {
        case .one(let json): elements(.one(json)) ?? json.map { [$0] } ?? []
        case .many(let elements): elements
        case .value: []
        }
    }

    private func end(of path: TypedPath) -> Operand {
        var place =
            switch path.root {
            case .record: Operand.one(item)
            case .it: Operand.one(scope.record)
            case .variable(let name): Operand.one(scope.variables.last { $0.name == name }?.element)
            }
        for step in path.steps { place = next(step, from: place) }
        return place
    }

    private func next(_ step: TypedPath.Step, from place: Operand) -> Operand {
        switch step {
        case .property(let name, let type): return property(name, type, of: place)
        case .navigation(let reference, _):
            guard case .one(let record?) = place else {
                let found = (elements(place) ?? []).flatMap { related(reference, to: $0) }
                return .many(found)
            }
            let found = related(reference, to: record)
            return reference.isCollection ? .many(found) : .one(found.first)
        case .filter(let condition):
            guard let elements = elements(place) else { return .value(.null) }
            let passing = elements.filter { holds(condition, $0) == true }
            return scope.elementsLeft < 0 ? .value(.null) : .many(passing)
        case .count(let condition, let search):
            guard let elements = elements(place) else { return .value(.null) }
            let counted = elements.count { element in
                (condition.map { holds($0, element) == true } ?? true) && (search?.matches(element) ?? true)
            }
            return .value(scope.elementsLeft < 0 ? .null : .integer(Int64(counted)))
        case .any(let variable, let condition):
            guard let elements = elements(place) else { return .value(.null) }
            guard let condition else { return .value(.bool(!elements.isEmpty)) }
            return .value(decided(elements, variable, condition, by: true))
        case .all(let variable, let condition):
            guard let elements = elements(place) else { return .value(.null) }
            return .value(decided(elements, variable, condition, by: false))
        }
    }

    private func property(_ name: PropertyName, _ type: TableSchema.ColumnType?, of place: Operand) -> Operand {
        switch place {
        case .one(let json):
            if let elements = json?.elements { return .many(elements.compactMap { $0[name] }) }
            let value = json?[name]
            // A value that is not of the column's type counts as null.
            if let type, QueryValue(value, declared: type).isNull { return .one(nil) }
            return .one(value)
        case .many(let elements): return .many(elements.compactMap { $0[name] })
        case .value: return .one(nil)
        }
    }

    /// Returns the elements of a collection; none without a value, nil where the value is not a collection.
    private func elements(_ place: Operand) -> [JSON]? {
        switch place {
        case .one(let json):
            guard let json, !json.isNull else { return [] }
            return json.elements
        case .many(let elements): return elements
        case .value: return nil
        }
    }

    private func related(_ reference: TableSchema.Reference, to record: JSON) -> [JSON] {
        if relations is EmbeddedRelations { return record[reference.name]?.elements ?? [] }
        guard let relations, let value = record[reference.column], !value.isNull else { return [] }
        return relations.records(of: reference.table, where: reference.targetColumn, equals: value)
    }

    /// Returns whether the condition is true for the element that names refer to.
    private func holds(_ condition: TypedExpression, _ element: JSON) -> Bool? {
        guard spend() else { return nil }
        return QueryEvaluation.value(of: condition, element, scope, relations).bool
    }

    /// Returns the result of `any`, which one true element decides, or `all`, which one false element decides.
    /// Otherwise null makes null.
    private func decided(
        _ elements: [JSON], _ variable: PropertyName, _ condition: TypedExpression, by deciding: Bool
    ) -> QueryValue {
        var hasNull = false
        for element in elements {
            guard spend() else { return .null }
            scope.variables.append((variable, element))
            let result = QueryEvaluation.value(of: condition, item, scope, relations).bool
            scope.variables.removeLast()
            if result == deciding { return .bool(deciding) }
            if result == nil { hasNull = true }
        }
        return hasNull ? .null : .bool(!deciding)
    }

    private func spend() -> Bool {
        scope.elementsLeft -= 1
        return scope.elementsLeft >= 0
    }
}
