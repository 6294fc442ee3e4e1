internal import Synchronization

/// An expression that a database runs by calling the evaluator: the expression's text, and which columns the database
/// gives with it.
///
/// The text is what the OData printer wrote, and is read again once for many rows. So whatever the evaluator knows,
/// SQL knows too, with the same meaning.
struct QueryProgram: Sendable {
    private let expression: TypedExpression
    private let columns: [TableSchema.Column]
    private let properties: [PropertyName]

    /// The text that a statement carries: the expression, the columns in the order of their values, and the names that
    /// the JSON object of the other properties is searched for.
    static func text(
        _ expression: QueryExpression, columns: [TableSchema.Column], properties: [PropertyName]
    ) -> String {
        let parts: [JSON] = [
            JSON(expression.odata(.v4)), JSON(columns.map { JSON([JSON($0.name), JSON($0.type.rawValue)]) }),
            JSON(properties.map { JSON($0) }),
        ]
        return JSON(parts).description
    }

    /// The program's value for a row: the values are those of the columns and, as the first, the JSON object of the
    /// other properties.
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
        guard let parts = (try? JSON(parsing: text))?.elements, parts.count == 3, let odata = parts[0].string else {
            return nil
        }
        columns =
            parts[1].elements?.compactMap { column in
                guard let name = column[0]?.string, let type = column[1]?.string.flatMap(TableSchema.ColumnType.init)
                else { return nil }
                return TableSchema.Column(PropertyName(name), type)
            } ?? []
        properties = parts[2].elements?.compactMap { $0.string.map { PropertyName($0) } } ?? []
        // The printer's parentheses are levels of their own.
        let read = try? QueryExpression(odata: odata, maximumLength: .max, maximumDepth: 512)
        guard let read, let typed = try? QueryChecker(schema: TableSchema("", columns: columns)).expression(read) else {
            return nil
        }
        expression = typed
    }

    private func value(_ values: ArraySlice<SQLValue>) -> QueryValue {
        var record = JSON.object
        if case .text(let object)? = values.first {
            for name in properties {
                if let value = JSONProperty.json(of: name.text, in: object) { record[name] = value }
            }
        }
        for (column, value) in zip(columns, values.dropFirst()) {
            if let value = Self.json(value, column.type) { record[column.name] = value }
        }
        return QueryEvaluation.value(of: expression, record, nil, nil)
    }

    /// What a record has for what a declared column holds.
    private static func json(_ value: SQLValue, _ type: TableSchema.ColumnType) -> JSON? {
        switch value {
        case .null, .blob: nil
        case .integer(let number): type == .boolean ? JSON(number != 0) : JSON(number)
        case .real(let number): JSON(number)
        case .text(let text): type == .json ? try? JSON(parsing: text) : JSON(text)
        }
    }
}
