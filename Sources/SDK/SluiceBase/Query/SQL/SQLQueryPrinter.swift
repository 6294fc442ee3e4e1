/// Prints filters and orders as SQL with the same meaning as in ``TableQuery.Evaluator``.
///
/// The table has a column `id`, one for each declared column, and a text column that holds a JSON object of the
/// properties without a column. A declared column holds the value of ``SQLValue/init(_:declared:)``. The SQL uses the
/// database's own operations where they mean the same, and otherwise calls ``QueryFunctions/sqlFunctions``.
package struct SQLQueryPrinter: Sendable {
    let dialect: SQLDialect
    let schema: TableSchema?
    let extraColumn: String
    private let checker: QueryChecker
    /// The other tables, and the conditions on their visible records.
    let related: QueryRelatives?
    let scopes: [String: SQLText]

    /// Creates a printer for a table; `extraColumn` is the text column of the properties without a column.
    package init(
        dialect: SQLDialect, schema: TableSchema?, extraColumn: String, undeclared: UndeclaredColumns = .allowed
    ) {
        self.dialect = dialect
        self.schema = schema
        self.extraColumn = extraColumn
        checker = QueryChecker(schema: schema, undeclared: undeclared)
        (related, scopes) = (nil, [:])
    }

    /// Creates a printer for queries with paths along navigation properties to other tables.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` where the condition on their visible records is invalid.
    package init(
        dialect: SQLDialect, related: QueryRelatives, extraColumn: String
    ) throws(SluiceError) {
        self.dialect = dialect
        self.extraColumn = extraColumn
        self.related = related
        schema = related.main
        checker = QueryChecker(schema: related.main, relations: related)
        var scopes: [String: SQLText] = [:]
        for (name, table) in related.tables {
            scopes[name] = try SQLQueryPrinter(dialect: dialect, schema: table.stored, extraColumn: extraColumn)
                .condition(table.scope)
        }
        self.scopes = scopes
    }

    /// Returns the filter as the condition of a `WHERE`: true for the matching rows.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for an invalid filter.
    package func condition(_ filter: QueryExpression) throws(SluiceError) -> SQLText {
        var sql = SQLText()
        append(condition: try checked { () throws(QueryFault) in try checker.filter(filter) }, exact: false, to: &sql)
        return sql
    }

    /// Returns the keys of an `ORDER BY`, with the id as the last.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for an undeclared column, if those are refused.
    package func ordering(_ order: [TableQuery.SortKey]) throws(SluiceError) -> SQLText {
        var sql = SQLText()
        var seen: Set<PropertyName> = []
        // A repeated column changes nothing, and databases limit the number of keys.
        for key in order where key.column.map({ seen.insert($0).inserted }) ?? true {
            let value = try checked { () throws(QueryFault) in try checker.key(key.expression) }
            let direction = key.descending ? " DESC" : ""
            if value.type == .any {
                // Kinds first; false and true, which are blobs, would otherwise come after the strings.
                sql.append(QueryFunctions.sqlName("rank") + "(")
                append(any: value, to: &sql)
                sql.append(")\(direction), ")
                append(any: value, to: &sql)
            } else if value.type == .json {
                append(value, to: &sql)
                sql.append(" IS NOT NULL")
            } else {
                append(value, to: &sql)
            }
            sql.append(direction)
            if key.column == "id" { return sql }
            sql.append(", ")
        }
        sql.append(identifier: "id", dialect)
        return sql
    }

    private func checked(_ body: () throws(QueryFault) -> TypedExpression) throws(SluiceError) -> TypedExpression {
        do { return try body() } catch { throw error.error(table: schema?.name) }
    }

    /// Appends a truth value. If `exact` is false, null may replace false: the condition only selects rows, and a plain
    /// comparison may use an index.
    private func append(condition: TypedExpression, exact: Bool, to sql: inout SQLText) {
        switch condition.node {
        case .binary(let operation):
            switch operation {
            case .and, .or:
                var (first, second) = (condition.operands[0], condition.operands[1])
                // The deeper side comes first: a parser that has read it completely need not keep it.
                if second.depth > max(8, first.depth) { swap(&first, &second) }
                sql.append("(")
                append(condition: first, exact: exact, to: &sql)
                sql.append(operation == .and ? " AND " : " OR ")
                append(condition: second, exact: exact, to: &sql)
                sql.append(")")
            case .eq, .ne, .gt, .ge, .lt, .le:
                append(comparison: operation, condition.operands[0], condition.operands[1], exact, to: &sql)
            default: append(computed: condition, to: &sql)
            }
        case .not:
            if case .not = condition.operands[0].node {
                append(condition: condition.operands[0].operands[0], exact: exact, to: &sql)
                return
            }
            sql.append("(NOT ")
            append(condition: condition.operands[0], exact: true, to: &sql)
            sql.append(")")
        case .membership(let values): append(membership: condition.operands[0], values, exact: exact, to: &sql)
        default:
            if condition.type == .any { sql.append(QueryFunctions.sqlName("bool") + "(") }
            append(condition, to: &sql)
            if condition.type == .any { sql.append(")") }
        }
    }

    private func append(
        comparison: QueryExpression.BinaryOperator, _ left: TypedExpression, _ right: TypedExpression, _ exact: Bool,
        to sql: inout SQLText
    ) {
        let isEquality = comparison == .eq || comparison == .ne
        if left.isNull || right.isNull {
            if isEquality {
                sql.append("(")
                append(left.isNull ? right : left, to: &sql)
                sql.append(comparison == .eq ? " IS NULL)" : " IS NOT NULL)")
            } else {
                sql.append(.integer(0), dialect)
            }
            return
        }
        guard left.type == right.type, left.type.isComparedBySQL else {
            sql.append(QueryFunctions.sqlName(comparison.rawValue) + "(")
            append(any: left, to: &sql)
            sql.append(", ")
            append(any: right, to: &sql)
            sql.append(")")
            return
        }
        let spelling =
            switch comparison {
            case .eq: dialect.isSame
            case .ne: dialect.isDifferent
            case .gt: ">"
            case .ge: ">="
            case .lt: "<"
            default: "<="
            }
        sql.append(exact && !isEquality ? "((" : "(")
        append(left, to: &sql)
        sql.append(" \(spelling) ")
        append(right, to: &sql)
        // Comparisons are never null.
        sql.append(exact && !isEquality ? ") IS TRUE)" : ")")
    }

    /// Appends a value in the SQL form of its type: true and false as 1 and 0, a date as its ticks, a value of any kind
    /// in the self-describing form.
    func append(_ expression: TypedExpression, to sql: inout SQLText) {
        switch expression.node {
        case .constant(.bool(let value)): sql.append(.integer(value ? 1 : 0), dialect)
        case .constant(.date(let value)): sql.append(.integer(value.ticks), dialect)
        case .constant(let value): sql.append(SQLValue(value), dialect)
        case .column(let name, .date):
            sql.append(QueryFunctions.sqlName("ticks") + "(")
            sql.append(identifier: name.text, dialect)
            sql.append(")")
        case .column(let name, .some): sql.append(identifier: name.text, dialect)
        case .column(let name, nil): append(property: name, by: "property", to: &sql)
        case .call, .negate, .binary, .choice:
            // A computed moment is in the self-describing form.
            let isMoment = expression.type == .date
            if isMoment { sql.append(QueryFunctions.sqlName("ticks") + "(") }
            append(computed: expression, to: &sql)
            if isMoment { sql.append(")") }
        case .path(_, let source), .isElement(_, let source):
            // A moment comes in the self-describing form.
            if expression.type == .date { sql.append(QueryFunctions.sqlName("ticks") + "(") }
            append(program: source, of: expression, to: &sql)
            if expression.type == .date { sql.append(")") }
        case .not, .membership: append(condition: expression, exact: true, to: &sql)
        }
    }

    /// Appends the result of an operator or a function.
    private func append(computed expression: TypedExpression, to sql: inout SQLText) {
        switch expression.node {
        case .negate: append(call: "negate", expression.operands, to: &sql)
        case .choice:
            if expression.type == .bool { sql.append(QueryFunctions.sqlName("bool") + "(") }
            append(choice: expression.operands, to: &sql)
            if expression.type == .bool { sql.append(")") }
        case .binary(let operation): append(operation: operation, expression, to: &sql)
        case .call(let function): append(function: function, expression.operands, to: &sql)
        default: append(expression, to: &sql)
        }
    }

    /// Appends an expression that the evaluator runs on the necessary columns.
    private func append(program source: QueryExpression, of expression: TypedExpression, to sql: inout SQLText) {
        let type = expression.type
        if expression.hasNavigation {
            if type == .bool { sql.append(QueryFunctions.sqlName("bool") + "(") }
            append(related: expression, source, to: &sql)
            if type == .bool { sql.append(")") }
            return
        }
        let names = source.columns.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        let declared = names.compactMap { name in
            name == "id" ? TableSchema.Column("id", .string) : schema?.column(name)
        }
        let others = names.filter { name in !declared.contains { $0.name == name } }
        if type == .bool { sql.append(QueryFunctions.sqlName("bool") + "(") }
        sql.append(QueryFunctions.sqlName("eval") + "(")
        sql.append(.text(QueryProgram.text(source, columns: declared, properties: others)), dialect)
        sql.append(", ")
        if others.isEmpty { sql.append("NULL") } else { sql.append(identifier: extraColumn, dialect) }
        for column in declared {
            sql.append(", ")
            sql.append(identifier: column.name.text, dialect)
        }
        sql.append(type == .bool ? "))" : ")")
    }

    /// Appends the first value with a true condition, in the self-describing form.
    private func append(choice operands: [TypedExpression], to sql: inout SQLText) {
        sql.append("CASE")
        for index in stride(from: 0, to: operands.count - 1, by: 2) {
            sql.append(" WHEN ")
            append(condition: operands[index], exact: true, to: &sql)
            sql.append(" THEN ")
            append(any: operands[index + 1], to: &sql)
        }
        sql.append(" END")
    }

    private func append(property name: PropertyName, by function: String, to sql: inout SQLText) {
        sql.append(QueryFunctions.sqlName(function) + "(")
        sql.append(identifier: extraColumn, dialect)
        sql.append(", ")
        sql.append(.text(name.text), dialect)
        sql.append(")")
    }

    /// Appends arithmetic: by the database where both sides are known to be numbers and its results agree with those of
    /// queries.
    private func append(
        operation: QueryExpression.BinaryOperator, _ expression: TypedExpression, to sql: inout SQLText
    ) {
        let native: String? =
            switch operation {
            case .add: "+"
            case .sub: "-"
            case .mul: "*"
            case .div: "/"
            // SQLite drops the fractions before it computes the remainder.
            default: nil
            }
        if operation == .has {
            append(call: "has", expression.operands, to: &sql)
        } else if expression.type == .bool {
            append(condition: expression, exact: true, to: &sql)
        } else if let native, expression.operands.allSatisfy({ $0.type == .number }) {
            sql.append("(")
            append(expression.operands[0], to: &sql)
            sql.append(" \(native) ")
            append(expression.operands[1], to: &sql)
            sql.append(")")
        } else {
            append(call: operation.rawValue, expression.operands, to: &sql)
        }
    }

    private func append(function: TableQuery.Function, _ arguments: [TypedExpression], to sql: inout SQLText) {
        let areStrings = arguments.allSatisfy { $0.type == .string }
        switch function {
        case .contains where areStrings:
            sql.append("(\(dialect.find)(")
            append(arguments[0], to: &sql)
            sql.append(", ")
            append(arguments[1], to: &sql)
            sql.append(") > 0)")
        case .concat where areStrings:
            sql.append("(")
            append(arguments[0], to: &sql)
            sql.append(" || ")
            append(arguments[1], to: &sql)
            sql.append(")")
        default: append(call: function.rawValue, arguments, to: &sql)
        }
    }

    private func append(call name: String, _ arguments: [TypedExpression], to sql: inout SQLText) {
        sql.append(QueryFunctions.sqlName(name) + "(")
        for (index, argument) in arguments.enumerated() {
            if index > 0 { sql.append(", ") }
            if case .column(let column, nil) = argument.node, name == TableQuery.Function.distance.rawValue {
                append(property: column, by: "place", to: &sql)
            } else {
                append(any: argument, to: &sql)
            }
        }
        sql.append(")")
    }

    /// Appends a value in the self-describing form.
    func append(any expression: TypedExpression, to sql: inout SQLText) {
        func wrapped(_ function: String, _ body: (inout SQLText) -> Void) {
            sql.append(QueryFunctions.sqlName(function) + "(")
            body(&sql)
            sql.append(")")
        }
        switch (expression.node, expression.type) {
        case (.constant(let value), _): sql.append(SQLValue(value), dialect)
        case (.column(let name, _), .date): wrapped("any_date") { $0.append(identifier: name.text, dialect) }
        case (.path(_, let source), .date), (.path(_, let source), .json):
            append(program: source, of: expression, to: &sql)
        case (_, .json): wrapped("any_json") { append(expression, to: &$0) }
        case (.call, .date), (.binary, .date), (.choice, .date): append(computed: expression, to: &sql)
        case (_, .bool): wrapped("any_bool") { append(condition: expression, exact: true, to: &$0) }
        default: append(expression, to: &sql)
        }
    }
}
