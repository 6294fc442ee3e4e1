internal import Synchronization

/// An expression that a database runs by calling the evaluator: the expression's text, and the columns that the
/// database passes with it.
///
/// The OData printer writes the text, and it is parsed once for many rows. So SQL supports every expression of the
/// evaluator, with the same meaning.
struct QueryProgram: Sendable {
    private let expression: TypedExpression
    private let row: QueryRow
    private let relations: EmbeddedRelations?

    /// Returns the text for a statement: the expression, the columns in the order of their values, and the names to
    /// read from the JSON object of the other properties.
    static func text(
        _ expression: QueryExpression, columns: [TableSchema.Column], properties: [PropertyName]
    ) -> String {
        let parts = [JSON(expression.odata(.v4))] + QueryRow(columns: columns, properties: properties).parts
        return JSON(parts).description
    }

    /// Returns the program's value for a row. The first value is the JSON object of the other properties, followed by
    /// the columns.
    static func value(of text: String, _ values: ArraySlice<SQLValue>) -> QueryValue {
        let known = cache.withLock { $0[QueryText(text)] }
        if let known { return known.value(values) }
        guard let program = QueryProgram(text) else { return .null }
        cache.withLock { cache in
            if cache.count >= 64 { cache.removeAll() }
            cache[QueryText(text)] = program
        }
        return program.value(values)
    }

    private static let cache = Mutex<[QueryText: QueryProgram]>([:])

    private init?(_ text: String) {
        guard let parts = (try? JSON(parsing: text))?.elements, let odata = parts.first?.string,
            let row = QueryRow(parts[1...])
        else { return nil }
        self.row = row
        relations = parts.count > 4 ? EmbeddedRelations(parts[4]) : nil
        // The printer's parentheses count as levels.
        let read = try? QueryExpression(odata: odata, maximumLength: .max, maximumDepth: 512)
        let schema = TableSchema("", columns: row.columns, references: relations?.references ?? [])
        guard let read, let typed = try? QueryChecker(schema: schema, relations: relations).expression(read) else {
            return nil
        }
        expression = typed
    }

    private func value(_ values: ArraySlice<SQLValue>) -> QueryValue {
        QueryEvaluation.value(of: expression, row.record(values), nil, relations)
    }
}
