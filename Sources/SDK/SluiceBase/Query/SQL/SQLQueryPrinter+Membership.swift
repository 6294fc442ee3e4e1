extension SQLQueryPrinter {
    /// Appends the test whether a value is one of those. It uses the database's own `IN` where both agree on the
    /// values, so that an index can be used; otherwise a function that takes the list as one value.
    func append(membership operand: TypedExpression, _ values: [QueryValue], exact: Bool, to sql: inout SQLText) {
        guard let constants = Self.constants(values, beside: operand.type), !constants.isEmpty else {
            sql.append(QueryFunctions.sqlName("in") + "(")
            append(any: operand, to: &sql)
            sql.append(", ")
            sql.append(SQLValueList.blob(values.map { SQLValue($0) }), dialect)
            sql.append(")")
            return
        }
        // Null is a member of a list with null, and of no other; SQL's IN would return null.
        let hasNull = values.contains { $0.isNull }
        sql.append(exact || hasNull ? "coalesce(" : "(")
        append(operand, to: &sql)
        sql.append(" IN (")
        for (index, constant) in constants.enumerated() {
            if index > 0 { sql.append(", ") }
            sql.append(constant, dialect)
        }
        sql.append(")")
        if exact || hasNull {
            sql.append(", ")
            sql.append(.integer(hasNull ? 1 : 0), dialect)
        }
        sql.append(")")
    }

    /// The most constants that are bound one by one: a statement has room for 32766.
    private static let mostConstants = 1000

    /// Returns the values except for null, in the SQL form of an operand of that type; nil if one has none, or if there
    /// are too many.
    private static func constants(_ values: [QueryValue], beside type: QueryType) -> [SQLValue]? {
        var constants: [SQLValue] = []
        for value in values where !value.isNull {
            switch (type, value) {
            case (.bool, .bool(let value)): constants.append(.integer(value ? 1 : 0))
            case (.number, .integer), (.number, .real), (.string, .string): constants.append(SQLValue(value))
            case (.date, _):
                // A text that is not a date equals none.
                if let date = value.timestamp { constants.append(.integer(date.ticks)) }
            case (.any, .bool), (.any, .integer), (.any, .real), (.any, .string): constants.append(SQLValue(value))
            default: return nil
            }
        }
        return constants.count <= mostConstants ? constants : nil
    }
}
