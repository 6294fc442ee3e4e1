internal import SluiceCore

/// The SQL condition of a filter, as far as PostgreSQL can evaluate it with the queries' semantics.
///
/// The condition is true for every record that matches the filter. If it is also true for others, it is not exact, and
/// ``TableQuery.Evaluator`` filters the database's rows.
struct PostgresFilter {
    /// A part of SQL, or a constant.
    enum Piece {
        case text(String)
        case value(SQLValue)
    }

    /// The condition; nil if all records have to be read.
    let pieces: [Piece]?
    let isExact: Bool

    private static let anything = PostgresFilter(pieces: nil, isExact: false)

    private init(pieces: [Piece]?, isExact: Bool) {
        self.pieces = pieces
        self.isExact = isExact
    }

    private init(_ pieces: [Piece], isExact: Bool = true) { self.init(pieces: pieces, isExact: isExact) }

    init(_ filter: QueryExpression?, _ schema: TableSchema) {
        if let filter {
            self = Self.condition(filter, schema, exact: false)
        } else {
            self.init(pieces: nil, isExact: true)
        }
    }

    /// Adds ` WHERE …`, or nothing.
    func append(to sql: inout SQLText) {
        guard let pieces else { return }
        sql.append(" WHERE ")
        for piece in pieces {
            switch piece {
            case .text(let text): sql.append(text)
            case .value(let value): sql.append(value, .postgres)
            }
        }
    }

    /// - Parameter exact: whether a false comparison must give false instead of null. Otherwise the condition only
    ///   selects rows, and a plain comparison may use an index.
    private static func condition(
        _ filter: QueryExpression, _ schema: TableSchema, exact: Bool
    ) -> PostgresFilter {
        switch filter {
        case .binary(.and, let left, let right):
            let (left, right) = (condition(left, schema, exact: exact), condition(right, schema, exact: exact))
            let isExact = left.isExact && right.isExact
            guard let first = left.pieces else { return PostgresFilter(pieces: right.pieces, isExact: isExact) }
            guard let second = right.pieces else { return PostgresFilter(pieces: first, isExact: isExact) }
            return PostgresFilter([.text("(")] + first + [.text(" AND ")] + second + [.text(")")], isExact: isExact)
        case .binary(.or, let left, let right):
            let (left, right) = (condition(left, schema, exact: exact), condition(right, schema, exact: exact))
            guard let first = left.pieces, let second = right.pieces else { return anything }
            return PostgresFilter(
                [.text("(")] + first + [.text(" OR ")] + second + [.text(")")], isExact: left.isExact && right.isExact)
        case .unary(.not, let operand):
            let operand = condition(operand, schema, exact: true)
            guard operand.isExact, let pieces = operand.pieces else { return anything }
            return PostgresFilter([.text("(NOT ")] + pieces + [.text(")")])
        case .binary(let operation, .column(let name), .literal(let literal)):
            return comparison(operation, name, literal, schema).neverNull(exact)
        case .binary(let operation, .literal(let literal), .column(let name)):
            guard let mirrored = mirrored(operation) else { return anything }
            return comparison(mirrored, name, literal, schema).neverNull(exact)
        case .membership(.column(let name), let literals):
            guard let column = Column(name, schema), literals.count <= 1000, !literals.isEmpty else { return anything }
            let values = literals.compactMap { column.constant($0) }
            guard values.count == literals.count, values.allSatisfy(\.isExact) else { return anything }
            let list = values.flatMap { [.text(", "), .value($0.value)] as [Piece] }.dropFirst()
            return PostgresFilter([.text("(\(column.sql) IN (")] + list + [.text("))")]).neverNull(exact)
        case .call(let function, let arguments): return call(function, arguments, schema)
        case .literal(.bool(let value)): return PostgresFilter([.text(value ? "TRUE" : "FALSE")])
        case .column(let name):
            guard let column = Column(name, schema), column.type == .boolean else { return anything }
            return PostgresFilter([.text(column.sql)])
        default: return anything
        }
    }

    private func neverNull(_ exact: Bool) -> PostgresFilter {
        guard exact, let pieces else { return self }
        return PostgresFilter([.text("(")] + pieces + [.text(" IS TRUE)")], isExact: isExact)
    }

    private static func mirrored(_ operation: QueryExpression.BinaryOperator) -> QueryExpression.BinaryOperator? {
        switch operation {
        case .eq, .ne: operation
        case .gt: .lt
        case .ge: .le
        case .lt: .gt
        case .le: .ge
        default: nil
        }
    }

    private static func comparison(
        _ operation: QueryExpression.BinaryOperator, _ name: PropertyName, _ literal: TableQuery.Literal,
        _ schema: TableSchema
    ) -> PostgresFilter {
        guard mirrored(operation) != nil else { return anything }
        guard let column = Column(name, schema) else { return undeclared(operation, name, literal) }
        if literal == .null {
            guard operation == .eq || operation == .ne else { return PostgresFilter([.text("FALSE")]) }
            return PostgresFilter([.text("(\(column.sql) IS \(operation == .eq ? "" : "NOT ")NULL)")])
        }
        guard let constant = column.constant(literal) else { return anything }
        // A column that is not the server's may have original times between two microseconds.
        let isExact = constant.isExact && column.isExact
        let spelling: String
        switch operation {
        case .eq: spelling = "="
        case .ne where isExact: spelling = "IS DISTINCT FROM"
        case .gt where isExact: spelling = ">"
        case .lt where isExact: spelling = "<"
        case .gt, .ge: spelling = ">="
        case .lt, .le: spelling = "<="
        default: return anything
        }
        return PostgresFilter(
            [.text("(\(column.sql) \(spelling) "), .value(constant.value), .text(")")], isExact: isExact)
    }

    /// Returns the expression of a property without a column, in the document of such properties.
    private static func undeclared(
        _ operation: QueryExpression.BinaryOperator, _ name: PropertyName, _ literal: TableQuery.Literal
    ) -> PostgresFilter {
        guard operation == .eq, case .string(let text) = literal, Column.isStorable(text), Column.isStorable(name.text)
        else { return anything }
        return PostgresFilter(
            [
                .text("(\"_extra\" ->> "), .value(.text(name.text)), .text(" = "), .value(.text(text)), .text(")"),
            ], isExact: false)
    }

    private static func call(
        _ function: TableQuery.Function, _ arguments: [QueryExpression], _ schema: TableSchema
    ) -> PostgresFilter {
        guard arguments.count == 2, case .column(let name) = arguments[0],
            case .literal(.string(let text)) = arguments[1], Column.isStorable(text), let column = Column(name, schema),
            column.type == .string
        else { return anything }
        let value = Piece.value(.text(text))
        switch function {
        case .contains: return PostgresFilter([.text("(strpos(\(column.sql), "), value, .text(") > 0)")])
        case .startswith: return PostgresFilter([.text("starts_with(\(column.sql), "), value, .text(")")])
        case .endswith:
            return PostgresFilter(
                [.text("(right(\(column.sql), \(text.unicodeScalars.count)) = "), value, .text(")")])
        default: return anything
        }
    }

    /// A declared column in a condition.
    struct Column {
        let sql: String
        let type: TableSchema.ColumnType
        /// Whether comparing the column's value is the same as comparing the record's.
        let isExact: Bool

        init?(_ name: PropertyName, _ schema: TableSchema) {
            guard let type = name == "id" ? .string : schema.column(name)?.type else { return nil }
            sql = SQLDialect.postgres.quoted(name.text)
            self.type = type
            isExact = type != .date || (SystemColumn.all + SystemColumn.hidden).contains(name)
        }

        /// Returns a constant in the column's form; nil if it must be compared in another way.
        func constant(_ literal: TableQuery.Literal) -> (value: SQLValue, isExact: Bool)? {
            switch (type, literal) {
            case (.string, .string(let text)): return Self.isStorable(text) ? (.text(text), true) : nil
            case (.boolean, .bool(let value)): return (.text(value ? "true" : "false"), true)
            case (.date, .date(let time)), (.date, .day(let time)):
                let kept = PostgresColumns.kept(time)
                return (.text(kept.description), kept == time)
            case (.integer, .number(let number)):
                guard case .int(let int) = number.storage else { return nil }
                return (.integer(int), true)
            case (.real, .number(let number)):
                switch number.storage {
                case .int(let int): return (.real(Double(int)), PostgresColumns.exactIntegers.contains(int))
                case .double(let double): return (.real(double), true)
                default: return nil
                }
            default: return nil
            }
        }

        /// Whether PostgreSQL can store the text; any other text is in no column.
        static func isStorable(_ text: String) -> Bool { !text.utf8.contains(0) }
    }
}
