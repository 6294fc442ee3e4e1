internal import SluiceBase

/// Converts a filter on records to a filter on the entities of a set.
///
/// Columns with another name in the service, or without a property there, are replaced: `id` by the key, the time of
/// change by its property or by null. Constant parts are then removed. The same filter selects the query's rows of a
/// delta (`RowForm.entity(of:)`).
struct FilterForm: Sendable {
    let set: EntitySet
    let version: ODataVersion

    /// The remainder of a filter.
    enum Result: Sendable {
        case all
        case none
        case some(String)
    }

    /// Returns the filter for the service.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for an expression that this version does not have.
    func filter(_ expression: QueryExpression) throws(SluiceError) -> Result {
        switch try simplified(expression) {
        case .literal(.bool(true)): .all
        case .literal(.bool(false)), .literal(.null): .none
        case let rest: .some(try ServiceFilterPrinter(set: set, version: version).text(of: rest))
        }
    }

    func simplified(_ expression: QueryExpression) throws(SluiceError) -> QueryExpression {
        switch expression {
        case .binary(.and, let left, let right):
            let (first, second) = (try simplified(left), try simplified(right))
            if Self.isFalse(first) || Self.isFalse(second) { return .literal(.bool(false)) }
            if case .literal(.bool(true)) = first { return second }
            if case .literal(.bool(true)) = second { return first }
            return .binary(.and, first, second)
        case .binary(.or, let left, let right):
            let (first, second) = (try simplified(left), try simplified(right))
            if Self.isFalse(first) { return second }
            if Self.isFalse(second) { return first }
            if case .literal(.bool(true)) = first { return first }
            if case .literal(.bool(true)) = second { return second }
            return .binary(.or, first, second)
        case .unary(.not, let operand):
            if case .literal(.bool(let value)) = try simplified(operand) { return .literal(.bool(!value)) }
            return .unary(.not, try simplified(operand))
        case .binary(let comparison, let left, let right):
            return try compared(comparison, left, right)
        case .membership(.column("id"), let literals):
            return try any(try literals.map { literal throws(SluiceError) in try keyCondition(.eq, literal) })
        default: return try renamed(expression)
        }
    }

    private static func isFalse(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .literal(.bool(false)), .literal(.null): true
        default: false
        }
    }

    private func compared(
        _ comparison: QueryExpression.BinaryOperator, _ left: QueryExpression, _ right: QueryExpression
    ) throws(SluiceError) -> QueryExpression {
        if case .column("id") = left, case .literal(let literal) = right {
            return try keyCondition(comparison, literal)
        }
        if case .literal(let literal) = left, case .column("id") = right {
            return try keyCondition(comparison.turned, literal)
        }
        if isAbsent(left) || isAbsent(right) {
            // Null equals null, and compares with nothing else.
            let isNull = Self.isNull(left) && Self.isNull(right)
            switch comparison {
            case .eq: return .literal(.bool(isNull || (isAbsent(left) && isAbsent(right))))
            case .ne: return .literal(.bool(!isNull && !(Self.isNullLiteral(left) || Self.isNullLiteral(right))))
            case .gt, .ge, .lt, .le: return .literal(.bool(false))
            default: break
            }
        }
        return .binary(comparison, try renamed(left), try renamed(right))
    }

    private static func isNullLiteral(_ expression: QueryExpression) -> Bool { expression == .literal(.null) }
    private static func isNull(_ expression: QueryExpression) -> Bool {
        if case .column = expression { return true }
        return isNullLiteral(expression)
    }

    /// Whether the expression is a column that no entity of the set has.
    private func isAbsent(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .column("__updatedAt"): set.updatedAt == nil
        case .column("__deleted"), .column("__version"): true
        default: false
        }
    }

    private func renamed(_ expression: QueryExpression) throws(SluiceError) -> QueryExpression {
        switch expression {
        case .column("id"):
            guard let key = set.singleKey else {
                throw SluiceError(
                    .invalidQuery, "the id of \(set.name) is made of several properties: ask for them by their names",
                    table: set.name)
            }
            return .column(key.name)
        case .column("__updatedAt"): return set.updatedAt.map { .column($0) } ?? .literal(.null)
        case .column("__deleted"), .column("__version"): return .literal(.null)
        case .column(let name): return .column(set.property(of: name))
        case .literal: return expression
        case .unary(let operation, let operand): return .unary(operation, try renamed(operand))
        case .binary(let operation, let left, let right):
            return .binary(operation, try renamed(left), try renamed(right))
        case .call(let function, let arguments):
            var renamedArguments: [QueryExpression] = []
            for argument in arguments { renamedArguments.append(try renamed(argument)) }
            return .call(function, renamedArguments)
        case .membership(let operand, let literals): return .membership(try renamed(operand), literals)
        case .path, .list, .object, .choice, .typed:
            // The properties' names are the service's own.
            let ours: Set<PropertyName> = ["id", "__updatedAt", "__deleted", "__version"]
            guard expression.columns.isDisjoint(with: ours) else {
                throw SluiceError(
                    .unsupported, "the service is not asked for \(expression.odata(.v4))", table: set.name)
            }
            return expression
        }
    }

    /// Converts a comparison of the id with a constant to the key's properties: for several, in their order.
    ///
    /// The id is a text; for a single key property, its text becomes a constant of the property's type.
    private func keyCondition(
        _ comparison: QueryExpression.BinaryOperator, _ literal: TableQuery.Literal
    ) throws(SluiceError) -> QueryExpression {
        guard let key = key(literal) else {
            // No row of the set has such an id. An order between ids is undecidable.
            switch (comparison, literal) {
            case (.eq, .string), (.eq, .null): return .literal(.bool(false))
            case (.ne, .string), (.ne, .null): return .literal(.bool(true))
            default:
                let types = set.key.map { "\($0.name.text) (\($0.type.rawValue))" }.joined(separator: ", ")
                throw SluiceError(
                    .invalidQuery,
                    "no id of \(set.name) compares with \(QueryExpression.literal(literal).odata(.v4)): its key is \(types)",
                    table: set.name)
            }
        }
        let terms = zip(set.key, key.values).map { property, plain in
            (
                column: QueryExpression.column(property.name),
                value: QueryExpression.literal(TableQuery.Literal(plain: plain, type: property.type))
            )
        }
        switch comparison {
        case .eq: return all(terms.map { .binary(.eq, $0.column, $0.value) })
        case .ne: return try any(terms.map { .binary(.ne, $0.column, $0.value) })
        case .gt, .lt, .ge, .le:
            let strict: QueryExpression.BinaryOperator = comparison == .gt || comparison == .ge ? .gt : .lt
            var alternatives: [QueryExpression] = []
            for (index, term) in terms.enumerated() {
                let isLast = index == terms.count - 1
                let same = terms[..<index].map { QueryExpression.binary(.eq, $0.column, $0.value) }
                alternatives.append(all(same + [.binary(isLast ? comparison : strict, term.column, term.value)]))
            }
            return try any(alternatives)
        default: throw SluiceError(.invalidQuery, "an id cannot be computed with", table: set.name)
        }
    }

    private func key(_ literal: TableQuery.Literal) -> EntityKey? {
        if case .string(let text) = literal { return EntityKey(id: .string(text), in: set) }
        guard let property = set.singleKey, let plain = literal.plain(as: property.type) else { return nil }
        return EntityKey(values: [plain], in: set)
    }

    private func all(_ terms: [QueryExpression]) -> QueryExpression {
        terms.dropFirst().reduce(terms[0]) { .binary(.and, $0, $1) }
    }

    private func any(_ terms: [QueryExpression]) throws(SluiceError) -> QueryExpression {
        guard let first = terms.first else { return .literal(.bool(false)) }
        var result = first
        for term in terms.dropFirst() { result = .binary(.or, result, term) }
        return try simplifiedConstants(result)
    }

    private func simplifiedConstants(_ expression: QueryExpression) throws(SluiceError) -> QueryExpression {
        guard case .binary(.or, let left, let right) = expression else { return expression }
        let (first, second) = (try simplifiedConstants(left), try simplifiedConstants(right))
        if Self.isFalse(first) { return second }
        if Self.isFalse(second) { return first }
        return .binary(.or, first, second)
    }
}

extension QueryExpression.BinaryOperator {
    /// The comparison with the same meaning after exchanging its sides.
    fileprivate var turned: Self {
        switch self {
        case .gt: .lt
        case .ge: .le
        case .lt: .gt
        case .le: .ge
        default: self
        }
    }
}
