/// An expression of a query with its types checked. The evaluator runs it and the SQL printer prints it, so that both
/// see the same columns and refuse the same queries.
struct TypedExpression: Sendable {
    enum Node: Sendable {
        case constant(QueryValue)
        /// A property; its type, if a column is declared for it.
        case column(PropertyName, TableSchema.ColumnType?)
        case not
        case negate
        case binary(QueryExpression.BinaryOperator)
        case call(TableQuery.Function)
        /// Whether the operand equals one of these.
        case membership([QueryValue])
        /// The value at a path's end; also the source expression.
        case path(TypedPath, QueryExpression)
        /// Whether the operand equals an element of the collection at a path's end; also the source expression.
        case isElement(TypedPath, QueryExpression)
        /// The operands are conditions and values in turn.
        case choice
    }

    let node: Node
    let type: QueryType
    let operands: [TypedExpression]
    /// The number of levels of the expression, itself included.
    let depth: Int

    init(_ node: Node, _ type: QueryType, _ operands: [TypedExpression] = []) {
        self.node = node
        self.type = type
        self.operands = operands
        depth = 1 + (operands.map(\.depth).max() ?? 0)
    }

    /// A constant.
    init(constant value: QueryValue) { self.init(.constant(value), QueryType(value)) }

    /// The column of that name as an expression.
    init(column name: PropertyName, of schema: TableSchema?) {
        let declared = name == "id" ? .string : schema?.column(name)?.type
        self.init(.column(name, declared), declared.map { QueryType($0) } ?? .any)
    }

    /// Whether the expression is the constant null.
    var isNull: Bool { type == .null }
}

/// A checked path.
struct TypedPath: Sendable {
    /// The start of a path.
    enum Root: Sendable {
        /// The queried record, or inside `/$filter(` the element.
        case record
        /// The queried record, at every position.
        case it
        /// The element of that variable; of two with the same name, the inner one.
        case variable(PropertyName)
    }

    /// A step from a value to another.
    enum Step: Sendable {
        /// To a property, of the declared type if there is one.
        case property(PropertyName, TableSchema.ColumnType?)
        /// Along a navigation property.
        case navigation(TableSchema.Reference, TableSchema?)
        /// To the elements that pass the condition.
        case filter(TypedExpression)
        /// To the number of elements that pass the condition and match the search.
        case count(TypedExpression?, QuerySearch?)
        /// To the answer whether the condition is true for any element.
        case any(PropertyName, TypedExpression?)
        /// To the answer whether the condition is true for all elements.
        case all(PropertyName, TypedExpression)
    }

    var root: Root
    var steps: [Step]
    /// The type of the value at the path's end.
    var type = QueryType.any

    /// Whether the path, or one in it, follows a navigation property.
    var hasNavigation: Bool {
        steps.contains { step in
            switch step {
            case .property: false
            case .navigation: true
            case .filter(let condition), .all(_, let condition): condition.hasNavigation
            case .count(let condition, _), .any(_, let condition): condition?.hasNavigation ?? false
            }
        }
    }
}

extension TypedExpression {
    /// Whether a path in the expression follows a navigation property.
    var hasNavigation: Bool {
        let isHere =
            switch node {
            case .path(let path, _), .isElement(let path, _): path.hasNavigation
            default: false
            }
        return isHere || operands.contains { $0.hasNavigation }
    }
}

extension TableQuery {
    /// Provides a query with the records of other tables, so that its paths can follow navigation properties.
    public protocol Relations: Sendable {
        /// Returns the columns of the table; nil if none are declared.
        func schema(of table: String) -> TableSchema?
        /// Returns the table's records with that property value, in the order of their ids.
        func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON]
    }
}

/// The treatment of undeclared columns in a query.
package enum UndeclaredColumns: Sendable, Hashable {
    /// They are properties that a record may have or lack.
    case allowed
    /// They are mistakes: the query is refused, with the name. `id` is declared in every table.
    case refused
}
