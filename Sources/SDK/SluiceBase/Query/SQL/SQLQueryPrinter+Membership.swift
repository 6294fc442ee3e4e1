extension SQLQueryPrinter {
    /// Whether a value is one of those: by the database's own `IN` where it sees the same values as queries do, so that
    /// an index serves; else by a function that takes the list as one value.
    func append(membership operand: TypedExpression, _ values: [QueryValue], exact: Bool, to sql: inout SQLText) {
        guard let constants = Self.constants(values, beside: operand.type), !constants.isEmpty else {
            sql.append(QueryFunctions.sqlName("in") + "(")
            append(any: operand, to: &sql)
            sql.append(", ")
            sql.append(SQLValueList.blob(values.map { SQLValue($0) }), dialect)
            sql.append(")")
            return
        }
        // Null is in a list that has it and in no other; SQL's IN says null of it.
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

    /// The values except for null, in the form that an operand of that type has in SQL; nil if one has none, or if they
    /// are too many.
    private static func constants(_ values: [QueryValue], beside type: QueryType) -> [SQLValue]? {
        var constants: [SQLValue] = []
        for value in values where !value.isNull {
            switch (type, value) {
            case (.bool, .bool(let value)): constants.append(.integer(value ? 1 : 0))
            case (.number, .integer), (.number, .real), (.string, .string): constants.append(SQLValue(value))
            case (.date, _):
                // A text that is no date is equal to none.
                if let date = value.timestamp { constants.append(.integer(date.ticks)) }
            case (.any, .bool), (.any, .integer), (.any, .real), (.any, .string): constants.append(SQLValue(value))
            default: return nil
            }
        }
        return constants.count <= mostConstants ? constants : nil
    }
}
