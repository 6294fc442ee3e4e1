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
