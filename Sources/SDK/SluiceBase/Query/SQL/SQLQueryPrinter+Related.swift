/// Paths that follow navigation properties. The evaluator runs them on the record, with linked records from subqueries,
/// each as a JSON object of the needed properties. A subquery reads only records that the query may see.
extension SQLQueryPrinter {
    /// Appends an expression that follows links.
    func append(related expression: TypedExpression, _ source: QueryExpression, to sql: inout SQLText) {
        guard let related else { return sql.append("NULL") }
        let tree = NavigationTree()
        tree.note(expression)
        let row = row(of: related.main, source.columns, tree)
        let parts = [JSON(source.odata(.v4))] + row.parts + [EmbeddedRelations.json(related, tree.tables)]
        sql.append(QueryFunctions.sqlName("eval") + "(")
        sql.append(.text(JSON(parts).description), dialect)
        var aliases = 0
        append(
            row, of: nil, in: related.main, linkedBy: tree, names: source.propertyNames, &aliases, to: &sql)
        sql.append(")")
    }

    /// Returns the needed part of a record.
    private func row(of schema: TableSchema, _ names: Set<PropertyName>, _ tree: NavigationTree) -> QueryRow {
        let names = names.filter { schema.reference($0) == nil }
            .sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        let columns = names.compactMap { $0 == "id" ? TableSchema.Column("id", .string) : schema.column($0) }
        return QueryRow(
            columns: columns, properties: names.filter { name in !columns.contains { $0.name == name } },
            links: tree.branches.map(\.reference.name))
    }

    /// Appends the values of a row, each after a comma.
    private func append(
        _ row: QueryRow, of alias: String?, in schema: TableSchema, linkedBy tree: NavigationTree,
        names: Set<PropertyName>, _ aliases: inout Int, to sql: inout SQLText
    ) {
        let table = dialect.quoted(alias ?? schema.name)
        sql.append(", ")
        if row.properties.isEmpty { sql.append("NULL") } else { sql.append("\(table).\(dialect.quoted(extraColumn))") }
        for column in row.columns { sql.append(", \(table).\(dialect.quoted(column.name.text))") }
        for (reference, inner) in tree.branches {
            sql.append(", ")
            append(linked: reference, from: table, schema, inner, names, &aliases, to: &sql)
        }
    }

    /// Appends the records at the end of a link as the text of a JSON array; null for none.
    private func append(
        linked reference: TableSchema.Reference, from table: String, _ schema: TableSchema, _ tree: NavigationTree,
        _ names: Set<PropertyName>, _ aliases: inout Int, to sql: inout SQLText
    ) {
        guard let target = related?.tables[reference.table], let scope = scopes[reference.table],
            let here = Self.type(of: reference.column, in: schema),
            let there = Self.type(of: reference.targetColumn, in: target.stored)
        else { return sql.append("NULL") }
        aliases += 1
        // No table's name contains a slash.
        let name = "/\(aliases)"
        let alias = dialect.quoted(name)
        let row = row(of: target.schema, names, tree)
        sql.append("(SELECT '[' || group_concat(\"/row\", ',') || ']' FROM (SELECT ")
        sql.append(QueryFunctions.sqlName("row") + "(")
        sql.append(.text(row.text), dialect)
        var inner = target.stored
        inner.references = target.schema.references
        append(row, of: name, in: inner, linkedBy: tree, names: names, &aliases, to: &sql)
        sql.append(") AS \"/row\" FROM ")
        sql.append(identifier: target.stored.name, dialect)
        sql.append(" AS \(alias) WHERE \(alias).\(dialect.quoted(reference.targetColumn.text)) = ")
        // The cast lets the database use the index of the target column.
        let value = "\(table).\(dialect.quoted(reference.column.text))"
        switch (here, there) {
        case (.integer, .string): sql.append("CAST(\(value) AS TEXT)")
        case (.string, .integer): sql.append("CAST(\(value) AS INTEGER)")
        default: sql.append(value)
        }
        sql.append(" AND ")
        sql.append(scope)
        // One more than the evaluator's limit of elements.
        sql.append(" LIMIT 100001))")
    }

    private static func type(of name: PropertyName, in schema: TableSchema) -> TableSchema.ColumnType? {
        name == "id" ? .string : schema.column(name)?.type
    }
}

extension QueryExpression {
    /// All names in the expression that may be properties of some record.
    fileprivate var propertyNames: Set<PropertyName> {
        var names = children.reduce(into: columns) { $0.formUnion($1.propertyNames) }
        if case .path(let path) = self {
            for case .property(let name) in path.steps { names.insert(name) }
        }
        return names
    }
}

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
